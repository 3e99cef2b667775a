"""`python -m bench`: measure, show each figure beside what it must reach, exit 1 if one does not."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bench.figures import table
from bench.lab import BenchError
from bench.lab import measure as measure_lab

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(rounds: Annotated[int, typer.Option(min=1, help="Readings of each figure.")] = 5) -> None:
    """Measure the lab, in seconds."""
    console = Console()
    try:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            progress.add_task(f"{rounds} rounds of up, up, destroy", total=None)
            figures = measure_lab(rounds)
    except BenchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    console.print(table(figures))
    if not all(figure.ok for figure in figures):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
