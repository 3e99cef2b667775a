"""The rules for device taints and tolerations.

Source: `pkg/apis/resource/validation`, Kubernetes 1.37.2.
"""

from collections.abc import Iterator

from dra.claim import DeviceToleration
from dra.device import DeviceTaint, DeviceTaintRuleSpec
from dra.validation import names
from dra.validation.problem import Problem, invalid, not_supported, required

_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")


def taint(value: DeviceTaint, path: str) -> Iterator[Problem]:
    """Yield what is wrong with a taint."""
    yield from names.key(f"{path}.key", value.key)
    if value.value:
        yield from names.value(f"{path}.value", value.value)
    if not value.effect:
        yield required(f"{path}.effect", f"Write one of {', '.join(_EFFECTS)}.")
    elif value.effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", value.effect, _EFFECTS)


def toleration(value: DeviceToleration, path: str) -> Iterator[Problem]:
    """Yield what is wrong with a toleration."""
    if value.key:
        yield from names.key(f"{path}.key", value.key)
    if value.operator == "Exists":
        if value.value:
            remedy = "Take the value out, or write operator: Equal."
            yield invalid(f"{path}.value", value.value, "must be empty for operator `Exists`", remedy)
    elif value.operator == "Equal":
        yield from names.value(f"{path}.value", value.value or "")
    else:
        yield not_supported(f"{path}.operator", value.operator or "", _OPERATORS)
    if value.effect and value.effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", value.effect, _EFFECTS)


def taint_rule(spec: DeviceTaintRuleSpec, path: str) -> Iterator[Problem]:
    """Yield what is wrong with the spec of a DeviceTaintRule."""
    chosen = spec.device_selector
    if chosen:
        at = f"{path}.deviceSelector"
        if chosen.driver is not None:
            yield from names.driver(f"{at}.driver", chosen.driver)
        if chosen.pool is not None:
            yield from names.pool(f"{at}.pool", chosen.pool)
        if chosen.device is not None:
            yield from names.label(f"{at}.device", chosen.device)
    yield from taint(spec.taint, f"{path}.taint")
