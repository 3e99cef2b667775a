"""`lab rehearse` on real control planes: the measured verdicts, and nothing left of it however it ends."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest
import yaml

from dra.finding import Verdict
from lab.api import CLUSTER_WIDE
from lab.rehearsal import Outcome, rehearse
from lab.trial import Trials, trials_beside
from tests.engine.checkout import REPO, Checkout

pytestmark = pytest.mark.engine

CASES = REPO / "tests" / "cases"
VERDICTS: Mapping[str, Any] = json.loads((CASES / "verdicts.json").read_text())
WORST_FIRST = [Verdict.REJECTED, Verdict.ERROR, Verdict.PENDING, Verdict.ALLOCATED, Verdict.ACCEPTED]

Documents = list[dict[str, Any]]


def documents(text: str) -> Documents:
    return list(yaml.safe_load_all(text))


INVENTORY = documents((CASES / "inventory.yaml").read_text())


@pytest.fixture(scope="module")
def trials() -> Generator[Trials]:
    with trials_beside(REPO) as made:
        yield made


def case(name: str) -> Documents:
    """Return a case's documents in its own namespace."""
    namespace = f"c-{name.replace('_', '-')}"
    made = documents((CASES / "inputs" / f"{name}.yaml").read_text())
    for document in made:
        if document["kind"] == "Namespace":
            document["metadata"]["name"] = namespace
        elif document["kind"] not in CLUSTER_WIDE:
            document["metadata"]["namespace"] = namespace
    return made


def said(message: str) -> str:
    """Return a message without kubectl's frame around it, and without the node that was tried first."""
    message = message.removeprefix('Error from server (BadRequest): error when creating "STDIN": ')
    return re.sub(r"node-[ah]/", "node/", message.partition(" is invalid: ")[2] or message)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_case_comes_to_the_measured_verdict(trials: Trials, name: str) -> None:
    expected = VERDICTS[name]
    outcomes = rehearse(trials, case(name), INVENTORY)
    worst = min(outcomes, key=lambda outcome: WORST_FIRST.index(outcome.verdict))
    assert worst.verdict == expected["verdict"]
    assert said(expected.get("message", "")) in said(worst.message)
    if worst.verdict is Verdict.ALLOCATED:
        assert len(worst.devices) == len(expected["devices"]["c"])


CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'example.com'"}}]}
"""


def node(name: str, cpu: str = "4") -> str:
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: "{cpu}"}}}}
"""


def gpus(of: str, count: int) -> str:
    names = ", ".join(f"{{name: gpu-{index}}}" for index in range(count))
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {of}}}
spec:
  driver: example.com
  nodeName: {of}
  pool: {{name: {of}, generation: 1, resourceSliceCount: 1}}
  devices: [{names}]
"""


def claim(name: str, count: int = 1, kind: str = "ResourceClaim", status: str = "{}") -> str:
    spec = f"{{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu, count: {count}}}}}]}}}}"
    if kind == "ResourceClaimTemplate":
        spec = f"{{spec: {spec}}}"
    text = f"apiVersion: resource.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    return text if status == "{}" else f"{text}status: {status}\n"


def pod(name: str, reference: str, more: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  {more}
  containers: [{{name: m, image: none, resources: {{claims: [{{name: g}}]}}}}]
  resourceClaims: [{{name: g, {reference}}}]
"""


def ask(trials: Trials, given: Sequence[str], inventory: Sequence[str]) -> list[Outcome]:
    return rehearse(trials, documents("\n---\n".join(given)), documents("\n---\n".join(inventory)))


def verdicts(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.verdict.value for outcome in outcomes]


SMALL = [CLASS, node("one"), gpus("one", 2)]


def test_pods_do_not_compete(trials: Trials) -> None:
    both = ask(trials, [claim("a", 2), claim("b", 2), claim("c", 3)], SMALL)
    assert verdicts(both) == ["allocated", "allocated", "pending"]


