"""How names must be spelt: for each kind of name, what the API server says is wrong with a text.

Source: `k8s.io/apimachinery/pkg/api/validate/content` and the resource group's validation, Kubernetes 1.37.2.
"""

import re
from collections.abc import Iterator

from dra import codes
from dra.gates import Target
from dra.validation.problem import Problem, invalid, invalid_each, required, too_long

MAX_DRIVER = 63
MAX_DOMAIN = 63
MAX_IDENTIFIER = 32
MAX_POOL = 253
_MAX_LABEL = 63
_MAX_SUBDOMAIN = 253

_LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORM = rf"{_LABEL_FORM}(\.{_LABEL_FORM})*"
_IDENTIFIER_FORM = "[A-Za-z_][A-Za-z0-9_]*"
_KEY_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORM = f"({_KEY_FORM})?"

_LABEL = re.compile(_LABEL_FORM)
_SUBDOMAIN = re.compile(_SUBDOMAIN_FORM)
_SUBDOMAIN_CASELESS = re.compile(_SUBDOMAIN_FORM, re.IGNORECASE)
_IDENTIFIER = re.compile(_IDENTIFIER_FORM)
_KEY = re.compile(_KEY_FORM)
_VALUE = re.compile(_VALUE_FORM)

_ALPHANUMERIC = "must start and end with an alphanumeric character"
_KEY_WRONG = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALPHANUMERIC}"

LABEL_REMEDY = "Use 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends."
SUBDOMAIN_REMEDY = (
    "Use at most 253 lower-case letters, digits, '-' and '.', "
    "with a letter or digit at both ends of each part."
)
KEY_REMEDY = (
    "Use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, "
    "and before it, if you like, a domain and a slash."
)
VALUE_REMEDY = (
    "Use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, or nothing."
)

STANDARD_ATTRIBUTES = {
    "numa": "resource.kubernetes.io/numaNode",
    "numanode": "resource.kubernetes.io/numaNode",
    "pcieroot": "resource.kubernetes.io/pcieRoot",
    "pciroot": "resource.kubernetes.io/pcieRoot",
    "pcibusid": "resource.kubernetes.io/pciBusID",
}
"""Attributes that have a standard name, by their name without case, '-' and '_' (KEP-4381, KEP-6072)."""


def byte_length(text: str) -> int:
    """Return the length that the API server counts."""
    return len(text) if text.isascii() else len(text.encode())


def length_unit(target: Target) -> str:
    """Return what the length of a name is told in where 1.37 has a declarative rule for it."""
    return "bytes" if target >= Target.V1_37 else "characters"


def label_faults(text: str, unit: str = "characters") -> list[str]:
    """Return what is wrong with an RFC 1123 label."""
    faults = _length_faults(text, _MAX_LABEL, unit)
    if not _LABEL.fullmatch(text):
        wrong = (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
            f"{_ALPHANUMERIC}"
        )
        dotted = _SUBDOMAIN.fullmatch(text)
        faults.append("must not contain dots" if dotted else _form(wrong, _LABEL_FORM, "my-name", "123-abc"))
    return faults


def subdomain_faults(text: str, unit: str = "characters") -> list[str]:
    """Return what is wrong with an RFC 1123 subdomain."""
    faults = _length_faults(text, _MAX_SUBDOMAIN, unit)
    if not _SUBDOMAIN.fullmatch(text):
        wrong = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            f"and {_ALPHANUMERIC}"
        )
        faults.append(_form(wrong, _SUBDOMAIN_FORM, "example.com"))
    return faults


def caseless_subdomain_faults(text: str) -> list[str]:
    """Return what is wrong with an RFC 1123 subdomain in which capitals are allowed."""
    faults = _length_faults(text, _MAX_SUBDOMAIN)
    if not _SUBDOMAIN_CASELESS.fullmatch(text):
        wrong = (
            f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and {_ALPHANUMERIC}"
        )
        faults.append(_form(wrong, _SUBDOMAIN_FORM, "Example.com"))
    return faults


