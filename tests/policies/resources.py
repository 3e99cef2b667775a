"""Resources for the tests: claims, classes, slices, pods, as a program states them."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness import Resource

DRA = "resource.k8s.io/v1"
CLASS = "gpu.nvidia.com"
H100 = "NVIDIA H100 80GB HBM3"
IS_H100 = f'device.attributes["{CLASS}"].productName == "{H100}"'
TEMPLATE = "template "
NUMA = "resource.kubernetes.io/numaNode"


def claim(
    name: str = "gpu",
    *expressions: str,
    constraints: Sequence[Mapping[str, Any]] = (),
    namespace: Any = "team",  # noqa: ANN401 - what a program may put there
    spec: Any = None,  # noqa: ANN401 - as above
    **exactly: Any,  # noqa: ANN401 - as above
) -> Resource:
    return Resource(
        {
            "apiVersion": DRA,
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": namespace},
            "spec": spec or claim_spec(*expressions, constraints=constraints, **exactly),
        },
        name=name,
    )


def template(name: str = "gpu", **exactly: Any) -> Resource:  # noqa: ANN401 - what a program may put there
    return Resource(
        {
            "apiVersion": DRA,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"spec": claim_spec(**exactly)},
        },
        name=name,
    )


def claim_spec(
    *expressions: str,
    constraints: Sequence[Mapping[str, Any]] = (),
    **exactly: Any,  # noqa: ANN401 - what a program may put there
) -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    request = {"deviceClassName": CLASS, "selectors": selectors} | exactly
    return {"devices": {"requests": [{"name": "gpu", "exactly": request}], "constraints": list(constraints)}}


def device_class(expression: str = f"device.driver == '{CLASS}'", name: str = CLASS) -> Resource:
    return Resource(
        {
            "apiVersion": DRA,
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        },
        name=name,
    )


def device(index: int) -> dict[str, Any]:
    return {
        "name": f"gpu-{index}",
        "attributes": {"productName": {"string": H100}, NUMA: {"int": index // 4}},
        "capacity": {"memory": {"value": "80Gi"}},
    }


def resource_slice(node: str = "node-01", count: int = 8) -> Resource:
    return Resource(
        {
            "apiVersion": DRA,
            "kind": "ResourceSlice",
            "metadata": {"name": node},
            "spec": {
                "driver": CLASS,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [device(index) for index in range(count)],
            },
        },
        name=node,
    )


def namespace(name: str, labels: Mapping[str, Any] | None = None) -> Resource:
    metadata = {"name": name, "labels": labels or {}}
    return Resource({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, name=name)


def pod_spec(
    limits: Mapping[str, Any] | None = None,
    **claims: str,
) -> dict[str, Any]:
    """Return a pod with claims by name: of a claim, or with TEMPLATE before its name of a template."""
    references = [
        {"name": name, "resourceClaimTemplateName": of.removeprefix(TEMPLATE)}
        if of.startswith(TEMPLATE)
        else {"name": name, "resourceClaimName": of}
        for name, of in claims.items()
    ]
    resources = {"claims": [{"name": name} for name in claims], "limits": limits or {}}
    containers = [{"name": "work", "image": "busybox", "resources": resources}]
    return {"containers": containers, "resourceClaims": references}


def pod(name: str = "pod", spec: Mapping[str, Any] | None = None) -> Resource:
    metadata = {"name": name, "namespace": "team"}
    return Resource(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec or pod_spec(gpu="gpu")},
        name=name,
    )


def deployment(spec: Mapping[str, Any], replicas: Any = 2) -> Resource:  # noqa: ANN401 - as above
    labels = {"app": "work"}
    return Resource(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "work", "namespace": "team"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
        name="work",
    )
