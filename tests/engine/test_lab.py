"""The lab as people use it: `python -m lab`, pulumi and kubectl, on the real engine and control plane."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from control_plane.incarnation import stack_folder
from lab.recovery import was_interrupted
from tests.engine.checkout import Checkout

pytestmark = pytest.mark.engine

OK_OF_DEV = {
    "2 GPUs of node-01": "4 GPUs, counted",
    "2 GPUs of node-02": "8 GPUs, claimed",
    "4 greedy pods": "4 running, 2 pending: Insufficient nvidia.com/gpu",
    "7 DRA API": "deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices at v1",
    "8 a claim that no pod uses": "pending: no pod uses it",
    "8 an H100 by CEL": "allocated: 1 device",
    "9 two GPUs of one NUMA node": "allocated: 2 devices of one resource.kubernetes.io/numaNode",
}
OK_OF_LESSON = {
    "2 GPUs of node-01": "4 GPUs, counted",
    "4 greedy pods": "4 running, 2 pending: Insufficient nvidia.com/gpu",
    "7 DRA API": "deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices at v1",
    "8 a claim that no pod uses": "pending: no pod uses it",
    "8 an H100 by CEL": "pending: its DeviceClass does not exist",
    "9 two GPUs of one NUMA node": "rejected by the API server: ",
}


def outcomes(checkout: Checkout, stack: str) -> list[dict[str, Any]]:
    shown = checkout.run("pulumi", "stack", "output", "--json", "--stack", stack, stack=stack)
    seen = json.loads(shown.stdout)["outcomes"]
    # Those of the lessons are in test_lessons.py.
    return [outcome for outcome in seen if "lesson" not in outcome]


def assert_outcomes(checkout: Checkout, stack: str, expected: dict[str, str]) -> None:
    seen = {outcome["step"]: outcome for outcome in outcomes(checkout, stack)}
    assert set(seen) == set(expected)
    for step, start in expected.items():
        assert seen[step]["ok"], seen[step]
        assert seen[step]["observed"].startswith(start), seen[step]


def changes(done: subprocess.CompletedProcess[str]) -> str:
    """Return the summary of a pulumi run."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("Resources:")[-1].split("Duration:")[0]


def test_dev_from_nothing_to_nothing(checkout: Checkout) -> None:
    checkout.bring("up")
    assert_outcomes(checkout, "dev", OK_OF_DEV)
    kubeconfig = stack_folder(checkout.path, "dev").kubeconfig
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    state = checkout.run("pulumi", "stack", "export", "--stack", "dev").stdout
    for line in kubeconfig.read_text().splitlines():
        if "client-key-data" in line:
            assert line.split()[-1] not in state

    again = changes(checkout.run("pulumi", "up", "--yes", "--skip-preview", "--stack", "dev"))
    assert "unchanged" in again
    assert not set(again) & set("+~-"), again
    preview = changes(checkout.run("pulumi", "preview", "--stack", "dev"))
    assert not set(preview) & set("+~-"), preview

    refreshed = checkout.run("pulumi", "refresh", "--yes", "--skip-preview", "--stack", "dev")
    assert refreshed.returncode == 0, refreshed.stdout
    after_refresh = changes(checkout.run("pulumi", "up", "--yes", "--skip-preview", "--stack", "dev"))
    assert not set(after_refresh) & set("+~-"), after_refresh

    checkout.bring("down")
    assert checkout.processes() == {}
    assert not (checkout.path / ".lab" / "dev").exists()


def test_a_relabelled_node_changes_its_pool(checkout: Checkout) -> None:
    checkout.bring("up")
    checkout.kubectl("label", "node", "node-01", "run.ai/simulated-gpu-node-pool=training", "--overwrite")
    slice_of_node = ("wait", "--for=create", "resourceslice/kwok-node-01-gpu", "--timeout=20s")
    checkout.kubectl(*slice_of_node)
    node = json.loads(checkout.kubectl("get", "node", "node-01", "-o", "json"))
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    checkout.kubectl("label", "node", "node-01", "run.ai/simulated-gpu-node-pool=default", "--overwrite")
    four = "--for=jsonpath={.status.allocatable.nvidia\\.com/gpu}=4"
    checkout.kubectl("wait", four, "node/node-01", "--timeout=20s")
    checkout.kubectl("wait", "--for=delete", "resourceslice/kwok-node-01-gpu", "--timeout=20s")
    checkout.bring("down")


