"""Named formats, such as `format.dns1123Label()`; what is said of a text that does not match one is shorter.

Source: `k8s.io/apiserver/pkg/cel/library/format.go`, Kubernetes 1.37.2.
"""

import re
from collections.abc import Callable
from datetime import date

from dra.cel.functions import function
from dra.cel.functions.network import url_problem
from dra.cel.values import NONE, Format, Optional

_LABEL_1123 = (63, r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035 = (63, r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = (253, r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_FORMATS: dict[str, tuple[int, str]] = {
    "dns1123Label": _LABEL_1123,
    "dns1123LabelPrefix": _LABEL_1123,
    "dns1123Subdomain": _SUBDOMAIN,
    "dns1123SubdomainPrefix": _SUBDOMAIN,
    "dns1035Label": _LABEL_1035,
    "dns1035LabelPrefix": _LABEL_1035,
    "labelValue": (63, r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"),
    "qualifiedName": (317, rf"({_SUBDOMAIN[1]}/)?([A-Za-z0-9][-A-Za-z0-9_.]{{0,61}})?[A-Za-z0-9]"),
    "uuid": (36, r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"),
    "byte": (10**9, r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "date": (10, r"[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])"),
    "datetime": (
        99,
        (
            r"(?i)[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])[T ]"
            r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
        ),
    ),
}
"""The longest text of a format and its pattern; URIs are read by Go's rules."""


@function("format.named(string)")
def _named_format(name: str) -> Optional:
    return Optional(Format(name), present=True) if name in _FORMATS or name == "uri" else NONE


def _is_day(name: str, text: str) -> bool:
    """Tell whether a date that looks like one exists."""
    if name not in {"date", "datetime"}:
        return True
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


@function("validate(Format, string)")
def _validate(named: Format, text: str) -> Optional:
    if named.name == "uri":
        problem = url_problem(text)
    else:
        longest, pattern = _FORMATS[named.name]
        if named.name.endswith("Prefix") and text.endswith("-"):
            text = f"{text[:-1]}a"
        valid = len(text) <= longest and re.fullmatch(pattern, text, re.ASCII) and _is_day(named.name, text)
        problem = None if valid else f"does not match the {named.name} format"
    return Optional([problem], present=True) if problem else NONE


def _format(name: str) -> Callable[[], Format]:
    return lambda: Format(name)


for _name in (*_FORMATS, "uri"):
    function(f"format.{_name}()")(_format(_name))