def key_faults(text: str) -> list[str]:
    """Return what is wrong with a label's key, which is also the form of annotations and finalizers."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        form = _form(_KEY_WRONG, _KEY_FORM, "MyName", "my.name", "123-abc")
        domain = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {form} {domain}"]
    faults: list[str] = []
    if slash:
        wrong = subdomain_faults(prefix, "bytes") if prefix else ["must be non-empty"]
        faults += [f"prefix part {fault}" for fault in wrong]
    if not name:
        faults.append("name part must be non-empty")
    faults += [f"name part {fault}" for fault in _length_faults(name, _MAX_LABEL)]
    if not _KEY.fullmatch(name):
        faults.append("name part " + _form(_KEY_WRONG, _KEY_FORM, "MyName", "my.name", "123-abc"))
    return faults


def value_faults(text: str) -> list[str]:
    """Return what is wrong with a label's value."""
    faults = _length_faults(text, _MAX_LABEL)
    if not _VALUE.fullmatch(text):
        wrong = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            f"and {_ALPHANUMERIC}"
        )
        faults.append(_form(wrong, _VALUE_FORM, "MyValue", "my_value", "12345"))
    return faults


def label(path: str, text: str, unit: str = "characters") -> Iterator[Problem]:
    """Yield what is wrong with a name that is an RFC 1123 label: a request's, a device's, a counter's."""
    yield from invalid_each(path, text, label_faults(text, unit), _suggest(text, LABEL_REMEDY))


def subdomain(path: str, text: str, unit: str = "characters") -> Iterator[Problem]:
    """Yield what is wrong with a name that is an RFC 1123 subdomain: an object's name."""
    yield from invalid_each(path, text, subdomain_faults(text, unit), SUBDOMAIN_REMEDY)


def key(path: str, text: str) -> Iterator[Problem]:
    """Yield what is wrong with a label's key."""
    yield from invalid_each(path, text, key_faults(text), KEY_REMEDY)


def value(path: str, text: str) -> Iterator[Problem]:
    """Yield what is wrong with a label's value."""
    yield from invalid_each(path, text, value_faults(text), VALUE_REMEDY)


def driver(path: str, text: str) -> Iterator[Problem]:
    """Yield what is wrong with a driver's name, a subdomain of which capitals are forgiven."""
    if not text:
        yield required(path, "Write the driver's name, such as gpu.nvidia.com.")
        return
    if byte_length(text) > MAX_DRIVER:
        yield too_long(path, MAX_DRIVER, "Use the driver's real name: none is that long.")
    yield from invalid_each(path, text, subdomain_faults(text.lower()), SUBDOMAIN_REMEDY)


