"""`lab check --from-cluster` against a real control plane: what it has, and what its claims hold."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from control_plane.incarnation import Incarnation, stack_folder
from control_plane.kwokctl import create, delete
from lab.__main__ import app

CASES = Path(__file__).resolve().parent.parent / "cases"

OF_THE_CLUSTER = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 3}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: holder}
spec:
  nodeSelector: {kubernetes.io/hostname: node-a}
  tolerations: [{operator: Exists}]
  resourceClaims: [{name: held, resourceClaimName: held}]
  containers: [{name: main, image: pause, resources: {claims: [{name: held}]}}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: maintenance}
spec: {deviceSelector: {pool: node-h}, taint: {key: example.com/maintenance, effect: NoSchedule}}
---
apiVersion: v1
kind: Namespace
metadata: {name: admins, labels: {resource.kubernetes.io/admin-access: "true"}}
"""


def claim(name: str, more: str, namespace: str = "default") -> str:
    return (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\n"
        "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, "
        f"{more}}}}}]}}}}\n"
    )


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Generator[Path]:
    folder = stack_folder(tmp_path, "test")
    try:
        path = tmp_path / "kubeconfig"
        path.write_text(create(folder, Incarnation(identity="test", generation=0)))
        yield path
    finally:
        delete(folder)


def test_the_inventory_is_what_the_cluster_has_less_what_its_claims_hold(
    kubeconfig: Path, tmp_path: Path
) -> None:
    def kubectl(*arguments: str, text: str | None = None) -> str:
        command = ["kubectl", "--kubeconfig", str(kubeconfig), *arguments]
        return subprocess.run(command, input=text, text=True, check=True, capture_output=True).stdout  # noqa: S603 - the test's own

    kubectl("apply", "-f", str(CASES / "inventory.yaml"))
    kubectl("apply", "-f", "-", text=OF_THE_CLUSTER)
    kubectl("wait", "--for=jsonpath={.status.allocation}", "resourceclaim/held", "--timeout=60s")
    claims = tmp_path / "claims.yaml"
    documents = [
        claim("one", "count: 1"),
        claim("two", "count: 2"),
        claim("tolerant", "count: 2, tolerations: [{operator: Exists}]"),
        claim("admin", "count: 4, adminAccess: true", "admins"),
        claim("no-admin", "count: 4, adminAccess: true"),
    ]
    claims.write_text("---\n".join(documents))

    arguments = ["check", str(claims), "--from-cluster", "--kubeconfig", str(kubeconfig), "--output", "json"]
    done = CliRunner().invoke(app, arguments)

    said: list[dict[str, Any]] = json.loads(done.stdout)
    assert {each["name"]: each["verdict"] for each in said} == {
        "one": "allocated",  # the one GPU of node-a that is left
        "two": "pending",  # those of node-h are tainted by the rule
        "tolerant": "allocated",
        "admin": "allocated",  # admin access takes devices that others hold
        "no-admin": "rejected",
    }
    assert done.exit_code == 1
