"""The rules for the nodes of a slice or a device.

Source: `pkg/apis/resource/validation` and `pkg/apis/core/validation`, Kubernetes 1.37.2.
"""

from collections.abc import Iterator

from dra import codes
from dra.device import Device, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ResourceSliceSpec
from dra.validation import names
from dra.validation.problem import Problem, forbidden, invalid, required

_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_PER_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` "
    "is set to true in the ResourceSlice spec"
)
_ONLY_PER_DEVICE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_TRUE_OR_NOTHING = "must be either unset or set to true"
_TRUE_REMEDY = "Take it out, or write true."
_SPEC_REMEDY = "Say which nodes can use the devices with one of nodeName, nodeSelector, allNodes: true."
_DEVICE_REMEDY = "Say which nodes can use the device with one of nodeName, nodeSelector, allNodes: true."


def slice_nodes(spec: ResourceSliceSpec, path: str) -> Iterator[Problem]:
    """Yield what is wrong with the nodes of a slice."""
    if spec.node_name:
        yield from names.subdomain(f"{path}.nodeName", spec.node_name)
    elif spec.node_name is not None:
        detail = "must be either unset or set to a non-empty string"
        yield invalid(f"{path}.nodeName", "", detail, "Write the node's name, or take the field out.")
    if spec.node_selector:
        yield from node_selector(spec.node_selector, f"{path}.nodeSelector")
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            detail = "must have exactly one node selector term"
            shown = [_as_the_server_shows(term) for term in terms] or None
            remedy = "Put all conditions into one term, or make a slice for each."
            yield invalid(f"{path}.nodeSelector.nodeSelectorTerms", shown, detail, remedy)
    for field, given in (
        ("allNodes", spec.all_nodes),
        ("perDeviceNodeSelection", spec.per_device_node_selection),
    ):
        if given is False:
            yield invalid(f"{path}.{field}", given, _TRUE_OR_NOTHING, _TRUE_REMEDY)
    yield from _exactly_one(_slice_choices(spec), path)


def device_nodes(device: Device, path: str, *, chosen_per_device: bool) -> Iterator[Problem]:
    """Yield what is wrong with the nodes of one device."""
    if not chosen_per_device:
        if device.node_name is not None or device.node_selector or device.all_nodes is not None:
            remedy = (
                "Take them out, or write perDeviceNodeSelection: true, and nothing else, in the slice's spec."
            )
            yield invalid(path, None, _ONLY_PER_DEVICE, remedy)
        return
    if device.node_name:
        yield from names.subdomain(f"{path}.nodeName", device.node_name)
    elif device.node_name is not None:
        yield invalid(
            f"{path}.nodeName", "", "must not be empty", "Write the node's name, or take the field out."
        )
    if device.node_selector:
        yield from node_selector(device.node_selector, f"{path}.nodeSelector")
    if device.all_nodes is False:
        yield invalid(f"{path}.allNodes", device.all_nodes, _TRUE_OR_NOTHING, _TRUE_REMEDY)
    choices = _chosen(
        nodeName=bool(device.node_name),
        nodeSelector=bool(device.node_selector),
        allNodes=bool(device.all_nodes),
    )
    if not choices:
        yield required(path, _DEVICE_REMEDY, _ONE_PER_DEVICE, codes.ONE_OF)
    elif len(choices) > 1:
        yield invalid(path, f"{{{', '.join(choices)}}}", _ONE_PER_DEVICE, _DEVICE_REMEDY, codes.ONE_OF)


def node_selector(selector: NodeSelector, path: str) -> Iterator[Problem]:
    """Yield what is wrong with a node selector."""
    at = f"{path}.nodeSelectorTerms"
    if not selector.node_selector_terms:
        yield required(at, "Write a term.", "must have at least one node selector term")
    for index, term in enumerate(selector.node_selector_terms):
        for number, requirement in enumerate(term.match_expressions or ()):
            yield from _label_requirement(requirement, f"{at}[{index}].matchExpressions[{number}]")
        for number, requirement in enumerate(term.match_fields or ()):
            yield from _field_requirement(requirement, f"{at}[{index}].matchFields[{number}]")


def _as_the_server_shows(term: NodeSelectorTerm) -> dict[str, object]:
    """Return a term with the names of Go's fields, which have no JSON names in this struct of the server."""
    return {
        name: None
        if requirements is None
        else [{"Key": each.key, "Operator": each.operator, "Values": each.values} for each in requirements]
        for name, requirements in (
            ("MatchExpressions", term.match_expressions),
            ("MatchFields", term.match_fields),
        )
    }


def _slice_choices(spec: ResourceSliceSpec) -> list[str]:
    return _chosen(
        nodeName=bool(spec.node_name),
        nodeSelector=bool(spec.node_selector),
        allNodes=bool(spec.all_nodes),
        perDeviceNodeSelection=bool(spec.per_device_node_selection),
    )


def _chosen(**choices: bool) -> list[str]:
    return [f"`{name}`" for name, chosen in choices.items() if chosen]


def _exactly_one(choices: list[str], path: str) -> Iterator[Problem]:
    if not choices:
        yield required(path, _SPEC_REMEDY, _ONE_OF, codes.ONE_OF)
    elif len(choices) > 1:
        detail = f"{_ONE_OF}, but multiple fields are set"
        yield invalid(path, f"{{{', '.join(choices)}}}", detail, _SPEC_REMEDY, codes.ONE_OF)


def _label_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Problem]:
    values = requirement.values or ()
    match requirement.operator:
        case "In" | "NotIn":
            if not values:
                detail = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required(f"{path}.values", "List the values.", detail)
        case "Exists" | "DoesNotExist":
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{path}.values", detail, "Take the values out.")
        case "Gt" | "Lt":
            if len(values) != 1:
                detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield required(f"{path}.values", "Write one value.", detail)
        case _:
            yield _bad_operator(requirement, path)
    yield from names.key(f"{path}.key", requirement.key)
    for index, value in enumerate(values):
        yield from names.value(f"{path}.values[{index}]", value)


def _field_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Problem]:
    values = requirement.values or ()
    if requirement.operator not in ("In", "NotIn"):
        yield _bad_operator(requirement, path)
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", "Write one node's name.", detail)
    if requirement.key != "metadata.name":
        detail = "not a valid field selector key"
        yield invalid(f"{path}.key", requirement.key, detail, "Write metadata.name, the only key there is.")
        return
    for index, value in enumerate(values):
        yield from names.subdomain(f"{path}.values[{index}]", value)


def _bad_operator(requirement: NodeSelectorRequirement, path: str) -> Problem:
    remedy = "Write one of In, NotIn, Exists, DoesNotExist, Gt, Lt; for fields In or NotIn."
    return invalid(f"{path}.operator", requirement.operator, "not a valid selector operator", remedy)
