"""What a stack's control plane is made of, in kwokctl's words."""

import contextlib
import random
import socket
from collections.abc import Mapping

from control_plane.tools import ControlPlaneError, tool

KUBERNETES_VERSION = "v1.37.2"
GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
"""Off by default in 1.37: groups of pods that are scheduled together, and claims of such a group."""

_PORTS = (
    "kubeApiserverPort",
    "etcdPort",
    "etcdPeerPort",
    "kubeControllerManagerPort",
    "kubeSchedulerPort",
    "kwokControllerPort",
)


def configuration(gates: Mapping[str, bool]) -> dict[str, object]:
    """Return a KwokctlConfiguration, with these feature gates set and ports that are free now."""
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {
            "runtime": "binary",
            "kubeVersion": KUBERNETES_VERSION,
            # kwokctl's default is every interface, for etcd without TLS too.
            "bindAddress": "127.0.0.1",
            "kubeFeatureGates": ",".join(
                f"{gate}={str(on).lower()}" for gate, on in (GATES | dict(gates)).items()
            ),
            "kubeRuntimeConfig": "scheduling.k8s.io/v1beta1=true",
            **{f"{name}Binary": str(tool(binary)) for name, binary in _BINARIES.items()},
            **dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True)),
        },
        "componentsPatches": [
            # The default reconciler wants an address that other hosts reach, which this one never has.
            _patch("kube-apiserver", "endpoint-reconciler-type", "none"),
            # What happened to a lab that is up since yesterday should still be told; the default is an hour.
            _patch("kube-apiserver", "event-ttl", "720h"),
            # One of each: an election only costs the old lease's time after a restart.
            _patch("kube-scheduler", "leader-elect", "false"),
            # A new kwok waits until the leases of one that was killed have run out: 200 seconds otherwise.
            _patch("kwok-controller", "node-lease-duration-seconds", "15"),
            _patch("kube-controller-manager", "leader-elect", "false"),
        ],
    }


_BINARIES = {
    "etcd": "etcd",
    "kubeApiserver": "kube-apiserver",
    "kubeControllerManager": "kube-controller-manager",
    "kubeScheduler": "kube-scheduler",
    "kwokController": "kwok",
    "kubectl": "kubectl",
}


def _patch(component: str, key: str, value: str) -> dict[str, object]:
    return {"name": component, "extraArgs": [{"key": key, "value": value}]}


def _free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nothing listens on, below those that outgoing connections get."""
    ports: list[int] = []
    for port in random.sample(range(20_000, 32_000), 2_000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise ControlPlaneError(
        f"fewer than {count} ports of 127.0.0.1 between 20000 and 32000 are free; free some"
    )