def test_a_slice_stands_for_its_node_wherever_it_is_from(trials: Trials) -> None:
    expected = ["accepted", "accepted", "allocated"]
    assert verdicts(ask(trials, [CLASS, gpus("one", 2), claim("a", 2)], [])) == expected
    assert verdicts(ask(trials, [claim("a", 2)], [CLASS, gpus("one", 2)])) == expected[2:]
    wrong = gpus("one", 2).replace("nodeName: one", "nodeName: One_1")
    assert verdicts(ask(trials, [wrong, claim("a", 2)], SMALL)) == ["rejected", "allocated"]


def test_taints_of_nodes_do_not_count(trials: Trials) -> None:
    tainted = node("two") + "spec: {taints: [{key: gpus, effect: NoSchedule}]}"
    assert verdicts(ask(trials, [tainted, gpus("two", 4), claim("a", 4)], SMALL))[2] == "allocated"


def test_what_others_have_to_take_away_is_judged_and_does_not_stay(trials: Trials) -> None:
    kept, wrong = "{name: a, finalizers: [example.com/x]}", "{name: b, finalizers: [x]}"
    documents = [claim("a"), claim("b"), pod("p", "resourceClaimName: a")]
    for name, metadata in (("a", kept), ("b", wrong), ("p", kept)):
        documents = [
            each.replace(f"metadata: {{name: {name}}}", f"metadata: {metadata}") for each in documents
        ]
    assert verdicts(ask(trials, documents, SMALL)) == ["allocated", "rejected", "allocated"]
    assert verdicts(ask(trials, documents, SMALL)) == ["allocated", "rejected", "allocated"]


def test_a_kind_that_there_is_not_is_rejected(trials: Trials) -> None:
    assert verdicts(ask(trials, [claim("a", kind="resourceclaim")], SMALL)) == ["rejected"]


def test_a_pod_that_names_its_node_can_share_a_claim_there(trials: Trials) -> None:
    inventory = [*SMALL, node("two"), gpus("two", 2)]
    shared = [
        claim("a"),
        pod("p", "resourceClaimName: a", "nodeSelector: {kubernetes.io/hostname: one}"),
        pod("q", "resourceClaimName: a", "nodeName: one"),
    ]
    assert verdicts(ask(trials, shared, inventory)) == ["allocated"] * 3
    apart = [*shared[:2], pod("q", "resourceClaimName: a", "nodeName: two")]
    assert verdicts(ask(trials, apart, inventory)) == ["pending", "allocated", "pending"]


def test_a_claim_cannot_be_reserved_twice_for_one_pod(trials: Trials) -> None:
    twice = pod("p", "resourceClaimName: a").replace(
        "resourceClaims: [", "resourceClaims: [{name: h, resourceClaimName: a}, "
    )
    assert verdicts(ask(trials, [claim("a"), twice], SMALL)) == ["error", "error"]


def test_the_pods_of_a_shared_claim_get_the_same_devices(trials: Trials) -> None:
    inventory = [*SMALL, node("two"), gpus("two", 2)]
    on = "nodeSelector: {{kubernetes.io/hostname: {}}}"
    shared = [
        claim("a"),
        pod("p", "resourceClaimName: a", on.format("one")),
        pod("q", "resourceClaimName: a", on.format("one")),
    ]
    outcomes = ask(trials, shared, inventory)
    assert verdicts(outcomes) == ["allocated"] * 3
    assert len({tuple(outcome.devices) for outcome in outcomes}) == 1
    apart = [*shared[:2], pod("q", "resourceClaimName: a", on.format("two"))]
    assert verdicts(ask(trials, apart, inventory)) == ["pending", "allocated", "pending"]


def test_a_workload_s_pod_needs_nothing_but_its_claims(trials: Trials) -> None:
    deployment = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 9
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      serviceAccountName: trainer
      priorityClassName: high
      runtimeClassName: nvidia
      schedulerName: another
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
      containers:
      - name: m
        image: none
        resources: {claims: [{name: g}]}
        volumeMounts: [{name: data, mountPath: /data}]
      resourceClaims: [{name: g, resourceClaimTemplateName: t}]
