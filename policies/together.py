"""Rules about a stack's objects together: the checker's findings, each under a policy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pulumi_policy import EnforcementLevel

from dra import codes
from dra.checker import check, read_inventory
from dra.codes import Code
from dra.document import Document, read_documents
from dra.finding import Finding
from dra.gates import Target
from dra.inventory import Inventory
from policies.judge import Judged, StackRule, Violation
from policies.kinds import claims, everything, supply, workloads
from policies.objects import KubernetesObject
from policies.settings import SettingsError, TargetSettings
from policies.simulated import nodes_and_slices
from policies.stack import Stack

PACK = Path(__file__).resolve().parent

Found = Iterator[tuple[KubernetesObject | None, Violation]]


class InventorySettings(TargetSettings):
    """`inventory`: a file of ResourceSlices, DeviceClasses and so on, relative to the pack's folder."""

    inventory: str = ""


class Cluster(NamedTuple):
    """What a cluster has beside the stack."""

    inventory: Inventory = Inventory()
    namespaces: Mapping[str, Mapping[str, str]] = {}


def cluster(stack: Stack, settings: InventorySettings) -> Cluster:
    """Return what the setting `inventory` names; nothing if it names nothing.

    Raises:
        SettingsError: The file cannot be read, or holds what the API server would refuse.

    """
    if not settings.inventory:
        return Cluster()
    return stack.once(
        ("inventory", settings.inventory, settings.target),
        lambda: read_file(settings.inventory, settings.target),
    )


def findings(stack: Stack, settings: InventorySettings) -> Sequence[tuple[KubernetesObject, Finding]]:
    """Return what the checker finds in the stack; asked once for all policies with the same settings."""
    return stack.once(("findings", settings.target, settings.inventory), lambda: _findings(stack, settings))


def _findings(stack: Stack, settings: InventorySettings) -> list[tuple[KubernetesObject, Finding]]:
    nodes, slices = nodes_and_slices(stack)
    items = {
        f"{item.urn} {item.at}": item
        for item in stack.objects
        if everything(item) is not None or item.kind == "Namespace"
    }
    documents = [
        Document(file=place, line=0, value=nodes[item.name] if item.kind == "Node" else item.document)
        for place, item in items.items()
    ]
    own = {item.name for item in items.values() if item.kind == "Node"}
    unseen = [node for name, node in nodes.items() if name not in own]
    documents += [Document(file="", line=0, value=value) for value in [*unseen, *slices]]
    has = cluster(stack, settings)
    return [
        (items[checked.file], finding)
        for checked in check(documents, has.inventory, settings.target, has.namespaces)
        if checked.file in items
        for finding in checked.findings
    ]


def read_file(name: str, target: Target) -> Cluster:
    """Return what a file says that a cluster has, and the labels of its namespaces.

    Raises:
        SettingsError: The file cannot be read, or holds what the API server would refuse.

    """
    inventory, namespaces, wrong = read_inventory(list(read_documents([str(PACK / name)])), target)
    for checked in wrong:
        finding = checked.findings[0]
        raise SettingsError(f"inventory is {name!r}; line {finding.line}: {finding.path} {finding.message}")
    return Cluster(inventory, namespaces)


def _with_codes(wanted: Callable[[Finding], bool]) -> Callable[[Stack, InventorySettings], Found]:
    def judge(stack: Stack, settings: InventorySettings) -> Found:
        for item, finding in findings(stack, settings):
            if wanted(finding):
                yield item, Violation.of(finding)

    return judge


def _one_of(*wanted: Code) -> Callable[[Finding], bool]:
    names = {code.code for code in wanted}
    return lambda finding: finding.code in names


def _is_of_constraint(finding: Finding) -> bool:
    return finding.code == codes.MATCH_AND_DISTINCT.code or (
        finding.code == codes.UNSATISFIED.code and ".constraints" in finding.path
    )


_is_of_class = _one_of(codes.CLASS_MISSING, codes.UNGUARDED_CLASS, codes.SAME_EXTENDED_RESOURCE)
_is_of_mechanism = _one_of(codes.BOTH_MECHANISMS)
_is_counted_beside = _one_of(codes.COUNTED_BESIDE_CLAIM)


def _is_of_scheduling(finding: Finding) -> bool:
    return (
        finding.code.startswith(("DRA2", "DRA3"))
        and not _is_of_class(finding)
        and not _is_of_constraint(finding)
    )


def _is_of_nobody_else(finding: Finding) -> bool:
    others = (_is_of_constraint, _is_of_class, _is_of_mechanism, _is_counted_beside)
    return finding.code.startswith("DRA4") and not any(other(finding) for other in others)


def satisfiable(stack: Stack, settings: InventorySettings) -> Found:
    """Yield the claims that the scheduler finds no devices for, or that there is nothing to judge them by."""
    nodes, slices = nodes_and_slices(stack)
    has_claims = any(claims(item) for item in stack.objects)
    has_devices = slices or nodes or any(item.kind == "ResourceSlice" for item in stack.objects)
    if has_claims and not has_devices and not settings.inventory:
        yield (
            None,
            Violation(
                path="",
                message="The stack has claims, and neither ResourceSlices nor nodes to judge them by",
                remedy="Write what the cluster has into a file (kubectl get "
                "resourceslices,deviceclasses,nodes -o yaml), and name it in the setting `inventory`; or "
                "switch this policy off",
            ),
        )
        return
    yield from _with_codes(_is_of_scheduling)(stack, settings)


def _rule(
    name: str,
    description: str,
    wanted: Callable[[Finding], bool],
    judged: Judged = everything,
    level: EnforcementLevel | None = None,
) -> StackRule[InventorySettings]:
    return StackRule(
        name=name,
        description=description,
        settings=InventorySettings,
        judged=judged,
        judge=_with_codes(wanted),
        level=level,
    )


SATISFIABLE = StackRule(
    name="claims-satisfiable",
    description="Each claim can be allocated from what the stack or the inventory has.",
    settings=InventorySettings,
    judged=everything,
    judge=satisfiable,
)
CONSTRAINTS = _rule("constraints-hold", "The constraints of each claim can hold.", _is_of_constraint)
CLASSES = _rule(
    "device-classes",
    "Each DeviceClass that is asked for exists, and says first which driver its devices are of.",
    _is_of_class,
)
ONE_MECHANISM = _rule(
    "one-mechanism", "The GPUs of a node are counted or claimed, never both.", _is_of_mechanism, supply
)
NOT_COUNTED_BESIDE_CLAIM = _rule(
    "no-counted-gpu-beside-claim",
    "A pod with a claim does not ask for counted GPUs as well.",
    _is_counted_beside,
    workloads,
)
ADVICE = _rule(
    "dra-advice",
    "What the control plane takes without a word, and a person would regret.",
    _is_of_nobody_else,
    level=EnforcementLevel.ADVISORY,
)
