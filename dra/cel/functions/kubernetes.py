"""Quantities, semantic versions, URLs, addresses and named formats: the libraries that Kubernetes adds.

Source: `k8s.io/apiserver/pkg/cel/library`, Kubernetes 1.37.2. Where Go tells more closely what is wrong with a
URL or an address, the text here is shorter; the verdict is the same.
"""

import ipaddress
import re
from datetime import date
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import parse_qs, quote, urlsplit

from dra.cel.functions import function
from dra.cel.values import NONE, Address, Cidr, EvaluationError, Format, Optional, Semver, Sum, Url
from dra.quantity import Quantity


_Ordered = TypeVar("_Ordered", Quantity, Semver)


@function("quantity(string)")
def _quantity(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("isQuantity(string)")
def _is_quantity(text: str) -> bool:
    return _works(_quantity, text)


def _works(function: Callable[[str], object], text: str) -> bool:
    try:
        function(text)
    except EvaluationError:
        return False
    return True


@function("sign(Quantity)")
def _sign(quantity: Quantity) -> int:
    return quantity.sign


@function("isGreaterThan(Quantity, Quantity)")
@function("isGreaterThan(Semver, Semver)")
def _is_greater(one: _Ordered, other: _Ordered) -> bool:
    return one > other


@function("isLessThan(Quantity, Quantity)")
@function("isLessThan(Semver, Semver)")
def _is_less(one: _Ordered, other: _Ordered) -> bool:
    return one < other


@function("compareTo(Quantity, Quantity)")
@function("compareTo(Semver, Semver)")
def _compare(one: _Ordered, other: _Ordered) -> int:
    return (one > other) - (one < other)


@function("asApproximateFloat(Quantity)")
def _as_float(quantity: Quantity) -> float:
    return quantity.to_float()


@function("isInteger(Quantity)")
def _is_integer(quantity: Quantity) -> bool:
    return quantity.to_integer() is not None


@function("asInteger(Quantity)")
def _as_integer(quantity: Quantity) -> int:
    integer = quantity.to_integer()
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


def _sum(quantity: Quantity) -> Sum:
    return Sum(quantity.unscaled, quantity.exponent, quantity.form, small=quantity.small)


@function("add(Quantity, Quantity)")
def _add(one: Quantity, other: Quantity) -> Quantity:
    try:
        return _sum(one + other)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("sub(Quantity, Quantity)")
def _subtract(one: Quantity, other: Quantity) -> Quantity:
    try:
        return _sum(one - other)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("add(Quantity, int)")
def _add_int(one: Quantity, other: int) -> Quantity:
    return _add(one, Quantity(other))


@function("sub(Quantity, int)")
def _subtract_int(one: Quantity, other: int) -> Quantity:
    return _subtract(one, Quantity(other))


@function("semver(string)")
@function("semver(string, bool)")
def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - CEL has no names for arguments
    return Semver.normalize(text) if normalize else Semver.parse(text)


@function("isSemver(string)")
@function("isSemver(string, bool)")
def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - as above
    return _works(Semver.normalize if normalize else Semver.parse, text)


@function("major(Semver)")
def _major(version: Semver) -> int:
    return version.numbers[0]


@function("minor(Semver)")
def _minor(version: Semver) -> int:
    return version.numbers[1]


@function("patch(Semver)")
def _patch(version: Semver) -> int:
    return version.numbers[2]


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(
    r"(\[[0-9A-Fa-f:.]+(%25[^\]]*)?\]|[^\[\] <>\"\\^`{}|%/?#:]|%[0-9A-Fa-f]{2})*(:[0-9]*)?", re.ASCII
)


@function("url(string)")
def _url(text: str) -> Url:
    if problem := _url_problem(text):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": {problem}')
    return Url(urlsplit(text), text)


@function("isURL(string)")
def _is_url(text: str) -> bool:
    return _url_problem(text) is None


def _url_problem(text: str) -> str | None:
    """Return why Go's url.ParseRequestURI refuses a text, or None."""
    if not text:
        return "empty url"
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "net/url: invalid control character in URL"
    scheme = _SCHEME.match(text)
    if not scheme and ":" in text.split("/")[0]:
        return (
            "missing protocol scheme"
            if text.startswith(":")
            else "first path segment in URL cannot contain colon"
        )
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("/"):
        return (
            None
            if scheme and rest and _ESCAPE.search(rest.split("?")[0]) is None
            else "invalid URI for request"
        )
    authority = rest[2:].split("/")[0].split("?")[0] if scheme and rest.startswith("//") else ""
    host = authority.rpartition("@")[2]
    if not _HOST.fullmatch(host):
        return "invalid character in host name"
    if _ESCAPE.search(rest.split("?")[0]):
        return "invalid URL escape"
    return None


@function("getScheme(URL)")
def _scheme(url: Url) -> str:
    return url.parts.scheme


@function("getHost(URL)")
def _host(url: Url) -> str:
    return url.parts.netloc.rpartition("@")[2]


@function("getHostname(URL)")
def _hostname(url: Url) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


@function("getPort(URL)")
def _port(url: Url) -> str:
    return _host(url).rpartition("]")[2].rpartition(":")[2] if ":" in _host(url).rpartition("]")[2] else ""


@function("getEscapedPath(URL)")
def _path(url: Url) -> str:
    return quote(url.parts.path, safe="/%:@!$&'()*+,;=~")


@function("getQuery(URL)")
def _query(url: Url) -> dict[str, list[str]]:
    return parse_qs(url.parts.query, keep_blank_values=True)


@function("ip(string)")
def _ip(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationError(
            f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP'
        ) from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
        if address.ipv4_mapped:
            raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


@function("isIP(string)")
def _is_ip(text: str) -> bool:
    return _works(_ip, text)


@function("ip.isCanonical(string)")
def _is_canonical(text: str) -> bool:
    return str(_ip(text)) == text


@function("family(IP)")
def _family(address: Address) -> int:
    return address.version


@function("isUnspecified(IP)")
def _is_unspecified(address: Address) -> bool:
    return address.is_unspecified


@function("isLoopback(IP)")
def _is_loopback(address: Address) -> bool:
    return address.is_loopback


@function("isLinkLocalMulticast(IP)")
def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address.packed[:3] == b"\xe0\x00\x00"
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2  # noqa: PLR2004 - the scope of a link


@function("isLinkLocalUnicast(IP)")
def _is_link_local_unicast(address: Address) -> bool:
    return address.is_link_local


@function("isGlobalUnicast(IP)")
def _is_global_unicast(address: Address) -> bool:
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or address == ipaddress.IPv4Address("255.255.255.255")
    )


@function("cidr(string)")
def _cidr(text: str) -> Cidr:
    address, _, length = text.rpartition("/")
    try:
        parsed = ipaddress.ip_address(address)
        if (
            not re.fullmatch("0|[1-9][0-9]{0,2}", length, re.ASCII)
            or int(length) > parsed.max_prefixlen
            or "%" in address
        ):
            raise ValueError
    except ValueError:
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f'network address parse error during conversion from string: netip.ParsePrefix("{text}"): no prefix'
        ) from None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f'IPv4-mapped IPv6 address "{text}" is not allowed'
        )
    return Cidr(parsed, int(length))


