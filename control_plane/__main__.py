"""`python -m control_plane create|delete STACK`: what the stack's Command resource runs."""

import argparse
import sys
from pathlib import Path

from control_plane.incarnation import Incarnation, stack_folder
from control_plane.kwokctl import create, delete
from control_plane.tools import REPO, ControlPlaneError


def main() -> int:
    """Run one verb; return 0, or 1 after a sentence on stderr."""
    parser = argparse.ArgumentParser(
        prog="control_plane", description="The embedded control plane of a stack."
    )
    parser.add_argument("verb", choices=["create", "delete"])
    parser.add_argument("stack")
    parser.add_argument("--identity", default="by-hand")
    parser.add_argument("--generation", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=REPO, help="where .lab is (default: this checkout)")
    parser.add_argument("--queue", action="store_true", help="with Kueue beside it")
    chosen = parser.parse_args()
    try:
        folder = stack_folder(chosen.folder, chosen.stack)
        if chosen.verb == "create":
            wanted = Incarnation(identity=chosen.identity, generation=chosen.generation)
            sys.stdout.write(create(folder, wanted, queue=chosen.queue))
        else:
            delete(folder)
    except (ControlPlaneError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
