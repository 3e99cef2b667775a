"""`lab rehearse`: what a control plane says of claims: a real one, that comes up for it and goes away."""

import contextlib
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dra.finding import Severity
from dra.gates import Target
from lab.check import UNUSABLE, InventoryFiles, Output, Paths, Pools, cluster_of, exit_code, write

REPO = Path(__file__).resolve().parent.parent
TARGET = Target.V1_37
"""What the lab's own control plane is."""

_STOPPED = 128
"""What is added to a signal's number in the exit code of what it ended."""


def rehearse(
    paths: Paths,
    *,
    inventory: InventoryFiles = None,
    pool: Pools = None,
    output: Annotated[Output, typer.Option(help="The form of the result.")] = Output.TEXT,
    fail_on: Annotated[Severity, typer.Option(help="Exit 1 for findings as bad as this.")] = Severity.ERROR,
) -> None:
    """Ask a real API server and scheduler about the claims in YAML files; they come up and go away again."""
    if inventory and pool:
        raise typer.BadParameter("give one of --inventory and --pool: it is rehearsed on one cluster")
    from control_plane.tools import ControlPlaneError  # noqa: PLC0415 - the other commands start without it
    from dra.document import read_documents  # noqa: PLC0415 - as above
    from lab.rehearsed import InventoryError, rehearse_documents  # noqa: PLC0415 - as above

    cluster = cluster_of(inventory or [], pool or [], None, TARGET)
    documents = list(read_documents(paths))
    try:
        with _ending(), Console(stderr=True).status("rehearsing on a control plane …"):
            said = rehearse_documents(documents, cluster.inventory, cluster.namespaces, REPO)
    except (ControlPlaneError, InventoryError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(UNUSABLE) from None
    results = [*cluster.wrong, *said]
    write(results, output, fail_on)
    raise typer.Exit(exit_code(results, fail_on))


@contextlib.contextmanager
def _ending() -> Generator[None]:
    """Make every polite signal end the process in order, so that nothing is left running."""

    def end(number: int, _: object) -> None:
        sys.exit(_STOPPED + number)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, end) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