"""
    template = claim("t", 2, "ResourceClaimTemplate")
    outcomes = ask(trials, [template, deployment], SMALL)
    assert verdicts(outcomes) == ["allocated", "allocated"]
    assert outcomes[0].devices == ["one/gpu-0 (gpu)", "one/gpu-1 (gpu)"]


def test_a_template_without_a_pod_gets_one(trials: Trials) -> None:
    outcomes = ask(trials, [claim(f"t{n}", n, "ResourceClaimTemplate") for n in (2, 3)], SMALL)
    assert verdicts(outcomes) == ["allocated", "pending"]


def test_a_pod_waits_for_a_claim_that_is_refused(trials: Trials) -> None:
    outcomes = ask(trials, [claim("a", -1), pod("p", "resourceClaimName: a")], SMALL)
    assert verdicts(outcomes) == ["rejected", "pending"]


def test_a_pod_that_names_its_node_gets_no_claims(trials: Trials) -> None:
    outcomes = ask(trials, [claim("a"), pod("p", "resourceClaimName: a", "nodeName: one")], SMALL)
    assert verdicts(outcomes) == ["pending", "pending"]


def test_devices_that_a_claim_of_the_inventory_holds_are_not_to_be_had(trials: Trials) -> None:
    status = (
        "{allocation: {devices: {results: [{request: gpu, driver: example.com, pool: one, device: gpu-0}]}}}"
    )
    holder = claim("holder", status=status)
    assert verdicts(ask(trials, [claim("a", 2), claim("b", 1)], [*SMALL, holder])) == ["pending", "allocated"]
    assert verdicts(ask(trials, [claim("a", 2), holder], SMALL)) == ["pending", "allocated"]
    assert verdicts(ask(trials, [claim("a", 2)], SMALL)) == ["allocated"]


def test_a_rule_that_taints_all_devices_is_no_end_of_it(trials: Trials) -> None:
    rule = """
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: everything}
spec: {deviceSelector: {}, taint: {key: example.com/unhealthy, effect: NoExecute}}
"""
    assert verdicts(ask(trials, [claim("a")], [*SMALL, rule])) == ["pending"]
    assert verdicts(ask(trials, [claim("a")], SMALL)) == ["allocated"]


def test_a_slice_that_fails_every_pod_is_no_end_of_it() -> None:
    needs = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}"
    wrong = gpus("two", 1).replace("nodeName: two", needs)
    with trials_beside(REPO) as own:
        assert verdicts(ask(own, [claim("a"), claim("b")], [*SMALL, wrong])) == ["error", "error"]


def test_devices_that_their_driver_has_to_bind_are_allocated(trials: Trials) -> None:
    waiting = gpus("one", 1).replace(
        "gpu-0", "gpu-0, bindingConditions: [bound], bindingFailureConditions: [lost]"
    )
    assert "bindingConditions" in waiting
    refused = waiting.replace(", bindingFailureConditions: [lost]", "")
    assert verdicts(ask(trials, [claim("a")], [CLASS, node("one"), waiting])) == ["allocated"]
    assert verdicts(ask(trials, [refused], [CLASS, node("one")])) == ["rejected"]


def test_a_node_has_what_its_document_says(trials: Trials) -> None:
    wants = pod("p", "resourceClaimName: a").replace("{claims:", "{requests: {cpu: 5}, claims:")
    for cpu, expected in (("4", "pending"), ("6", "allocated")):
        inventory = [CLASS, node("one", cpu), gpus("one", 1)]
        assert verdicts(ask(trials, [claim("a"), wants], inventory)) == [expected, expected]


def test_a_document_takes_the_place_of_what_the_inventory_has_under_its_name(trials: Trials) -> None:
    assert verdicts(ask(trials, [gpus("one", 3), claim("a", 3)], SMALL)) == ["accepted", "allocated"]


def test_without_devices_only_the_api_server_is_asked(trials: Trials) -> None:
    outcomes = rehearse(trials, documents("\n---\n".join([claim("a"), claim("b", -1)])), None)
    assert verdicts(outcomes) == ["accepted", "rejected"]


def test_no_answer_is_about_an_earlier_inventory(trials: Trials) -> None:
    """Each change alone turns the verdict around, so one that the scheduler has not seen would show."""
    rule = """
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: broken}
spec: {deviceSelector: {driver: example.com}, taint: {key: broken, effect: NoSchedule}}
"""
    other = CLASS.replace("example.com", "example.org")
    changes = {
        "allocated": SMALL,
        "a rule": [*SMALL, rule],
        "no class": SMALL[1:],
        "another class": [other, *SMALL[1:]],
        "fewer devices": [CLASS, node("one"), gpus("one", 1)],
        "another node": [CLASS, node("two"), gpus("two", 1)],
    }
    for _ in range(3):
        for change, inventory in changes.items():
            expected = {"allocated": "allocated", "no class": "error"}.get(change, "pending")
            assert verdicts(ask(trials, [claim("a", 2)], SMALL)) == ["allocated"], f"after {change}"
            assert verdicts(ask(trials, [claim("a", 2)], inventory)) == [expected], change


def left(checkout: Checkout) -> list[str]:
    """Return what is left of rehearsals: their processes and their files."""
    files = (checkout.path / ".lab").rglob("*rehearsal*/**")
    return [*checkout.processes().values(), *map(str, files)]


def write_case(checkout: Checkout, name: str) -> list[str]:
    """Return the command that rehearses a case."""
    # JSON is YAML.
    (checkout.path / "case.yaml").write_text("\n---\n".join(map(json.dumps, case(name))))
    return [
        *(".venv/bin/python", "-m", "lab", "rehearse", "case.yaml"),
        *("--inventory", str(CASES / "inventory.yaml"), "--output", "json"),
    ]


def test_the_command_says_what_came_of_it_and_leaves_nothing(checkout: Checkout) -> None:
    done = checkout.run(*write_case(checkout, "count_33"))
    assert done.returncode == 1, done.stderr
    (found,) = json.loads(done.stdout)
    assert (found["verdict"], found["kind"], found["name"], found["file"]) == (
        *("error", "ResourceClaim", "c", "case.yaml"),
    )
    (finding,) = found["findings"]
    assert finding["code"] == "DRA203"
    assert "adding 33 devices exceeds the claim limit of 32" in finding["message"]
    assert left(checkout) == []


def test_what_names_no_namespace_is_in_the_one_that_its_file_makes(checkout: Checkout) -> None:
    done = checkout.run(*write_case(checkout, "admin_labelled"))
    assert done.returncode == 0, done.stdout + done.stderr


def started(checkout: Checkout, until: str) -> subprocess.Popen[str]:
    """Return a rehearsal that has come as far as having a process of this name."""
    process = subprocess.Popen(  # noqa: S603 - the test's own command
        write_case(checkout, "count_two_requests_fit"),
        cwd=checkout.path,
        env=checkout.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not any(until in line for line in checkout.processes().values()):
        assert process.poll() is None
        assert time.monotonic() < deadline
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("until", ["kwokctl --name", "bin/kube-scheduler"])
def test_a_signal_ends_it_in_order(checkout: Checkout, number: signal.Signals, until: str) -> None:
    process = started(checkout, until)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert left(checkout) == []


@pytest.mark.parametrize("until", ["kwokctl --name", "bin/kube-scheduler"])
def test_the_next_one_removes_what_a_killed_one_left(checkout: Checkout, until: str) -> None:
    process = started(checkout, until)
    process.kill()
    process.communicate()
    assert left(checkout)
    done = checkout.run(*write_case(checkout, "count_two_requests_fit"))
    assert done.returncode == 0, done.stderr
    assert left(checkout) == []


def test_a_rehearsal_leaves_another_alone(checkout: Checkout) -> None:
    with trials_beside(checkout.path) as beside:
        done = checkout.run(*write_case(checkout, "count_33"))
        assert done.returncode == 1, done.stderr
        assert verdicts(ask(beside, [claim("a", 2)], SMALL)) == ["allocated"]
    assert left(checkout) == []


def test_what_cannot_be_had_is_a_sentence(checkout: Checkout) -> None:
    (checkout.path / ".lab" / "bin" / "etcd").unlink()
    done = checkout.run(*write_case(checkout, "count_33"))
    assert done.returncode == 2
    assert "etcd is not in .lab/bin; `make tools` finds or builds the lab's tools" in done.stderr
    assert "Traceback" not in done.stderr
    assert left(checkout) == []
