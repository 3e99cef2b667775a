"""Every lesson at once, on the real scheduler."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from components.lessons.course import COURSE, OF_LAB4
from control_plane.incarnation import KUEUE, stack_folder
from tests.engine.checkout import Checkout

pytestmark = pytest.mark.engine


def outcomes(checkout: Checkout) -> list[dict[str, Any]]:
    shown = checkout.run("pulumi", "stack", "output", "--json", "--stack", "dev")
    return json.loads(shown.stdout)["outcomes"]


def assert_nothing_changes(checkout: Checkout) -> None:
    """See that neither another `up` nor a refresh changes anything, nor an `up` after that."""
    for verb in ("up", "refresh", "up"):
        done = checkout.run("pulumi", verb, "--yes", "--skip-preview", "--stack", "dev")
        assert done.returncode == 0, done.stdout + done.stderr
        changed = done.stdout.split("Resources:")[-1].split("Duration:")[0]
        assert "unchanged" in changed
        assert not set(changed) & set("+~-"), changed


def select(checkout: Checkout, lessons: str) -> Path:
    """Let stack dev have these lessons, and return its configuration."""
    config = checkout.path / "Pulumi.dev.yaml"
    config.write_text(config.read_text().replace("config:\n", f"config:\n  lab:lessons: [{lessons}]\n"))
    return config


def test_every_lesson_comes_out_as_expected_and_goes_without_leaving_anything(checkout: Checkout) -> None:
    checkout.bring("up")
    first = outcomes(checkout)
    assert [outcome for outcome in first if not outcome["ok"]] == []
    lessons = {outcome["lesson"] for outcome in first if "lesson" in outcome}
    assert lessons == set(COURSE) - set(OF_LAB4)

    assert_nothing_changes(checkout)
    assert [(o["step"], o["expected"]) for o in outcomes(checkout)] == [
        (o["step"], o["expected"]) for o in first
    ]

    again = checkout.run(".venv/bin/python", "-m", "lab", "run", "taints", "--stack", "dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "with a toleration" in again.stdout

    # What Kueue has finalizers on goes only where Kueue runs.
    os.kill(stack_folder(checkout.path, "dev").processes()[KUEUE], signal.SIGKILL)
    refused = checkout.run(".venv/bin/python", "-m", "lab", "run", "queue", "--stack", "dev")
    assert refused.returncode == 1
    assert refused.stderr == "the control plane of stack dev has died; run `make up` first\n"
    select(checkout, "greedy, lab4")
    checkout.bring("up")
    left = checkout.kubectl(
        "get", "namespaces,nodes,resourceslices,devicetaintrules,priorityclasses,stages", "-o", "name"
    )
    for name in lessons:
        assert f"/{name}" not in left.replace("node/node-", ""), left
    checkout.bring("down")
    assert checkout.processes() == {}


def test_a_lesson_s_changed_claims_and_groups_are_replaced_with_their_pods(checkout: Checkout) -> None:
    """The API server takes no other claim or group for a pod that is there: the preview asks it too."""
    select(checkout, "template, gang, completion")
    checkout.bring("up")

    folder = checkout.path / "components" / "lessons"
    for file, before, after in (
        ("requests.py", "[selector(where)] if where else None", '[selector(where or "true")]'),
        ("gang.py", '"min_count": pods}', '"min_count": 1 if name == "fitting" else pods}'),
    ):
        source = (folder / file).read_text()
        assert before in source
        (folder / file).write_text(source.replace(before, after))
    preview = checkout.run("pulumi", "preview", "--stack", "dev")
    assert preview.returncode == 0, preview.stdout + preview.stderr
    checkout.bring("up")
    assert_nothing_changes(checkout)
    checkout.bring("down")


def test_changed_times_and_priorities_reach_lessons_that_are_up(checkout: Checkout) -> None:
    """The first Job of the queue is made anew behind the others, and a PriorityClass's value is immutable."""
    config = select(checkout, "queue, preemption")
    checkout.bring("up")
    config.write_text(config.read_text().replace("config:\n", "config:\n  lab:timeScale: 60\n"))
    source = checkout.path / "components" / "lessons" / "preemption.py"
    before = source.read_text()
    assert "value=1000" in before
    source.write_text(before.replace("value=1000", "value=2000"))
    checkout.bring("up")
    assert_nothing_changes(checkout)
    checkout.bring("down")


def test_an_unknown_lesson_is_one_sentence(checkout: Checkout) -> None:
    done = checkout.run(".venv/bin/python", "-m", "lab", "run", "nosuch", "--stack", "dev")
    assert done.returncode != 0
    assert "there is no lesson 'nosuch'" in " ".join((done.stdout + done.stderr).replace("│", " ").split())
    assert "Traceback" not in done.stdout + done.stderr
