"""The rules that claims and classes share: CEL selectors and the configuration of devices.

Source: `pkg/apis/resource/validation`, Kubernetes 1.37.2.
"""

from collections.abc import Iterator, Sequence

from dra import codes
from dra.claim import DeviceSelector, OpaqueDeviceConfiguration
from dra.gates import Target
from dra.validation import names
from dra.validation.json_size import fits
from dra.validation.problem import (
    Problem,
    forbidden,
    invalid,
    required,
    too_long,
    too_many_items,
)

MAX_SELECTORS = 32
MAX_EXPRESSION = 10 * 1024
MAX_PARAMETERS = 10 * 1024

_SELECTOR_REMEDY = (
    "Write a CEL expression that is true or false for a device, with the variable `device` "
    "(driver, attributes, capacity) only."
)


def selectors(given: Sequence[DeviceSelector] | None, path: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with a list of selectors; one that is too long is not looked into."""
    given = given or ()
    yield from too_many_items(path, len(given), MAX_SELECTORS, "selectors")
    if len(given) > MAX_SELECTORS:
        return
    for index, selector in enumerate(given):
        at = f"{path}[{index}].cel"
        if selector.cel is None:
            yield required(
                at, "Write the expression: cel: {expression: 'device.driver == \"gpu.nvidia.com\"'}."
            )
        else:
            yield from _expression(selector.cel.expression, f"{at}.expression", target)


def _expression(expression: str, path: str, target: Target) -> Iterator[Problem]:
    if names.byte_length(expression) > MAX_EXPRESSION:
        yield too_long(
            path, MAX_EXPRESSION, "Split the expression over several selectors: all of them must hold."
        )
        return
    # The CEL runtime takes its time to load, and most objects have no selector.
    from dra.cel import CompileError, compile_selector  # noqa: PLC0415

    try:
        compile_selector(expression, target)
    except CompileError as error:
        if error.forbidden:
            remedy = "Take loops out, or split the expression over several selectors: the limit is for each."
            yield forbidden(path, str(error), remedy, codes.CEL_COMPILE)
        else:
            yield invalid(path, expression, str(error), _SELECTOR_REMEDY, codes.CEL_COMPILE)


def configuration(opaque: OpaqueDeviceConfiguration | None, path: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the configuration of devices."""
    if opaque is None:
        yield required(f"{path}.opaque", "Write opaque: with the driver and its parameters.")
        return
    yield from names.configured_driver(f"{path}.opaque.driver", opaque.driver, target)
    at = f"{path}.opaque.parameters"
    if opaque.parameters is None:
        yield required(at, "Write the driver's parameters as an object, {} if there are none.")
    elif not fits(opaque.parameters, MAX_PARAMETERS):
        yield too_long(at, MAX_PARAMETERS, "Leave out of the parameters what the driver does not need.")
    elif not hasattr(opaque.parameters, "items"):
        remedy = "Write an object, with the apiVersion and kind that the driver's documentation names."
        yield invalid(at, "<value omitted>", "must be a valid JSON object", remedy)
