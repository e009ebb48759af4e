"""Shared parts of the views: messages, server, rendering, headers, request log.

The catalogues hold everything a worker reads that does not come from the study file: `templates/locale/LANGUAGE.yaml` has the words of the pages
of every study, `LANGUAGE.tasks.yaml` those of the kinds of task: sides of pairs, ratings, questions, and the pages before a task.

A line of the log has request id, method, route, status, milliseconds and pseudonym; never an answer, never a platform's id. The route is the pattern
(``/w/<token>/consent``), not the address, so that no token or parameter gets into a log.
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from flask import Flask, Response, current_app, g, make_response, redirect, render_template, request
from jinja2 import BaseLoader, ChoiceLoader, DictLoader, StrictUndefined
from markupsafe import Markup
from werkzeug.exceptions import BadRequest

from metrics.errors import InputError, input_fault
from study_app.config import Config, resource_folder
from study_app.services.researcher.studies import SIGNING_KEY, key_before, setting
from study_app.store.database import Database, is_empty, migrate, open_database, shown_address, transaction
from study_app.store.media import MediaReader
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import BadTokenError, NewToken, Now, Signer
from study_app.study.yaml_values import parsed_yaml
from study_app.tasks.kinds import KINDS
from study_app.web.pages.pages import MessagePage, ShownSide, ShownUpdate, WorkerPage

LANGUAGES = ("en", "ja")
NAME = "prefcal"
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action {forms}; base-uri 'none'; frame-ancestors {frames}"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
FALLBACK_LANGUAGE = "en"
MAX_BODY_BYTES = 64 * 1024
LARGE_BODIES = {"payments.post_list": 1024 * 1024}
"""Largest body in bytes of views that accept more.

A platform's list has a few thousand lines.
"""
STATIC_MAX_AGE_SECONDS = 300
CACHED_ENDPOINTS = {"static", "beside.media"}
"""Views whose responses browsers may cache.

They are the same for every worker.
"""
MAX_CACHED_UPDATES = 10_000
"""Size of the cache of rendered updates: those of some dozens of streams."""
CONDITION = re.compile(r"\[(?P<lacks>not )?(?P<name>[a-z_]+)\] ")
"""Start of a paragraph of the catalogue that only some studies display.

It is ``[NAME]`` or ``[not NAME]``.
"""
LOGGER = logging.getLogger("prefcal.requests")


class Messages:
    """Message catalogues of all languages.

    Parameters
    ----------
    folder : Path
        Holds ``LANGUAGE.yaml`` and ``LANGUAGE.tasks.yaml`` for each of `LANGUAGES`, all with the same keys.
    more : iterable of mapping
        Words by language and key, added by kinds of task.
    """

    def __init__(self, folder: Path, more: Iterable[Mapping[str, Mapping[str, str]]] = ()) -> None:
        task_words = list(more)
        self.catalogues: Mapping[str, Mapping[str, str]] = {
            language: {
                key: text
                for name in (f"{language}.yaml", f"{language}.tasks.yaml")
                for key, text in _flat(_parsed(folder / name))
            }
            | {key: text for words in task_words for key, text in words.get(language, {}).items()}
            for language in LANGUAGES
        }

    def text(self, language: str, key: str, **values: object) -> str:
        """Return a message with its values filled in; raises KeyError for an unknown key."""
        message = self.catalogues[language][key]
        return message.format(**values) if values else message


def _parsed(path: Path) -> Any:
    return _parsed_text(path.read_text(encoding="utf-8"))


@cache
def _parsed_text(text: str) -> Any:
    return parsed_yaml(text)


def _flat(node: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Parts of one running server.

    ``now`` is its only clock, ``new_token`` its only source of tokens.
    """

    database: Database
    media: MediaReader
    plans: StudyCache
    signer: Signer
    messages: Messages
    now: Now
    new_token: NewToken
    contact: str | None
    hook_secret: str | None = field(default=None, repr=False)


def server() -> Server:
    """Return the parts of the server that handles this request."""
    return cast("Server", current_app.extensions[NAME])


