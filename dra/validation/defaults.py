"""What the API server fills in before it looks at an object.

Source: `pkg/apis/resource/v1/defaults.go` and the `+default` tags of the API, Kubernetes 1.37.2. A taint's
`timeAdded`, which is the time of the request, stays as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from dra.claim import DeviceSubRequest, DeviceToleration, ExactDeviceRequest
from dra.model import Model

_Values = dict[str, Any]


def _request(values: _Values) -> _Values:
    mode = values.get("allocation_mode") or "ExactCount"
    count = values.get("count") or 0
    return values | {"allocation_mode": mode, "count": count or (1 if mode == "ExactCount" else None)}


def _toleration(values: _Values) -> _Values:
    return values | {"operator": values.get("operator") or "Equal"}


_DEFAULTS: Mapping[type[Model], Callable[[_Values], _Values]] = {
    ExactDeviceRequest: _request,
    DeviceSubRequest: _request,
    DeviceToleration: _toleration,
}


def defaulted(model: type[Model], values: _Values) -> _Values:
    """Return the fields of a struct with the defaults filled in."""
    fill = _DEFAULTS.get(model)
    return fill(values) if fill else values
