"""The lessons in the order of the course, each with what it shows in one sentence.

This is the one place where a lesson is registered. A lesson called `same-numa` is the class `SameNuma` in
`components/lessons/same_numa.py`, and its page is `docs/lessons/same-numa.md`.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Not for the command line, which only lists the names.
    from collections.abc import Callable

    from components.lesson import Lesson

COURSE: Mapping[str, str] = {
    "greedy": "six pods of one counted GPU each, on a node that has four",
    "lab4": "the claims of Lab 4: an H100 by CEL, two GPUs of one NUMA node, and a claim that no pod uses",
    "pending": "claims that get no device, each for another reason",
    "selector": "GPUs by product, memory, compute capability and driver version; a missing key fails the pod",
    "same-numa": "GPUs that share a NUMA node, as many as sit together and one more",
    "same-pcie-root": "a GPU and a network card of another driver, at one PCIe root",
    "distinct": "GPUs that must differ: on NUMA nodes of their own, alike and at PCIe roots of their own",
    "template": "a claim for each pod, one for two containers, and one for two pods",
    "alternatives": "an H100, else two A100: the list in the order of preference",
    "extended-resource": "`nvidia.com/gpu: 1` served from the devices of a DRA driver",
    "double-booking": "two ledgers on one node sell every GPU twice; the same pods on one ledger do not",
    "mig": "one GPU in partitions that share its counters: profiles that fit and one that does not",
    "sharing": "one GPU for several claims, each with a part of it, and how that compares with MIG",
    "time-slicing": "settings for the driver, carried from class and claim into the allocation",
    "admin-access": "a monitor that sees the GPUs in use and takes none away",
    "taints": "a tainted GPU, a claim that tolerates it, and a rule that evicts a running pod",
    "quota": "how many devices a namespace may ask for, by claims and by `nvidia.com/gpu`",
    "preemption": "a pod of high priority gets a counted GPU from others, and no claimed one",
    "binding-conditions": "a GPU that is to be attached first, and a pod that waits for it",
    "completion": "pods that end when their time is up, and hand their GPUs to those that wait",
    "gang": "pods that run together or not at all, and a claim that is their group's",
    "queue": "jobs that a queue lets in one after the other, as there are GPUs for them",
    "broken-device": "a GPU that gets a taint, and one that is no longer published, under running pods",
}

OF_LAB4 = ("greedy", "lab4")
"""These are Lab 4 itself: they use the stack's own nodes, and their steps stand in the closing table."""

ONE_MORE = "GPULAB_LESSON"
"""The environment variable by which `lab run` adds a lesson to those of the configuration, for one run."""


def lesson(name: str) -> "Callable[..., Lesson]":
    """Return the component of a lesson that brings its own nodes and devices."""
    module = importlib.import_module(f"components.lessons.{name.replace('-', '_')}")
    return getattr(module, class_name(name))


def class_name(name: str) -> str:
    """Return the name of a lesson's class: `SameNuma` for `same-numa`."""
    return name.title().replace("-", "")
