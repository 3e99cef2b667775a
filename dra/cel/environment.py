"""What a selector can name: the functions and variables of the API server's CEL environment.

Google's `cel-expr-python` parses and checks; this module tells it what there is. A library can be used in new
objects one release after it came, so that a rollback still reads them.
Source: `k8s.io/apiserver/pkg/cel/environment/base.go`, `pkg/cel/library` and
`k8s.io/dynamic-resource-allocation/cel/compile.go`, Kubernetes 1.37.2.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from dra.gates import Gate, Target, is_on

if TYPE_CHECKING:
    from cel_expr_python.cel import Env

DEVICE = "kubernetes.DRADevice"
QUANTITY = "kubernetes.Quantity"

_NAMED = {
    "Quantity": QUANTITY,
    "Semver": "kubernetes.Semver",
    "URL": "kubernetes.URL",
    "Format": "kubernetes.NamedFormat",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
}
"""Types of the Kubernetes libraries by their short names below."""

_COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_OVERLOAD_NAMES = {"int": "int64", "uint": "uint64"}
_COMPARISONS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_ACROSS = ("int", "uint", "double")

_FUNCTIONS = """
string int64_to_string (int) string
string uint64_to_string (uint) string
string double_to_string (double) string
string bool_to_string (bool) string
string bytes_to_string (bytes) string
string string_to_string (string) string
string timestamp_to_string (timestamp) string
string duration_to_string (duration) string
string ip_to_string (IP) string
string cidr_to_string (CIDR) string

charAt string_char_at_int string.(int) string
indexOf string_index_of_string string.(string) int
indexOf string_index_of_string_int string.(string,int) int
indexOf list_a_index_of_int list<~A>.(~A) int
lastIndexOf string_last_index_of_string string.(string) int
lastIndexOf string_last_index_of_string_int string.(string,int) int
lastIndexOf list_a_last_index_of_int list<~A>.(~A) int
lowerAscii string_lower_ascii string.() string
upperAscii string_upper_ascii string.() string
trim string_trim string.() string
replace string_replace_string_string string.(string,string) string
replace string_replace_string_string_int string.(string,string,int) string
split string_split_string string.(string) list<string>
split string_split_string_int string.(string,int) list<string>
substring string_substring_int string.(int) string
substring string_substring_int_int string.(int,int) string
format string_format string.(list<dyn>) string
strings.quote strings_quote (string) string
join list_join list<string>.() string
join list_join_string list<string>.(string) string

find string_find_string string.(string) string
findAll string_find_all_string string.(string) list<string>
findAll string_find_all_string_int string.(string,int) list<string>

quantity string_to_quantity (string) Quantity
isQuantity is_quantity_string (string) bool
sign quantity_sign (Quantity) int
isGreaterThan quantity_is_greater_than Quantity.(Quantity) bool
isLessThan quantity_is_less_than Quantity.(Quantity) bool
compareTo quantity_compare_to Quantity.(Quantity) int
asApproximateFloat quantity_get_float Quantity.() double
asInteger quantity_get_int Quantity.() int
isInteger quantity_is_integer Quantity.() bool
add quantity_add Quantity.(Quantity) Quantity
add quantity_add_int Quantity.(int) Quantity
sub quantity_sub Quantity.(Quantity) Quantity
sub quantity_sub_int Quantity.(int) Quantity

semver string_to_semver (string) Semver
semver string_bool_to_semver (string,bool) Semver
isSemver is_semver_string (string) bool
isSemver is_semver_string_bool (string,bool) bool
isGreaterThan semver_is_greater_than Semver.(Semver) bool
isLessThan semver_is_less_than Semver.(Semver) bool
compareTo semver_compare_to Semver.(Semver) int
major semver_major Semver.() int
minor semver_minor Semver.() int
patch semver_patch Semver.() int

url string_to_url (string) URL
isURL is_url_string (string) bool
getScheme url_get_scheme URL.() string
getHost url_get_host URL.() string
getHostname url_get_hostname URL.() string
getPort url_get_port URL.() string
getEscapedPath url_get_escaped_path URL.() string
getQuery url_get_query URL.() map<string,list<string>>

ip string_to_ip (string) IP
ip cidr_ip CIDR.() IP
isIP is_ip (string) bool
ip.isCanonical ip_is_canonical (string) bool
family ip_family IP.() int
isUnspecified ip_is_unspecified IP.() bool
isLoopback ip_is_loopback IP.() bool
isLinkLocalMulticast ip_is_link_local_multicast IP.() bool
isLinkLocalUnicast ip_is_link_local_unicast IP.() bool
isGlobalUnicast ip_is_global_unicast IP.() bool

cidr string_to_cidr (string) CIDR
isCIDR is_cidr (string) bool
containsIP cidr_contains_ip_string CIDR.(string) bool
containsIP cidr_contains_ip_ip CIDR.(IP) bool
containsCIDR cidr_contains_cidr_string CIDR.(string) bool
containsCIDR cidr_contains_cidr CIDR.(CIDR) bool
prefixLength cidr_prefix_length CIDR.() int
masked cidr_masked CIDR.() CIDR

format.named format-named (string) optional_type<Format>
validate format-validate Format.(string) optional_type<list<string>>

optional.unwrap optional_unwrap (list<optional_type<~T>>) list<~T>
unwrapOpt optional_unwrapOpt list<optional_type<~T>>.() list<~T>
"""
"""Each line: function, overload, receiver and parameters, result; all can be used in new objects since 1.34.

