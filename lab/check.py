"""`lab check`: what the control plane would say of claims, before anything is applied, with no cluster."""

import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from dra.codes import NOT_SERVED
from dra.finding import Checked, Severity, Verdict
from dra.gates import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dra.document import Document
    from dra.inventory import Inventory

PATIENT_SECONDS = 2
FINDINGS, UNUSABLE = 1, 2
"""Exit codes: findings at or above the level; wrong usage, or an input that cannot be read."""


class Output(StrEnum):
    """Forms of the result."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"


@dataclass(frozen=True)
class _Cluster:
    """What is known of the cluster, and what is wrong with where it is written down."""

    inventory: "Inventory | None" = None
    namespaces: "Mapping[str, Mapping[str, str]]" = field(default_factory=dict[str, "Mapping[str, str]"])
    wrong: Sequence[Checked] = ()


Paths = Annotated[list[str], typer.Argument(help="Files, folders, or - for standard input.", metavar="PATH…")]
InventoryFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--inventory",
        help="ResourceSlices, DeviceClasses, Nodes … of the cluster: a file or folder.",
        metavar="FILE",
    ),
]
Pools = Annotated[
    list[str] | None,
    typer.Option(
        "--pool",
        help="GPUs of the cluster, as 'NVIDIA H100 80GB HBM3=8/2x4': 8 a node, on 2 NUMA nodes, 4 nodes.",
        metavar="PRODUCT=COUNT[/NUMA][xNODES]",
    ),
]
FromCluster = Annotated[bool, typer.Option("--from-cluster", help="Read the inventory from a live cluster.")]


def check(  # noqa: PLR0913 - each is an option of the command line
    paths: Paths,
    *,
    inventory: InventoryFiles = None,
    pool: Pools = None,
    from_cluster: FromCluster = False,
    kubeconfig: Annotated[str | None, typer.Option(help="For --from-cluster, if not $KUBECONFIG.")] = None,
    context: Annotated[str | None, typer.Option(help="For --from-cluster, if not the current one.")] = None,
    target: Annotated[Target, typer.Option(help="The Kubernetes release to check for.")] = Target.V1_37,
    output: Annotated[Output, typer.Option(help="The form of the result.")] = Output.TEXT,
    fail_on: Annotated[Severity, typer.Option(help="Exit 1 for findings as bad as this.")] = Severity.ERROR,
) -> None:
    """Say what a cluster would make of the claims in YAML files, without one."""
    if sum((bool(inventory), bool(pool), from_cluster)) > 1:
        raise typer.BadParameter(
            "give one of --inventory, --pool and --from-cluster: one cluster is checked for"
        )
    if (kubeconfig is not None or context is not None) and not from_cluster:
        raise typer.BadParameter(
            "--kubeconfig and --context say which cluster --from-cluster reads: give it too"
        )
    from dra.checker import check as check_documents  # noqa: PLC0415 - the other commands start without it
    from dra.document import read_documents  # noqa: PLC0415

    with _patience():
        cluster = cluster_of(
            inventory or [], pool or [], (kubeconfig, context) if from_cluster else None, target
        )
        documents = list(read_documents(paths))
        results = [
            *cluster.wrong,
            *check_documents(documents, cluster.inventory, target, cluster.namespaces),
        ]
    write(results, output, fail_on)
    raise typer.Exit(exit_code(results, fail_on))


def cluster_of(
    files: Sequence[str], pools: Sequence[str], live: tuple[str | None, str | None] | None, target: Target
) -> _Cluster:
    """Return what the options say of the cluster; `live` is the kubeconfig and the context of one."""
    if files:
        from dra.document import read_documents  # noqa: PLC0415 - as above

        return _of_documents(list(read_documents(files)), target)
    if pools:
        from dra.inventory import Inventory  # noqa: PLC0415 - as above
        from lab.pool_option import parse_pool  # noqa: PLC0415 - as above

        try:
            parsed = [parse_pool(text, f"pool{index}") for index, text in enumerate(pools)]
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--pool") from None
        return _Cluster(Inventory.of_pools(parsed))
    if live is None:
        return _Cluster()
    from lab.cluster_inventory import ClusterError, read_cluster  # noqa: PLC0415 - only this needs a client

    try:
        documents = read_cluster(*live)
    except ClusterError as error:
        raise typer.BadParameter(str(error), param_hint="--from-cluster") from None
    cluster = _of_documents(documents, target)
    # What it has of an API that the target does not serve is no fault, and would not be there.
    wrong = [each for each in cluster.wrong if each.findings[0].code != NOT_SERVED.code]
    return replace(cluster, wrong=wrong)


def _of_documents(documents: Sequence["Document | Checked"], target: Target) -> _Cluster:
    from dra.checker import read_inventory  # noqa: PLC0415 - as above

    cluster = _Cluster(*read_inventory(documents, target))
    if any(each.verdict is Verdict.UNREADABLE for each in cluster.wrong):
        # What could not be read may be just what a claim wants.
        return replace(cluster, inventory=None)
    return cluster


def write(results: Sequence[Checked], output: Output, fail_on: Severity) -> None:
    """Print the results; exit if nobody can take them."""
    if sys.stdout is None:
        _cannot_be_written("standard output is closed")
    try:
        _print(results, output, fail_on)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # Who read them has read enough.
    except OSError as error:
        # What is left in the buffer would be tried again, and fail again, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _cannot_be_written(str(error.strerror))


def _cannot_be_written(why: str) -> NoReturn:
    typer.echo(f"The result cannot be written: {why}.", err=True)
    raise typer.Exit(UNUSABLE) from None


def _print(results: Sequence[Checked], output: Output, fail_on: Severity) -> None:
    match output:
        case Output.TEXT:
            from lab.output import text  # noqa: PLC0415 - one form of five is needed

            # A terminal may lack an arrow, or a character of a name.
            if (reconfigure := getattr(sys.stdout, "reconfigure", None)) is not None:
                reconfigure(errors="backslashreplace")
            text.write(results, Console())
            return
        case Output.JSON:
            from lab.output import structured  # noqa: PLC0415 - as above

            rendered = structured.render(results)
        case Output.SARIF:
            from lab.output import sarif  # noqa: PLC0415 - as above

            rendered = sarif.render(results)
        case Output.GITHUB:
            from lab.output import github  # noqa: PLC0415 - as above

            rendered = github.render(results)
        case Output.JUNIT:
            from lab.output import junit  # noqa: PLC0415 - as above

            rendered = junit.render(results, fail_on)
    # The programs that read this expect UTF-8.
    sys.stdout.buffer.write(f"{rendered}\n".encode("utf-8", "backslashreplace"))


def exit_code(results: Sequence[Checked], fail_on: Severity) -> int:
    """Return 0, or what is the matter."""
    from lab.output import reaches  # noqa: PLC0415 - as above

    if any(checked.verdict is Verdict.UNREADABLE for checked in results):
        return UNUSABLE
    found = any(reaches(finding, fail_on) for checked in results for finding in checked.findings)
    return FINDINGS if found else 0


@contextmanager
def _patience() -> Generator[None]:
    """Say on a terminal that work goes on, when it takes longer than people wait for."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    status = console.status("checking …")
    timer = threading.Timer(PATIENT_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