def test_a_kubeconfig_that_was_deleted_is_back_after_up(checkout: Checkout) -> None:
    checkout.bring("up", "lesson")
    stack_folder(checkout.path, "lesson").kubeconfig.unlink()
    checkout.bring("up", "lesson")
    assert "node-01" in checkout.kubectl("get", "nodes", stack="lesson")
    checkout.bring("down", "lesson")


def test_up_and_down_leave_no_temporary_file(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    checkout.bring("up", "lesson")
    checkout.bring("down", "lesson")
    assert list(temporary.iterdir()) == []
    assert list((checkout.path / ".lab").glob("tmp-*")) == []


def test_up_says_which_label_a_node_without_gpus_has(checkout: Checkout) -> None:
    checkout.bring("up", "lesson")
    label = "run.ai/simulated-gpu-node-pool"
    checkout.kubectl("label", "node", "node-01", f"{label}=nonesuch", "--overwrite", stack="lesson")
    up = checkout.lab("up", "lesson")
    assert up.returncode == 1
    assert f"no GPUs: it has {label}=nonesuch, and its pool is default" in up.stdout + up.stderr
    checkout.kubectl("label", "node", "node-01", f"{label}=default", "--overwrite", stack="lesson")
    checkout.bring("up", "lesson")
    checkout.bring("down", "lesson")


def test_another_count_reaches_the_node_and_the_greedy_pods(checkout: Checkout) -> None:
    checkout.bring("up", "lesson")
    config = checkout.path / "Pulumi.lesson.yaml"
    config.write_text(config.read_text().replace("count: 4", "count: 5"))
    checkout.bring("up", "lesson")
    assert_outcomes(
        checkout,
        "lesson",
        OK_OF_LESSON
        | {
            "2 GPUs of node-01": "5 GPUs, counted",
            "4 greedy pods": "5 running, 1 pending: Insufficient nvidia.com/gpu",
        },
    )
    checkout.bring("down", "lesson")


def test_changed_claims_are_replaced_with_the_pods_that_use_them(checkout: Checkout) -> None:
    checkout.bring("up")
    config = checkout.path / "Pulumi.dev.yaml"
    config.write_text(config.read_text().replace("lab:claims: corrected", "lab:claims: as-written"))
    checkout.bring("up")
    assert_outcomes(
        checkout,
        "dev",
        OK_OF_DEV
        | {
            "8 an H100 by CEL": "pending: no device matches",
            "9 two GPUs of one NUMA node": "rejected by the API server: ",
        },
    )
    checkout.bring("down")


def test_two_stacks_at_once(checkout: Checkout) -> None:
    command = [".venv/bin/python", "-m", "lab", "up", "--stack"]
    running = {
        stack: subprocess.Popen(  # noqa: S603 - the lab's own command
            [*command, stack],
            cwd=checkout.path,
            env=checkout.environment(stack),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for stack in ("dev", "lesson")
    }
    output = {stack: process.communicate(timeout=300)[0] for stack, process in running.items()}
    assert {stack: process.returncode for stack, process in running.items()} == {"dev": 0, "lesson": 0}, (
        output
    )
    assert_outcomes(checkout, "dev", OK_OF_DEV)
    assert_outcomes(checkout, "lesson", OK_OF_LESSON)
    checkout.bring("down", "lesson")
    assert_outcomes(checkout, "dev", OK_OF_DEV)
    checkout.bring("down", "dev")
    assert checkout.processes() == {}


@pytest.mark.parametrize("component", ["etcd", "kube-apiserver", "kube-scheduler", "kwok-controller"])
def test_a_killed_component_is_started_again(checkout: Checkout, component: str) -> None:
    checkout.bring("up", "lesson")
    folder = stack_folder(checkout.path, "lesson")
    uid = checkout.kubectl("get", "ns", "greedy", "-o", "jsonpath={.metadata.uid}", stack="lesson")
    os.kill(folder.processes()[component], signal.SIGKILL)
    checkout.bring("up", "lesson")
    assert component in folder.processes()
    assert checkout.kubectl("get", "ns", "greedy", "-o", "jsonpath={.metadata.uid}", stack="lesson") == uid
    again = changes(checkout.run("pulumi", "up", "--yes", "--skip-preview", "--stack", "lesson"))
    assert not set(again) & set("+~-"), again
    checkout.bring("down", "lesson")


def test_lost_data_is_made_anew(checkout: Checkout) -> None:
    checkout.bring("up", "lesson")
    done = checkout.run(".venv/bin/python", "-m", "control_plane", "delete", "lesson")
    assert done.returncode == 0, done.stderr
    checkout.bring("up", "lesson")
    assert_outcomes(checkout, "lesson", OK_OF_LESSON)
    checkout.bring("down", "lesson")
    assert checkout.processes() == {}


def test_a_dead_cluster_is_taken_down(checkout: Checkout) -> None:
    checkout.bring("up", "lesson")
    for pid in stack_folder(checkout.path, "lesson").processes().values():
        os.kill(pid, signal.SIGKILL)
    checkout.bring("down", "lesson")
    assert not (checkout.path / ".lab" / "lesson").exists()


def test_up_after_a_killed_up(checkout: Checkout) -> None:
    kill_during_up(checkout)
    checkout.bring("up", "lesson")
    assert_outcomes(checkout, "lesson", OK_OF_LESSON)
    state = checkout.run("pulumi", "stack", "export", "--stack", "lesson").stdout
    assert not was_interrupted(state)
    checkout.bring("down", "lesson")
    assert checkout.processes() == {}


def test_down_after_a_killed_up(checkout: Checkout) -> None:
    kill_during_up(checkout)
    checkout.bring("down", "lesson")
    assert checkout.processes() == {}
    assert not (checkout.path / ".lab" / "lesson").exists()


def test_a_second_run_leaves_the_first_one_alone(checkout: Checkout) -> None:
    with up_that_has_begun(checkout) as first:
        # It must not end before the others have tried.
        os.killpg(first.pid, signal.SIGSTOP)
        try:
            seconds = [checkout.lab(verb, "lesson") for verb in ("up", "down")]
        finally:
            os.killpg(first.pid, signal.SIGCONT)
        for second in seconds:
            assert second.returncode == 1, second.stdout + second.stderr
            assert "another run is at stack lesson" in second.stderr
        assert first.stdout is not None
        seen = first.stdout.read()
    assert first.returncode == 0, seen
    assert_outcomes(checkout, "lesson", OK_OF_LESSON)
    checkout.bring("down", "lesson")


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_up_ends_in_good_order(checkout: Checkout, interrupt: signal.Signals) -> None:
    with up_that_has_begun(checkout) as process:
        if interrupt == signal.SIGINT:
            # As Ctrl-C does: all processes of the terminal get it.
            os.killpg(process.pid, interrupt)
        else:
            # As whoever started it does.
            os.kill(process.pid, interrupt)
        assert process.stdout is not None
        seen = process.stdout.read()
    assert process.returncode not in {0, -interrupt}, seen
    assert "Traceback" not in seen
    locks = checkout.path / ".lab/state/.pulumi/locks"
    assert [file for file in locks.rglob("*.json") if file.is_file()] == []
    checkout.bring("up", "lesson")
    checkout.bring("down", "lesson")


def kill_during_up(checkout: Checkout) -> None:
    """Kill `pulumi up` by SIGKILL when it has begun with what is in the cluster."""
    with up_that_has_begun(checkout) as process:
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


@contextlib.contextmanager
def up_that_has_begun(checkout: Checkout) -> Generator[subprocess.Popen[str]]:
    """Run `lab up`, and let go when it has begun with what is in the cluster."""
    with subprocess.Popen(
        [".venv/bin/python", "-m", "lab", "up", "--stack", "lesson"],
        cwd=checkout.path,
        env=checkout.environment("lesson"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "fake-gpu-operator creating" in line:
                break
        yield process


def test_a_wrong_config_value_is_one_sentence(checkout: Checkout) -> None:
    config = checkout.path / "Pulumi.lesson.yaml"
    config.write_text(config.read_text().replace("NVIDIA A100-SXM4-40GB", "A100"))
    up = checkout.lab("up", "lesson")
    assert up.returncode != 0
    text = up.stdout + up.stderr
    assert "lab:pools.0.product" in text
    assert "NVIDIA A100-SXM4-40GB" in text
    assert "Traceback" not in text
    checkout.bring("down", "lesson")


def test_documented_table_is_what_the_program_shows(checkout: Checkout) -> None:
    documented = json.loads((Path(__file__).parents[2] / "docs" / "outcomes-dev.json").read_text())
    checkout.bring("up")
    shown = outcomes(checkout, "dev")
    assert [(o["step"], o["expected"], o["ok"]) for o in shown] == [
        (o["step"], o["expected"], o["ok"]) for o in documented
    ]
    checkout.bring("down")