def configured_driver(path: str, text: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the driver of an opaque configuration, where 1.37 says the same otherwise."""
    if target < Target.V1_37 or not text:
        yield from driver(path, text)
        return
    if len(text) > MAX_DRIVER:
        yield too_long(path, MAX_DRIVER, "Use the driver's real name: none is that long.", "characters")
    yield from invalid_each(path, text, caseless_subdomain_faults(text), SUBDOMAIN_REMEDY)


def pool(path: str, text: str) -> Iterator[Problem]:
    """Yield what is wrong with a pool's name, which is subdomains between slashes."""
    if not text:
        yield required(path, "Name the pool, by custom after its node.")
        return
    if byte_length(text) > MAX_POOL:
        yield too_long(path, MAX_POOL, "Take a shorter name for the pool, such as its node's.")
    for part in text.split("/"):
        yield from subdomain(path, part)


def qualified(path: str, name: str) -> Iterator[Problem]:
    """Yield what is wrong with the key of an attribute or a capacity in a slice.

    A name with more than one slash passes: that is so in Kubernetes up to 1.37.2.
    """
    domain, slash, identifier = name.rpartition("/")
    if "/" in domain:
        return
    if slash and not domain:
        yield invalid(
            path,
            "",
            "the domain must not be empty",
            "Write a domain before the slash, or no slash.",
            codes.NAME,
        )
    elif slash:
        yield from driver(path, domain)
    if slash and not identifier:
        yield invalid(path, "", "the name must not be empty", "Write a name after the slash.", codes.NAME)
    else:
        yield from _identifier(path, identifier)


def fully_qualified(path: str, name: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the attribute of a constraint, which needs its domain."""
    if target < Target.V1_37:
        yield from qualified(path, name)
    else:
        yield from _declared_qualified(path, name)
    if "/" not in name:
        standard = STANDARD_ATTRIBUTES.get(_folded(name))
        remedy = (
            f"Write {standard}, its standard name."
            if standard
            else (
                f"Write the domain before it: <driver>/{name} for an attribute that a slice lists as {name}."
            )
        )
        detail = "a fully qualified name must be a domain and a name separated by a slash"
        yield invalid(path, name, detail, remedy, codes.NAME)


def _declared_qualified(path: str, name: str) -> Iterator[Problem]:
    """Yield what 1.37's declarative rule says of a name; it wants the domain in lower case."""
    domain, slash, identifier = name.rpartition("/")
    if "/" in domain:
        return
    if slash and not domain:
        yield invalid(path, "", "prefix must not be empty", "Write a domain before the slash.", codes.NAME)
    elif slash:
        if byte_length(domain) > MAX_DOMAIN:
            yield too_long(path, MAX_DOMAIN, "Use the domain of the driver that publishes the attribute.")
        faults = [f"prefix: {fault}" for fault in subdomain_faults(domain, "bytes")]
        yield from invalid_each(path, domain, faults, SUBDOMAIN_REMEDY)
    if slash and not identifier:
        yield invalid(path, "", "name must not be empty", "Write a name after the slash.", codes.NAME)
    else:
        yield from _identifier(path, identifier)


def _identifier(path: str, text: str) -> Iterator[Problem]:
    if byte_length(text) > MAX_IDENTIFIER:
        yield too_long(path, MAX_IDENTIFIER, f"Shorten the name to {MAX_IDENTIFIER} characters.")
    if not _IDENTIFIER.fullmatch(text):
        wrong = (
            "a valid C identifier must start with alphabetic character or '_', followed by a string of "
            "alphanumeric characters or '_'"
        )
        detail = _form(wrong, _IDENTIFIER_FORM, "my_name", "MY_NAME", "MyName")
        yield invalid(path, text, detail, _identifier_remedy(text), codes.NAME)


def _identifier_remedy(text: str) -> str:
    remedy = "Use letters, digits and '_' only, and no digit at the front"
    standard = STANDARD_ATTRIBUTES.get(_folded(text))
    if standard:
        return f"{remedy}. The standard attribute for this is {standard}."
    suggestion = re.sub(r"^(?=[0-9])", "_", re.sub(r"[^A-Za-z0-9_]+", "_", text))
    known = _IDENTIFIER.fullmatch(suggestion) and len(suggestion) <= MAX_IDENTIFIER
    return f"{remedy}, such as {suggestion}." if known else f"{remedy}."


def _suggest(text: str, remedy: str) -> str:
    suggestion = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    known = suggestion and suggestion != text and len(suggestion) <= _MAX_LABEL
    return f"{remedy} Here: {suggestion}." if known else remedy


def _folded(name: str) -> str:
    return re.sub("[-_]", "", name.rpartition("/")[2].lower()) if len(name) < _MAX_SUBDOMAIN else ""


def _length_faults(text: str, limit: int, unit: str = "bytes") -> list[str]:
    return [f"must be no more than {limit} {unit}"] if byte_length(text) > limit else []


def _form(wrong: str, form: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{wrong} (e.g. {shown}regex used for validation is '{form}')"