`string` and the like stand here with what is CEL's own of them, since a function is declared in one place.
"""

_FORMATS = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "dns1123LabelPrefix", "dns1123SubdomainPrefix"),
    *("dns1035LabelPrefix", "qualifiedName", "labelValue", "uri", "uuid", "byte", "date", "datetime"),
)
_INCLUDES = "includes list_includes_dyn_dyn dyn.(dyn) bool"

_EXTENSIONS = ("optional", "bindings", "sets", "two-var-comprehensions")


def attribute_type(target: Target) -> str:
    """Return the type of an attribute, whose value can be of any kind."""
    return "dyn" if is_on(Gate.DRA_LIST_TYPE_ATTRIBUTES, target) else "any"


@cache
def environment(target: Target) -> "Env":
    """Return the environment in which the API server of a release compiles the selectors of a new object."""
    # Imported late: a command that compiles nothing need not load it.
    from cel_expr_python import cel  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] - it has none

    return cel.NewEnv(
        _descriptors(multiple_allocations=is_on(Gate.DRA_CONSUMABLE_CAPACITY, target)),
        config=cel.NewEnvConfigFromYaml(json.dumps(_config(target))),
        # A message cannot have a map of maps to quantities, so these two are declared by their whole names.
        variables={
            "device": cel.Type(DEVICE),
            "device.attributes": cel.Type(f"map<string,map<string,{attribute_type(target)}>>"),
            "device.capacity": cel.Type.Map(
                cel.Type.STRING, cel.Type.Map(cel.Type.STRING, cel.Type.AbstractType(QUANTITY))
            ),
        },
    )


def _config(target: Target) -> dict[str, Any]:
    """Return the environment's configuration, in the form that CEL's libraries share (JSON is YAML)."""
    overloads: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in _lines(target):
        name, overload, parameters, result = line.split()
        receiver, _, rest = parameters.partition("(")
        arguments = [_type(text) for text in rest.rstrip(")").split(",") if text]
        declared = {"id": overload, "args": arguments, "return": _type(result)}
        overloads[name].append(declared | ({"target": _type(receiver.rstrip("."))} if receiver else {}))
    extensions: list[dict[str, Any]] = [{"name": name} for name in _EXTENSIONS]
    if target >= Target.V1_35:
        extensions.append({"name": "lists", "version": 2})
    return {
        "name": "dra",
        "extensions": extensions,
        "stdlib": {"exclude_functions": [{"name": name} for name in ("string", *_COMPARISONS)]},
        "functions": [{"name": name, "overloads": found} for name, found in overloads.items()],
    }


def _type(text: str) -> dict[str, Any]:
    """Return a type of the table in the form of the configuration."""
    name, _, parameters = text.partition("<")
    if name.startswith("~"):
        return {"type_name": name[1:], "is_type_param": True}
    nested = [_type(parameter) for parameter in _split(parameters.removesuffix(">"))]
    return {"type_name": _NAMED.get(name, name)} | ({"params": nested} if nested else {})


def _split(parameters: str) -> list[str]:
    """Return type parameters apart; only the last one has parameters of its own."""
    if not parameters:
        return []
    first, comma, rest = parameters.partition(",")
    return [first, rest] if comma and "<" not in first else [parameters]


def _lines(target: Target) -> Iterator[str]:
    yield from filter(None, _FUNCTIONS.splitlines())
    for name in _FORMATS:
        yield f"format.{name} format.{name} () Format"
    for name, verb in _COMPARISONS.items():
        for kind in _COMPARED:
            yield f"{name} {verb}_{_OVERLOAD_NAMES.get(kind, kind)} ({kind},{kind}) bool"
        for left in _ACROSS:
            for right in _ACROSS:
                if left != right:
                    names = f"{_OVERLOAD_NAMES.get(left, left)}_{_OVERLOAD_NAMES.get(right, right)}"
                    yield f"{name} {verb}_{names} ({left},{right}) bool"
    for kind in _COMPARED:
        yield f"isSorted list_{kind}_is_sorted_bool list<{kind}>.() bool"
        yield f"min list_{kind}_min_{kind} list<{kind}>.() {kind}"
        yield f"max list_{kind}_max_{kind} list<{kind}>.() {kind}"
    for kind in ("int", "uint", "double", "duration"):
        yield f"sum list_{kind}_sum_{kind} list<{kind}>.() {kind}"
    if is_on(Gate.DRA_LIST_TYPE_ATTRIBUTES, target):
        yield _INCLUDES


@cache
def _descriptors(*, multiple_allocations: bool) -> object:
    """Return a pool with the message that `device` is, so that an unknown field of it is found out."""
    from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2  # noqa: PLC0415 - as above

    file = descriptor_pb2.FileDescriptorProto(name="dra.proto", package="kubernetes", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    message = file.message_type.add(name="DRADevice")
    kind = descriptor_pb2.FieldDescriptorProto
    for number, name in enumerate(("attributes", "capacity"), start=1):
        entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=kind.LABEL_OPTIONAL, type=kind.TYPE_STRING)
        entry.field.add(
            name="value",
            number=2,
            label=kind.LABEL_OPTIONAL,
            type=kind.TYPE_MESSAGE,
            type_name=".google.protobuf.Struct",
        )
        message.field.add(
            name=name,
            number=number,
            label=kind.LABEL_REPEATED,
            type=kind.TYPE_MESSAGE,
            type_name=f".{DEVICE}.{entry.name}",
        )
    message.field.add(name="driver", number=3, label=kind.LABEL_OPTIONAL, type=kind.TYPE_STRING)
    if multiple_allocations:
        message.field.add(
            name="allowMultipleAllocations", number=4, label=kind.LABEL_OPTIONAL, type=kind.TYPE_BOOL
        )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return pool
