"""Which web pages may use the server: the header Origin of requests, and the sites that are allowed."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from specdec_cli.errors import UsageError

ANY = "*"
_DEFAULT_PORTS = {"http": 80, "https": 443}


def read_origin(text: str) -> str:
    """The origin of a site as browsers write it in the header Origin: without the final slash and a default port.

    "*" means all sites. Raises UsageError for anything else than a scheme, a host and perhaps a port.
    """
    if text == ANY:
        return text
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if not parts.scheme or not host or parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(f"'{text}' is not the address of a site: a scheme and a host are expected, as in https://example.org")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + ("" if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{port}")


def is_foreign(headers: Headers, allowed: Collection[str]) -> bool:
    """Whether a request is from a web page of a site that is neither the server's own nor among `allowed`.

    Extensions of browsers and other programs have schemes of their own and are no web pages. Requests of images and
    scripts have no Origin, but Sec-Fetch-Site. Whoever follows a link (navigates) does not let a page ask.
    """
    if ANY in allowed:
        return False
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"
    scheme, _, place = origin.partition("://")
    is_page = scheme in _DEFAULT_PORTS or origin == "null"
    return is_page and place != headers.get("host", "").lower() and origin not in allowed
