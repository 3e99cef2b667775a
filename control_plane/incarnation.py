"""Which control plane a stack has, and whether it is the one that still runs.

Pulumi runs a command again only when its inputs change. A control plane that died changed nothing in the
program, so its incarnation is an input: the same while it lives, a new generation when it must be started
again on its data, a new identity when the data is gone and everything in it must be made anew.
"""

import json
import re
import subprocess
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

CLUSTER = "lab"
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller")
KUEUE = "kueue"
"""Runs beside them where a stack has the lesson on queues."""

SHARED = ("bin", "env", "pulumi", "rehearsals", "state", "tmp")
"""What else is in .lab: taking such a stack down would take it along."""


@dataclass(frozen=True, kw_only=True)
class Incarnation:
    """`identity` changes with the data, `generation` counts the starts on the same data."""

    identity: str
    generation: int


@dataclass(frozen=True)
class StackFolder:
    """Where a stack keeps its control plane: `.lab/<stack>/`."""

    path: Path

    @property
    def kwok(self) -> Path:
        """KWOK_WORKDIR: kwokctl's own folder."""
        return self.path / "kwok"

    @property
    def cluster(self) -> Path:
        """The cluster's certificates, data, logs and process ids."""
        return self.kwok / "clusters" / CLUSTER

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig that people and Pulumi use."""
        return self.path / "kubeconfig"

    @property
    def marker(self) -> Path:
        """Written last: it stands for a control plane that was made completely."""
        return self.path / "incarnation.json"

    def recorded(self) -> Incarnation | None:
        """Return the incarnation that was made completely, if there is one."""
        try:
            return Incarnation(**json.loads(self.marker.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def record(self, incarnation: Incarnation) -> None:
        """Say that this incarnation was made completely."""
        part = self.marker.with_suffix(".part")
        part.write_text(json.dumps(asdict(incarnation)))
        part.replace(self.marker)

    def processes(self) -> dict[str, int]:
        """Return the ids of the components that run, and are this cluster's.

        A recorded id may since belong to a stranger. kwokctl starts every component through a link or with
        arguments in the cluster's own folder, so its command line tells.
        """
        ours: dict[str, int] = {}
        for component in (*COMPONENTS, KUEUE):
            try:
                pid = int((self.cluster / "pids" / f"{component}.pid").read_text())
            except (FileNotFoundError, ValueError):
                continue
            if str(self.cluster) in command_line(pid):
                ours[component] = pid
        return ours

    @property
    def begun(self) -> set[str]:
        """The components that have to run: Kueue where it was begun, and all others."""
        return {*COMPONENTS, *([KUEUE] if (self.cluster / "pids" / f"{KUEUE}.pid").exists() else [])}

    def desired(self) -> Incarnation:
        """Return the incarnation to ask for: the living one, its next generation, or a new one."""
        recorded = self.recorded()
        if recorded is None or not (self.cluster / "etcd").is_dir():
            return Incarnation(identity=uuid.uuid4().hex, generation=0)
        if set(self.processes()) == self.begun and self.kubeconfig.exists():
            return recorded
        return Incarnation(identity=recorded.identity, generation=recorded.generation + 1)


def stack_folder(repo: Path, stack: str) -> StackFolder:
    """Return a stack's folder.

    Raises:
        ValueError: The name is no single folder's, or that of a folder that all stacks share.

    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", stack):
        raise ValueError(f"{stack!r} is no stack name: letters, digits, '-', '_' and '.' are allowed")
    if stack in SHARED:
        raise ValueError(
            f"a stack cannot be called {stack!r}: .lab/{stack} belongs to all stacks; take another name"
        )
    return StackFolder(repo.absolute() / ".lab" / stack)


def command_line(pid: int) -> str:
    """Return a process's command line, empty when there is no such process (or it is a zombie)."""
    proc = Path("/proc") / str(pid) / "cmdline"
    if not Path("/proc/self").exists():
        return _ps(pid)
    try:
        return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def _ps(pid: int) -> str:
    # No /proc, as on macOS.
    done = subprocess.run(  # noqa: S603 - the arguments are ours
        ["/bin/ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return done.stdout