def render_page(
    template: str,
    page: WorkerPage,
    *,
    status: int = 200,
    tokens: Mapping[str, str] | None = None,
    part: tuple[int, int] | None = None,
) -> Response:
    """Render a page value.

    On a worker's page ``tokens`` has ``worker`` and ``page``; ``part`` is that of `part_of`.
    """
    t = partial(server().messages.text, page.language)
    html = render_template(f"{template}.html", page=page, t=t, tokens=tokens or {}, part=part)
    return make_response(html, status)


def side_html(language: str, side: str, shown: ShownSide) -> Markup:
    """Render a side of a pair page; cached, since it is most of the page."""
    if (language, side) not in shown.html:
        template = current_app.jinja_env.get_template(f"sides/{shown.form}.html")
        macros: Any = template.make_module({"t": partial(server().messages.text, language)})
        shown.html[language, side] = Markup(macros.side(side, shown.value, shown.content))  # noqa: S704 - the macro has escaped it
    return shown.html[language, side]


def update_html(language: str, update: ShownUpdate) -> Markup:
    """Render an update of a stream; `configure` adds a cache by language and update."""
    macros: Any = current_app.jinja_env.get_template("stream_parts.html").module
    return Markup(macros.update(partial(server().messages.text, language), update))  # noqa: S704 - the macro has escaped it


def fitting(text: str, shows: Collection[str]) -> list[str]:
    """Return the paragraphs of a text whose condition holds for the pages.

    A paragraph that begins with ``[NAME]`` is for pages that display NAME, one with ``[not NAME]`` for the
    others.
    """
    paragraphs = []
    for paragraph in text.strip().split("\n\n"):
        condition = CONDITION.match(paragraph)
        if condition is None or (condition["name"] in shows) != bool(condition["lacks"]):
            paragraphs.append(paragraph[condition.end() if condition else 0 :])
    return paragraphs


def static_folder() -> str:
    """Return the address of the folder static.

    `url_for` would search the route of each file.
    """
    return f"{request.script_root}{current_app.static_url_path}/"


def message_response(
    key: str, *, status: int, language: str | None = None, reference: str = "", text: str | None = None
) -> Response:
    """Render a page with only a message; in the browser's language by default.

    ``key`` is the group of its heading and text in the catalogue; ``text`` is the key of another text.
    """
    page = MessagePage(
        language=language or browser_language(),
        heading=f"{key}.heading",
        text=text or f"{key}.text",
        reference=reference,
    )
    return render_page("message", page, status=status)


def browser_language() -> str:
    """Return the catalogue language that the browser prefers, English by default."""
    return request.accept_languages.best_match(LANGUAGES) or FALLBACK_LANGUAGE


def open_server(config: Config, now: Now, new_token: NewToken) -> Server:
    """Open the database and build the server; raise InputError without a study."""
    database = open_database(config.database, impatient=True)
    if is_empty(database):
        raise nothing_loaded(config)
    migrate(database)
    with transaction(database, write=False) as session:
        key, before = setting(session, SIGNING_KEY), key_before(session)
    if key is None:
        raise nothing_loaded(config)
    return Server(
        database=database,
        media=MediaReader(database),
        plans=StudyCache(),
        signer=Signer(key, before=before, now=now),
        messages=Messages(resource_folder("templates") / "locale", [kind.words for kind in KINDS.values()]),
        now=now,
        new_token=new_token,
        contact=config.contact,
        hook_secret=config.hook_secret or None,
    )


def nothing_loaded(config: Config) -> InputError:
    """Return the error of a database without a study."""
    return input_fault(
        f"no study is loaded in {shown_address(config.database)}",
        cure="load one: prefcal study load FILE",
    )


def configure(app: Flask, config: Config) -> None:
    """Set limits, caching, trusted hosts and templates of an app.

    Templates of kinds of task are added, and a template fails on an undefined name.
    """
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["TRUSTED_HOSTS"] = list(config.hosts) or None
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = STATIC_MAX_AGE_SECONDS
    task_loaders = [DictLoader(kind.templates) for kind in KINDS.values() if kind.templates]
    app.jinja_loader = ChoiceLoader([cast("BaseLoader", app.jinja_loader), *task_loaders])
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.globals["side_html"] = side_html
    app.jinja_env.globals["update_html"] = lru_cache(MAX_CACHED_UPDATES)(update_html)
    app.jinja_env.globals["fitting"] = fitting
    app.jinja_env.globals["static_folder"] = static_folder
    app.url_map.merge_slashes = False  # else `//` leads to the host that the request names


