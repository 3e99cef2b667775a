"""Documents to admit, each with one thing of it changed, and short forms of what is said of them."""

from collections.abc import Mapping
from typing import Any

from dra.gates import Target
from dra.validation import Admission, admit

Document = dict[str, Any]

EMPTY: Document = {}

NAME_FORM = "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"and must start and end with an alphanumeric character {NAME_FORM}"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', "
    "regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)


def of_kind(kind: str, spec: object, **metadata: object) -> Document:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "x"} | metadata,
        "spec": spec,
    }


def exactly(**fields: object) -> Document:
    return {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"} | fields}


def claim(*requests: object, **devices: object) -> Document:
    return of_kind("ResourceClaim", {"devices": {"requests": list(requests)} | devices})


def device_class(**spec: object) -> Document:
    return of_kind("DeviceClass", spec)


def resource_slice(*devices: object, **spec: object) -> Document:
    """Return a slice with these devices on a node. A field of the spec that is None is left out."""
    plain: Document = {
        "driver": "gpu.nvidia.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": list(devices),
    }
    given = {key: item for key, item in (plain | spec).items() if item is not None}
    return of_kind("ResourceSlice", given)


def pod(*claims: object, resources: Document | None = None, **spec: object) -> Document:
    container: Document = {"name": "m", "image": "busybox", "resources": resources or {}}
    whole: Document = {"containers": [container], "resourceClaims": list(claims)} | spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": whole}


def admission(
    document: Mapping[str, Any], target: Target = Target.V1_37, labels: Mapping[str, str] | None = None
) -> Admission:
    found = admit(document, target, labels)
    assert found is not None
    return found


def problems(document: Mapping[str, Any], target: Target = Target.V1_37) -> list[str]:
    """Return what the API server says, as it prints it: the path, a colon, the message."""
    return [f"{problem.path}: {problem.message}" for problem in admission(document, target).problems]


def messages(document: Mapping[str, Any], target: Target = Target.V1_37) -> list[str]:
    """Return what the API server says of a document that it cannot decode, where it names no path."""
    return [problem.message for problem in admission(document, target).problems]


def remedies(document: Mapping[str, Any], target: Target = Target.V1_37) -> list[str]:
    return [problem.remedy for problem in admission(document, target).problems]
