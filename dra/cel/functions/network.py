"""URLs, addresses and networks.

Where Go tells more closely what is wrong with one, the text here is shorter; the verdict is the same.
Source: `k8s.io/apiserver/pkg/cel/library/{urls,ip,cidr}.go`, Kubernetes 1.37.2.
"""

import ipaddress
import re
from urllib.parse import parse_qs, quote, urlsplit

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.functions.quantities import works
from dra.cel.values import Address, Cidr, Url

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(
    r"(\[[0-9A-Fa-f:.]+(%25[^\]]*)?\]|[^\[\] <>\"\\^`{}|%/?#:]|%[0-9A-Fa-f]{2})*(:[0-9]*)?", re.ASCII
)


@function("url(string)")
def _url(text: str) -> Url:
    if problem := url_problem(text):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": {problem}')
    return Url(urlsplit(text), text)


@function("isURL(string)")
def _is_url(text: str) -> bool:
    return url_problem(text) is None


def url_problem(text: str) -> str | None:  # noqa: PLR0911 - one return for each problem
    """Return why Go's url.ParseRequestURI refuses a text, or None."""
    if not text:
        return "empty url"
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "net/url: invalid control character in URL"
    scheme = _SCHEME.match(text)
    if not scheme and ":" in text.split("/", maxsplit=1)[0]:
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
            f'IP Address "{text}" parse error during conversion from string: '
            f'ParseAddr("{text}"): unable to parse IP'
        ) from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
        if address.ipv4_mapped:
            raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


@function("isIP(string)")
def _is_ip(text: str) -> bool:
    return works(_ip, text)


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
    prefix = "network address parse error during conversion from string: "
    address, _, length = text.rpartition("/")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        parsed = None
    # Go takes no zone and no number with a leading zero here.
    fits = parsed and "%" not in address and re.fullmatch("0|[1-9][0-9]{0,2}", length, re.ASCII)
    if parsed is None or not fits or int(length) > parsed.max_prefixlen:
        raise EvaluationError(f'{prefix}{prefix}netip.ParsePrefix("{text}"): no prefix')
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        raise EvaluationError(f'{prefix}IPv4-mapped IPv6 address "{text}" is not allowed')
    return Cidr(parsed, int(length))


@function("isCIDR(string)")
def _is_cidr(text: str) -> bool:
    return works(_cidr, text)


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
