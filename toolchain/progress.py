"""What a person sees while the tools are resolved: plain lines, the same on a terminal and in a log."""

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Progress:
    """Says what is being done, for how long, and what is left."""

    out: TextIO = field(default_factory=lambda: sys.stderr)
    every: float = 15  # seconds between two lines about the same work
    left: list[str] = field(default_factory=list[str])
    _begun: float = 0

    def say(self, line: str) -> None:
        """Print the line at once."""
        self.out.write(f"{line}\n")
        self.out.flush()

    def begin(self, name: str, what: str) -> None:
        """Say that the work on `name` begins."""
        self._begun = time.monotonic()
        self.left = [other for other in self.left if other != name]
        then = f", then {', '.join(self.left)}" if self.left else ""
        self.say(f"{name}: {what}{then}")

    def going_on(self, name: str) -> None:
        """Say that the work on `name` goes on."""
        self.say(f"{name}: still at it, {self.elapsed()}")

    def elapsed(self) -> str:
        """Return the time since `begin`, as people read it."""
        minutes, seconds = divmod(round(time.monotonic() - self._begun), 60)
        return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