def lead_to_new_address() -> Response | None:
    """Redirect an address signed with the previous key to that of the current key."""
    token = (request.view_args or {}).get("token", "") if request.method == "GET" else ""
    renewed = server().signer.renewed(token) if token else None
    if renewed is None:
        return None
    address = request.full_path.rstrip("?").replace(token, renewed, 1)
    return cast("Response", redirect(address, code=303))


def is_https() -> bool:
    """Return whether the browser uses https, also if a proxy ends it."""
    first_proxy = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    return request.is_secure or first_proxy == "https"


def reject_nul() -> None:
    """Refuse an address with NUL: PostgreSQL fails on a query for it."""
    if request.routing_exception is None and "\0" in request.path:
        raise BadTokenError


def reject_truncated_body() -> None:
    """Refuse an incomplete form before any view stores half an answer as a whole one.

    The HTTP server may take the end of a connection for the end of the form; only the announced length shows
    the difference.
    """
    announced = request.content_length
    if announced is None:
        return
    if request.endpoint in LARGE_BODIES:
        request.max_content_length = LARGE_BODIES[request.endpoint]
    if len(request.get_data()) != announced:
        raise BadRequest("the form is incomplete")


def relax_headers(
    *,
    form_host: str | None = None,
    frame_hosts: Collection[str] = (),
    shows_frame: bool = False,
    in_own_frame: bool = False,
) -> None:
    """Relax the security headers of this response.

    The page may send its form to ``form_host``, be framed by ``frame_hosts``, or show a page of this server in a frame. With
    ``in_own_frame`` it is that framed page, which runs no script and sends no form.
    """
    if form_host is not None:
        g.forms = f"'self' https://{form_host}"
    if frame_hosts:
        g.frames = " ".join(f"https://{host}" for host in frame_hosts)
    if shows_frame:
        g.more_policy = "; frame-src 'self'"
    if in_own_frame:
        g.frames, g.forms, g.scripts = "'self'", "'none'", "'none'"


def with_headers(response: Response) -> Response:
    """Add security headers to a response; only files and pictures may be cached."""
    response.headers.extend(HEADERS)
    policy = g.get("policy") or _policy(
        g.get("scripts", "'self'"),
        g.get("forms", "'self'"),
        g.get("frames", "'none'"),
    )
    response.headers.add("Content-Security-Policy", policy + g.get("more_policy", ""))
    if request.endpoint not in CACHED_ENDPOINTS or response.status_code >= HTTPStatus.BAD_REQUEST:
        response.headers["Cache-Control"] = "no-store"
    return response


@lru_cache(maxsize=64)
def _policy(scripts: str, forms: str, frames: str) -> str:
    return POLICY.format(scripts=scripts, forms=forms, frames=frames)


def install_log(app: Flask) -> None:
    """Log every request of ``app``."""
    app.before_request(_begin)
    app.after_request(_end)


def note_worker(pseudonym: str) -> None:
    """Record the pseudonym of this request's worker for the log."""
    g.pseudonym = pseudonym


def reference() -> str:
    """Return the id of this request, for a worker to quote."""
    return str(g.get("request_id", "-"))


def _begin() -> None:
    g.request_id = secrets.token_hex(4)
    g.started = time.perf_counter()


def _end(response: Response) -> Response:
    if not LOGGER.isEnabledFor(logging.INFO):
        return response
    line = {
        "id": reference(),
        "method": request.method,
        "route": request.url_rule.rule if request.url_rule else "-",
        "status": response.status_code,
        "ms": round((time.perf_counter() - g.started) * 1000, 1),
        "worker": g.get("pseudonym"),
    }
    LOGGER.info(json.dumps(line))
    return response
