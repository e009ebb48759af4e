"""What the doctor asks the workers' own address: HTTPS, and what the proxy in front of the server passes on."""

from urllib.parse import urlsplit

import httpx

from study_app.doctor.doctor import FAULT, OK, WARNING, Finding

TIMEOUT_SECONDS = 15.0
UNASKED = (httpx.RequestError, httpx.InvalidURL)
NGINX = {
    "X-Forwarded-Proto": "proxy_set_header X-Forwarded-Proto $scheme;",
    "Host": "proxy_set_header Host $server_name;",
}


def examine_address(address: str, http: httpx.Client | None = None) -> list[Finding]:
    """Look at a served study as a worker's browser would.

    Parameters
    ----------
    address : str
        Where workers reach the server: ``https://study.example.org``, nothing behind the host.
    http : httpx.Client, optional
        Who asks; by default a client that believes the machine's certificates and follows no redirect.
    """
    with http or httpx.Client(timeout=TIMEOUT_SECONDS) as client:
        try:
            answer = client.get(f"{address}/healthz")
        except UNASKED as error:
            cure = "look at the proxy's configuration, its certificate, and whether its port is open"
            found = f"{address} cannot be asked ({error})"
            return [Finding(what="address", state=FAULT, found=found, cure=cure)]
        link = _standing_link(answer)
        if link is None:
            found = f"{address}/healthz answers {answer.status_code}, and not as prefcal does"
            cure = "let the proxy pass the whole host on to prefcal serve; is that running?"
            return [Finding(what="address", state=FAULT, found=found, cure=cure)]
        return [_encryption(address, client), _headers(address, link)]


def _standing_link(answer: httpx.Response) -> str | None:
    """Return the link that the server would show a worker, None when it is no prefcal that answers."""
    try:
        said = answer.json()
    except ValueError:
        return None
    link = said.get("standing_link") if isinstance(said, dict) else None
    return link if answer.is_success and isinstance(link, str) else None


def _encryption(address: str, client: httpx.Client) -> Finding:
    """Look whether workers can only come by HTTPS."""
    if not address.startswith("https:"):
        cure = "on the open net: a reverse proxy with HTTPS (docs/deploy.md)"
        found = f"{address} is not encrypted: everybody on the way can read along"
        return Finding(what="address", state=WARNING, found=found, cure=cure)
    plain = f"http://{urlsplit(address).hostname}"
    try:
        is_plain = _standing_link(client.get(f"{plain}/healthz")) is not None
    except UNASKED:
        is_plain = False
    if is_plain:
        cure = "let port 80 only lead to https (docs/deploy.md)"
        found = f"{address} answers, but {plain} shows the pages too, unencrypted"
        return Finding(what="address", state=WARNING, found=found, cure=cure)
    return Finding(what="address", state=OK, found=f"{address} answers; nothing is shown without HTTPS")


def _headers(address: str, link: str) -> Finding:
    """Compare the link that the server would show with the address that it was asked by."""
    asked, shown = urlsplit(address), urlsplit(link)
    lost = [
        name
        for name, differs in (
            ("X-Forwarded-Proto", asked.scheme != shown.scheme),
            ("Host", asked.netloc.lower() != shown.netloc.lower()),
        )
        if differs
    ]
    found = f"the server shows workers links like {link}"
    if not lost:
        return Finding(what="proxy headers", state=OK, found=found)
    cure = f"let the proxy pass on {' and '.join(lost)}; nginx: {' '.join(NGINX[name] for name in lost)}"
    return Finding(what="proxy headers", state=FAULT, found=found, cure=cure)