@function("isCIDR(string)")
def _is_cidr(text: str) -> bool:
    return _works(_cidr, text)


@function("ip(CIDR)")
def _cidr_ip(cidr: Cidr) -> Address:
    return cidr.address


@function("prefixLength(CIDR)")
def _prefix_length(cidr: Cidr) -> int:
    return cidr.length


@function("masked(CIDR)")
def _masked(cidr: Cidr) -> Cidr:
    return cidr.masked()


@function("containsIP(CIDR, IP)")
def _contains_ip(cidr: Cidr, address: Address) -> bool:
    if cidr.address.version != address.version:
        return False
    return Cidr(address, cidr.length).masked() == cidr.masked()


@function("containsIP(CIDR, string)")
def _contains_ip_text(cidr: Cidr, text: str) -> bool:
    return _contains_ip(cidr, _ip(text))


@function("containsCIDR(CIDR, CIDR)")
def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.length <= other.length and _contains_ip(cidr, other.address)


@function("containsCIDR(CIDR, string)")
def _contains_cidr_text(cidr: Cidr, text: str) -> bool:
    return _contains_cidr(cidr, _cidr(text))


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
        r"(?i)[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])[T ]"
        r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})",
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
        problem = _url_problem(text)
    else:
        longest, pattern = _FORMATS[named.name]
        if named.name.endswith("Prefix") and text.endswith("-"):
            text = f"{text[:-1]}a"
        valid = len(text) <= longest and re.fullmatch(pattern, text, re.ASCII) and _is_day(named.name, text)
        problem = None if valid else f"does not match the {named.name} format"
    return Optional([problem], present=True) if problem else NONE


for _name in (*_FORMATS, "uri"):
    function(f"format.{_name}()")(lambda name=_name: Format(name))
