"""The cluster that everything else is in."""

import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_command import local

from control_plane.incarnation import stack_folder

OLDEST_MINOR = 34
"""resource.k8s.io/v1 is served by default since Kubernetes 1.34."""

REPO = Path(__file__).resolve().parent.parent


class ClusterKind(StrEnum):
    """Where the control plane comes from."""

    EMBEDDED = "embedded"
    """etcd, API server, controller manager, scheduler and kwok as processes of this machine."""
    KIND = "kind"
    """A kind cluster; needs a container engine."""
    EXISTING = "existing"
    """A cluster that is there already, by kubeconfig and context."""


class ClusterUnusableError(pulumi.RunError):
    """The cluster cannot be used: no answer, too old, a name that is taken. The text says what to do."""


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """`kubeconfig` (a path) and `context` are for an existing cluster only.

    `nodes` are those that the pools name: the embedded cluster gets them later, the others must have them.
    `queue`: Kueue runs beside the embedded control plane.
    """

    kind: ClusterKind = ClusterKind.EMBEDDED
    nodes: Sequence[str] = ()
    queue: bool = False
    kubeconfig: str | None = None
    context: str | None = None


class Cluster(pulumi.ComponentResource):
    """A control plane, and the provider for what is in it."""

    kubeconfig: pulumi.Output[str]
    """The kubeconfig's text; a secret."""
    provider: kubernetes.Provider
    """For all resources in the cluster: pass it to components as their provider."""
    process: local.Command | None
    """What makes the cluster. When it goes, all in the cluster went with it: see `deleted_with`."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:cluster:Cluster", name, {}, opts)
        self.process = None
        identity = "existing"
        match args.kind:
            case ClusterKind.EMBEDDED:
                self.process, identity = _embedded(self, name, queue=args.queue)
            case ClusterKind.KIND:
                check_nodes(args.nodes, [f"gpulab-{pulumi.get_stack()}-control-plane"], "a kind cluster")
                self.process = _kind(self, name)
                identity = "kind"
            case ClusterKind.EXISTING:
                check_existing(args.kubeconfig, args.context, args.nodes)
        if self.process is None:
            self.kubeconfig = pulumi.Output.secret(_existing_kubeconfig(args.kubeconfig))
        else:
            self.kubeconfig = pulumi.Output.secret(self.process.stdout)
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            context=args.context,
            # Another cluster behind the same name: what was in the old one has to be made again.
            cluster_identifier=identity,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"kubeconfig": self.kubeconfig})


def _embedded(parent: Cluster, name: str, *, queue: bool) -> tuple[local.Command, str]:
    stack = pulumi.get_stack()
    try:
        incarnation = stack_folder(REPO, stack).desired()
    except ValueError as error:
        raise ClusterUnusableError(str(error)) from None
    run = f".venv/bin/python -m control_plane {{}} {shlex.quote(stack)}"
    command = local.Command(
        f"{name}-control-plane",
        create=f'{run.format("create")} --identity "$IDENTITY" --generation "$GENERATION"'
        + " --queue" * queue,
        delete=run.format("delete"),
        environment={"IDENTITY": incarnation.identity, "GENERATION": str(incarnation.generation)},
        # Other settings or lost data: a new cluster. A new generation alone only starts what died.
        triggers=[incarnation.identity, _settings_hash()],
        logging=local.Logging.NONE,
        opts=_made_by_command(parent),
    )
    return command, incarnation.identity


def _kind(parent: Cluster, name: str) -> local.Command:
    cluster = shlex.quote(f"gpulab-{pulumi.get_stack()}")
    return local.Command(
        f"{name}-kind",
        create=(
            f"kind get clusters 2>/dev/null | grep -qx {cluster}"
            f" || kind create cluster --name {cluster} --wait 120s --kubeconfig /dev/null >&2;"
            f" kind get kubeconfig --name {cluster}"
        ),
        delete=f"kind delete cluster --name {cluster}",
        logging=local.Logging.NONE,
        opts=_made_by_command(parent),
    )


def _made_by_command(parent: Cluster) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(
        parent=parent,
        additional_secret_outputs=["stdout", "stderr"],
        delete_before_replace=True,
        custom_timeouts=pulumi.CustomTimeouts(create="5m"),
    )


MADE_BY = ("control_plane/configuration.py", "control_plane/kwokctl.py", "charts/kwok-stages/stages.yaml")
"""What tells one way to make the embedded cluster from another."""


def _settings_hash() -> str:
    made_by = b"\0".join((REPO / file).read_bytes() for file in MADE_BY)
    return hashlib.sha256(made_by).hexdigest()[:16]


def _existing_kubeconfig(path: str | None) -> str:
    return Path(path).expanduser().read_text() if path else ""


def check_nodes(named: Sequence[str], there: Iterable[str], where: str) -> None:
    """See that a cluster whose nodes are not the lab's to make has those that the pools name.

    Raises:
        ClusterUnusableError: It has not.

    """
    known = sorted(there)
    missing = [node for node in named if node not in known]
    if missing:
        raise ClusterUnusableError(
            f"{where} has no node {', '.join(missing)}, which lab:pools names; its nodes are"
            f" {', '.join(known) or 'none'}: name those in lab:pools."
        )


def check_existing(kubeconfig: str | None, context: str | None, nodes: Sequence[str] = ()) -> None:
    """See that an existing cluster answers, is new enough and has the nodes that the pools name.

    Raises:
        ClusterUnusableError: It does not, or is not.

    """
    if not kubeconfig or not context:
        raise ClusterUnusableError(
            "lab:cluster is `existing`, so lab:kubeconfig and lab:context must name a kubeconfig file and a"
            " context in it; set them with `pulumi config set`."
        )
    where = f"the cluster of context {context!r} in {kubeconfig}"
    try:
        version = json.loads(_get(Path(kubeconfig).expanduser(), context, "--raw", "/version"))
        major, minor = int(version["major"]), int(version["minor"].rstrip("+"))
        release = version["gitVersion"]
        there = _get(Path(kubeconfig).expanduser(), context, "nodes", "-o", "name").split() if nodes else []
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        raise ClusterUnusableError(
            f"{where} does not answer: {reason.strip()[-500:]}. Check that it runs and that"
            f" `kubectl --kubeconfig {kubeconfig} --context {context} version` answers."
        ) from None
    if (major, minor) < (1, OLDEST_MINOR):
        raise ClusterUnusableError(
            f"{where} is Kubernetes {release}, which does not serve resource.k8s.io/v1;"
            f" the lab needs 1.{OLDEST_MINOR} or newer."
        )
    check_nodes(nodes, (name.removeprefix("node/") for name in there), where)


def _get(kubeconfig: Path, context: str, *what: str) -> str:
    kubectl = REPO / ".lab" / "bin" / "kubectl"
    return subprocess.run(  # noqa: S603 - no shell
        [
            str(kubectl) if kubectl.exists() else "kubectl",
            *("--kubeconfig", str(kubeconfig), "--context", context),
            *("--request-timeout", "5s", "get", *what),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=15,
    ).stdout
