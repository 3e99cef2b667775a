"""`python -m bench`: measure, show each figure beside what it must reach, exit 1 if one does not."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bench import checker, lab, policy_pack
from bench.figures import BenchError, table

if TYPE_CHECKING:
    from bench.figures import Figure

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
MEASURED = {
    "checks of many claims": checker.measure,
    "previews with the policy pack": policy_pack.measure,
    "up, up, destroy": lab.measure,
    "all lessons": lab.measure_course,
}


@app.command()
def main(rounds: Annotated[int, typer.Option(min=1, help="Readings of each figure.")] = 5) -> None:
    """Measure the checker, the policy pack and the lab, in seconds."""
    try:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(MEASURED))
            figures: list[Figure] = []
            for what, measure in MEASURED.items():
                progress.update(task, description=f"{rounds} rounds of {what}")
                figures += measure(rounds)
                progress.advance(task)
    except BenchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    Console().print(table(figures))
    if not all(figure.ok for figure in figures):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
