"""Where a request comes from, judged by its connection and its headers alone."""

import ipaddress
import os
from collections.abc import Iterable
from functools import cache
from urllib.parse import urlsplit

import psutil
from starlette.datastructures import Headers

PROXY_HEADERS = (
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port",
    "x-forwarded-server", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip",
)  # fmt: skip
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


def is_loopback(name: str | None) -> bool:
    """Whether an address or a host name can only be this machine: 127/8, ::1, localhost, *.localhost."""
    name = (name or "").lower().rstrip(".").removeprefix("[").removesuffix("]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def host_of(value: str | None) -> str | None:
    """The name in a Host header, lower case and without port; None when it is no such header."""
    if not value or any(sign in value for sign in "/\\@?# \t"):
        return None
    try:
        parts = urlsplit(f"//{value}")
        name, _port = parts.hostname, parts.port
    except ValueError:  # also for a port that is none
        return None
    return name.rstrip(".") if name else None


def allowed_hosts() -> tuple[str, ...]:
    """The names under which Nexus may be reached: NEXUS_ALLOWED_HOSTS, comma separated; () when not set."""
    return tuple(h.strip().lower() for h in os.environ.get("NEXUS_ALLOWED_HOSTS", "").split(",") if h.strip())


def host_is_allowed(host: str | None, allowed: Iterable[str], *, only_loopback: bool) -> bool:
    """Whether a request may name this host, which a page under an attacker's DNS could not make right.

    `*.example.com` allows every name under example.com. With nothing configured a process that listens on
    loopback alone answers to loopback names, and one that listens elsewhere to every name.
    """
    if host is None:
        return False
    if is_loopback(host):
        return True
    allowed = tuple(allowed)
    if not allowed:
        return not only_loopback
    return any(host == name or (name.startswith("*.") and host.endswith(name[1:])) for name in allowed)


def is_own_origin(headers: Headers, allowed: Iterable[str]) -> bool | None:
    """Whether the Origin is this very site; None when a client sent no Origin."""
    origin = headers.get("origin")
    if origin is None:
        return None
    try:
        parts = urlsplit(origin)
        name = parts.hostname or ""
    except ValueError:
        return False
    if not name or parts.scheme not in ("http", "https"):
        return False
    if parts.netloc.lower() == headers.get("host", "").lower():
        return True
    # A proxy may have put its own Host in place of the one in the browser.
    return any(name == entry or (entry.startswith("*.") and name.endswith(entry[1:])) for entry in allowed)


def is_cross_site(headers: Headers, allowed: Iterable[str]) -> bool:
    """Whether another site made the browser send this request.

    Sec-Fetch-Site says it where the browser sends it (`same-site` is another site, too: another port, another
    subdomain), else Origin. Without either it is no browser of the last years; a form is refused even so.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    own = is_own_origin(headers, allowed)
    if own is not None:
        return not own
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in FORMS


def came_through_proxy(headers: Headers) -> bool:
    """Whether anything says that the peer is not the one who asks."""
    return any(name in headers for name in PROXY_HEADERS)


@cache
def listens_on_loopback_only() -> bool:
    """Whether this process listens, and on loopback alone; asked of the system once."""
    try:
        open_ = psutil.Process().net_connections(kind="inet")
    except psutil.Error:
        return False
    hosts = [c.laddr.ip for c in open_ if c.status == psutil.CONN_LISTEN]
    return bool(hosts) and all(is_loopback(host) for host in hosts)
