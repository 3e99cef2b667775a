"""Make, heal and remove a stack's control plane by `kwokctl --runtime binary`."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Generator, Mapping

from control_plane.configuration import configuration
from control_plane.incarnation import CLUSTER, KUEUE, Incarnation, StackFolder, command_line
from control_plane.tools import REPO, ControlPlaneError, environment, run, tool

STAGES = REPO / "charts" / "kwok-stages" / "stages.yaml"
READY_WITHIN_SECONDS = 60
DISK_MIB = 200
"""What a control plane may take of the disk: 63 MiB were measured for a small lab, 61 of them etcd's log."""
ATTEMPTS = 3


def create(
    folder: StackFolder,
    incarnation: Incarnation,
    gates: Mapping[str, bool] | None = None,
    *,
    queue: bool = False,
) -> str:
    """Make the control plane be this incarnation, and return its kubeconfig.

    A complete one that runs is left alone; one whose processes died is started on its data; anything else
    (another incarnation, a half-made one) is removed and made anew. `queue`: Kueue runs beside it, and
    where it once did it goes on to: without it, what it has finalizers on could not be deleted.

    Raises:
        ControlPlaneError: It did not come up.

    """
    with _locked(folder):
        _check_disk(folder)
        recorded = folder.recorded()
        if recorded is not None and recorded.identity == incarnation.identity:
            # Asked before the start, which forgets the recorded id of one that died.
            queue |= KUEUE in folder.begun
            _start(folder)
        else:
            _remove(folder)
            _make(folder, gates or {})
        if queue:
            _start_kueue(folder)
        folder.record(incarnation)
        return folder.kubeconfig.read_text()


def _check_disk(folder: StackFolder) -> None:
    """Refuse a full disk at once: the components find it out one after the other, in minutes."""
    free = shutil.disk_usage(folder.path).free // 2**20
    if free < DISK_MIB:
        raise ControlPlaneError(
            f"{folder.path} has {free} MiB of disk left, and a control plane needs {DISK_MIB}: free some"
        )


def delete(folder: StackFolder) -> None:
    """Stop what runs and remove all of it; nothing there is fine."""
    if not folder.path.exists():
        return
    with _locked(folder):
        _remove(folder)
    shutil.rmtree(folder.path, ignore_errors=True)


def _make(folder: StackFolder, gates: Mapping[str, bool]) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            folder.kwok.mkdir(parents=True, exist_ok=True)
            config = folder.kwok / "config.yaml"
            # JSON is YAML.
            config.write_text(json.dumps(configuration(gates)))
            run(
                [
                    *(str(tool("kwokctl")), "--name", CLUSTER),
                    *("create", "cluster", "--config", str(config), "--enable-crds", "Stage"),
                    *("--disable-qps-limits", "--wait", f"{READY_WITHIN_SECONDS}s", "--kubeconfig", ""),
                ],
                {"KWOK_WORKDIR": str(folder.kwok)},
                lambda: _dead(folder),
            )
            _write_kubeconfig(folder)
            _kubectl(
                folder, "wait", "--for=condition=Established", "--timeout=30s", "crd/stages.kwok.x-k8s.io"
            )
            _kubectl(folder, "apply", "--server-side", "-f", str(STAGES))
        except ControlPlaneError as error:
            log = _last_words(folder)
            _remove(folder)
            # The ports were free a moment ago; another process may have taken one since.
            if attempt < ATTEMPTS and "address already in use" in log:
                continue
            raise ControlPlaneError(f"the control plane did not come up: {error}\n{log}") from None
        else:
            return


def _start(folder: StackFolder) -> None:
    """Start what does not run of a complete control plane.

    kwokctl takes a component for running as soon as some process has the id it recorded, so ids that are
    no longer ours are forgotten first.
    """
    ours = folder.processes()
    pids = folder.cluster / "pids"
    for file in pids.glob("*.pid") if pids.exists() else ():
        if file.stem not in ours:
            file.unlink()
    try:
        _kwokctl(folder, "start", "cluster", "--wait", f"{READY_WITHIN_SECONDS}s")
        _write_kubeconfig(folder)
    except ControlPlaneError:
        log = _last_words(folder)
        _remove(folder)
        raise ControlPlaneError(
            f"the control plane could not be started on its data, so it was removed; run `up` again and"
            f" it is made anew.\n{log}"
        ) from None


def _start_kueue(folder: StackFolder) -> None:
    """Start Kueue, which kwokctl does not know, as it starts the others: with a log and a recorded id."""
    if KUEUE in folder.processes():
        return
    kubeconfig = folder.cluster / "kubeconfig.yaml"
    with (folder.cluster / "logs" / f"{KUEUE}.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - our own tool, no shell
            [str(tool(KUEUE)), "--kubeconfig", str(kubeconfig)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder.cluster / "pids" / f"{KUEUE}.pid").write_text(str(process.pid))
    # Its kinds are made one after the other, this one last.
    kind = "crd/workloads.kueue.x-k8s.io"
    for condition in ("create", "condition=Established"):
        _kubectl(folder, "wait", f"--for={condition}", "--timeout=30s", kind)


def _remove(folder: StackFolder) -> None:
    folder.marker.unlink(missing_ok=True)
    folder.kubeconfig.unlink(missing_ok=True)
    # By our own look at the processes, not by `kwokctl delete`: that kills whatever has the recorded id.
    for pid in folder.processes().values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder.kwok, ignore_errors=True)


def _kwokctl(folder: StackFolder, *arguments: str) -> None:
    # kwokctl reads ~/.kwok and merges into $KUBECONFIG unless told otherwise.
    run([str(tool("kwokctl")), "--name", CLUSTER, *arguments], {"KWOK_WORKDIR": str(folder.kwok)})


def _kubectl(folder: StackFolder, *arguments: str) -> str:
    return run([str(tool("kubectl")), *arguments], {"KUBECONFIG": str(folder.kubeconfig)})


def _dead(folder: StackFolder) -> str:
    """Say which component that all others need has ended. kwokctl would go on waiting for it."""
    for component in ("etcd", "kube-apiserver"):
        file = folder.cluster / "pids" / f"{component}.pid"
        with contextlib.suppress(FileNotFoundError, ValueError):
            if not command_line(int(file.read_text())):
                return f"{component} ended"
    return ""


def _write_kubeconfig(folder: StackFolder) -> None:
    made = folder.cluster / "kubeconfig.yaml"
    flat = run([str(tool("kubectl")), "config", "view", "--flatten", "--raw"], {"KUBECONFIG": str(made)})
    with os.fdopen(os.open(folder.kubeconfig, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(flat)


def _last_words(folder: StackFolder) -> str:
    """Return the end of each component's log: what a person would look for next."""
    words: list[str] = []
    for log in sorted((folder.cluster / "logs").glob("*.log")):
        lines = [line for line in log.read_text(errors="replace").splitlines()[-200:] if _worth_reading(line)]
        words += [f"{log.stem}: {line[:400]}" for line in lines[-3:]]
    return "\n".join(words)


def _worth_reading(line: str) -> bool:
    return line.startswith(("E", "F")) or "rror" in line or "address already in use" in line


@contextlib.contextmanager
def _locked(folder: StackFolder) -> Generator[None]:
    """Hold the stack's lock; it dies with the process that has it."""
    folder.path.mkdir(parents=True, exist_ok=True)
    with (folder.path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
