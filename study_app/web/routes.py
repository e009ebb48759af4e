"""OpenAPI 3.1 description of the server's addresses, from its routes and forms.

docs/routes.json is its text. It is for tools that send what no browser sends.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from flask import Flask
from werkzeug.routing import Rule

from study_app.logs.page_events import MAX_EVENTS, Batch
from study_app.study.entries import MAX_REASON, SCALES
from study_app.study.pair_answers import scale_options
from study_app.web.blueprints import BLUEPRINTS
from study_app.web.blueprints.work import LAYOUTS
from study_app.web.console import CONSOLE
from study_app.web.console.people import COLUMNS, FILTERS
from study_app.web.console.timeline import EVENT_GROUPS
from study_app.web.serving import LARGE_BODIES

Schema: TypeAlias = Mapping[str, Any]

NUMBER: Schema = {"type": "integer", "minimum": 1}
WORD: Schema = {"type": "string"}
YES: Schema = {"const": "yes"}
PRESSED: Schema = {"const": "1"}
TEXT: Schema = {"type": "string", "maxLength": 2000}
PAGE: Schema = {"type": "string", "description": "The token of the page on which the form stood."}
OPTION: Schema = {
    "enum": sorted({value for scale in SCALES for value, _ in scale_options(scale)}),
    "description": "An option of the task's choices: four options, or steps of a scale such as left_2.",
}
CSRF: Schema = {"type": "string", "description": "What the forms of this sign-in carry."}

PEOPLE: Mapping[str, Schema] = {
    "show": {"enum": list(FILTERS)},
    "part": {"type": "string", "maxLength": 40},
    "sort": {"enum": list(COLUMNS)},
    "order": {"enum": ["down"]},
    "page": NUMBER,
}
MOMENT: Schema = {"type": "integer", "minimum": 0}

FORMS: Mapping[str, Mapping[str, Schema]] = {
    "work.post_consent": {"agree": YES, "text": WORD},
    "work.post_choose": {"topic": NUMBER},
    "work.post_search": {},
    "work.post_vote": {"intent": {"type": "array", "items": NUMBER}, "none": PRESSED},
    "work.post_pair": {
        "choice": OPTION,
        r"^criterion-[1-9][0-9]*$": OPTION,
        "reason": {"type": "string", "maxLength": MAX_REASON},
        "decision_ms": {"type": "integer", "minimum": 0},
        "layout": {"enum": sorted(LAYOUTS)},
    },
    "work.post_intro": {r"^check-[1-9][0-9]*$": NUMBER},
    "work.post_rate": {r"^rating-[1-9][0-9]*$": {"type": "integer", "minimum": 0, "maximum": 4}},
    "work.post_questions": {r"^q-[A-Za-z0-9][A-Za-z0-9._-]*$": TEXT},
    "streams.post_enrol": {"start": YES},
    "streams.post_stream": {
        "read": {"type": "array", "items": {"type": "string", "pattern": "^u[1-9][0-9]{0,6}$"}},
        "done": PRESSED,
        "below": NUMBER,
    },
    "streams.post_useful": {r"^useful-[1-9][0-9]*$": {"enum": ["yes", "no"]}, "skip": PRESSED},
    "ends.post_finish": {},
    "ends.post_stop": {"stop": YES},
    "ends.post_withdraw": {"code": {"type": "string", "maxLength": 64}},
    "console.post_sign_in": {"key": WORD},
    "console.post_sign_out": {},
    "audit.post_end": {"sign_in": NUMBER},
    "material.post_results": {},
    "data.post_job": {"kind": {"enum": ["tables", "results"]}},
    "people.post_find": {"platform_id": WORD},
    "people.post_withdraw": {"sure": YES},
    "payments.post_list": {"list": {"type": "string", "format": "binary"}},
    "payments.post_paid": {"list": {"enum": ["approve", "pay"]}, "as_of": WORD},
    "overview.post_pause": {},
    "overview.post_resume": {},
    "files.post_load": {"seen": WORD, "accept": {"type": "array", "items": WORD}},
    "limits.post_raise": {"task": NUMBER, "limit": NUMBER},
    "limits.post_close": {"topic": NUMBER},
    "limits.post_open": {"topic": NUMBER},
    "limits.post_days": {"task": NUMBER, "days": {"type": "number", "exclusiveMinimum": 0}},
}
"""Allowed values of each form field, by endpoint.

Names that begin with ``^`` are patterns of numbered fields.
"""

ASKED: Mapping[str, Mapping[str, Schema]] = {
    "entry.enter": {
        "id": {"type": "string", "minLength": 1, "maxLength": 255},
        "via": {"enum": ["reminder"]},
    },
    "work.resume": {"via": {"enum": ["reminder", "invitation"]}},
    "streams.stream": {"below": NUMBER, "via": {"enum": ["reminder", "invitation"]}, "at": NUMBER},
    "ends.done": {"just": PRESSED},
    "ends.stopped": {"just": PRESSED},
    "ends.withdraw": {"language": {"enum": ["en", "ja"]}},
    "ends.post_withdraw": {"language": {"enum": ["en", "ja"]}},
    "console.enter": {"key": WORD},
    "material.material": {"task": NUMBER},
    "data.tables": {"format": {"enum": ["csv", "parquet"]}},
    "audit.audit": {"before": NUMBER},
    "files.files": {"compare": PRESSED},
    "limits.limits": {
        "task": NUMBER,
        "limit": NUMBER,
        "days": {"type": "number", "exclusiveMinimum": 0},
        "close": NUMBER,
    },
    "people.people": PEOPLE,
    "people.people_csv": PEOPLE,
    "people.person": {"of": {"enum": list(EVENT_GROUPS)}, "page": NUMBER},
    "replay.replay": {"at": MOMENT},
    "replay.framed": {"at": MOMENT},
}
"""Allowed values of each query parameter, by endpoint.

``id`` stands for the parameter of the study's platform.
"""

MEANINGS = {
    "200": "A page, or what was asked for.",
    "303": "Another page is next.",
    "400": "Not complete, or no such host.",
    "401": "Not signed by the workspace of the secret, or not just now.",
    "403": "Not from the page that the server gave, the wrong device, or a key that opens or allows nothing.",
    "404": "No such address, or one that this server did not give out.",
    "409": "All places are taken, or it is so already.",
    "413": "Larger than any answer.",
    "422": "The form comes back with the reason.",
    "429": "Too many wrong keys, or strangers from one network; wait a minute.",
    "503": "The database does not answer, or nobody new is let in now.",
}
FOR_SCRIPTS = "Instead of 303 for who accepts application/json alone: the address of the next page as `next`."
WALK = {"work", "streams", "ends"}
"""Blueprints of a worker's way, whose forms carry the page's token."""
OPEN = {"ends.post_withdraw"}
"""Forms that carry a secret of their own."""
_MEDIA = {
    "static": "*/*",
    "beside.media": "*/*",
    "beside.security_contact": "text/plain",
    "ends.agreed_text": "text/plain",
    "people.people_csv": "text/csv",
    "replay.moments": "application/json",
    "data.tables": "application/zip",
    "payments.payments_csv": "text/csv",
}
"""Content type of responses that are not pages, by endpoint."""
_JSON = {"beside.healthy", "beside.ready", "beside.take_events", "hooks.take_prolific_event"}
_PLACE = re.compile(r"<(?:(\w+):)?(\w+)>")


def routes_description() -> str:
    """Return the text of docs/routes.json."""
    return json.dumps(described(), indent=1, ensure_ascii=False) + "\n"


def described() -> dict[str, Any]:
    """Return every route of the server as an OpenAPI document."""
    app = Flask("study_app")
    for blueprint in (*BLUEPRINTS, *CONSOLE):
        app.register_blueprint(blueprint)
    paths: dict[str, dict[str, Any]] = {}
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        for method in sorted((rule.methods or set()) & {"GET", "POST"}):
            words = (app.view_functions[rule.endpoint].__doc__ or "A file of the folder static.").strip()
            operation = _operation(rule, method, words.partition("\n")[0])
            paths.setdefault(_PLACE.sub(r"{\2}", rule.rule), {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "prefcal's study server", "version": "1"},
        "paths": paths,
    }


def _operation(rule: Rule, method: str, words: str) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": rule.endpoint.replace(".", "_"),
        "summary": words,
        "parameters": [*_places(rule), *_asked(rule.endpoint)],
        "responses": {status: _answer(rule.endpoint, method, status) for status in _statuses(rule, method)},
    }
    if method == "POST":
        operation["requestBody"] = {"required": True, "content": _body(rule.endpoint)}
    return operation


def _places(rule: Rule) -> Iterator[dict[str, Any]]:
    for kind, name in _PLACE.findall(rule.rule):
        schema = {"type": "integer", "minimum": 0} if kind == "int" else WORD
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _asked(endpoint: str) -> Iterator[dict[str, Any]]:
    for name, schema in ASKED.get(endpoint, {}).items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}


def _statuses(rule: Rule, method: str) -> list[str]:
    if rule.endpoint == "beside.healthy":
        return ["200", "400"]
    if rule.endpoint == "beside.ready":
        return ["200", "400", "503"]
    if rule.endpoint == "entry.enter":
        return ["200", "303", "400", "403", "404", "409", "429", "503"]
    taken = {"413"} if method == "POST" else set[str]()
    if rule.rule.startswith("/w/"):
        taken |= {"303", "403", "422"} if method == "POST" else {"303"}
    if rule.rule.startswith("/r/"):
        taken |= {"303", "403", "409", "422", "429"} if method == "POST" else {"303", "403", "422", "429"}
    if rule.endpoint == "hooks.take_prolific_event":
        taken |= {"401"}
    if rule.endpoint == "ends.post_withdraw":
        taken |= {"422"}
    return sorted({"200", "400", "404", "503"} | taken)


def _answer(endpoint: str, method: str, status: str) -> dict[str, Any]:
    if status == "303":
        return {"description": MEANINGS[status]}
    if status == "200" and method == "POST" and endpoint.partition(".")[0] in WALK and endpoint not in OPEN:
        return {"description": FOR_SCRIPTS, "content": {"application/json": {}}}
    form = "application/json" if endpoint in _JSON else _MEDIA.get(endpoint, "text/html")
    forms = {form, "text/html"} if status != "200" and endpoint not in _JSON else {form}
    if status == "400":
        forms |= {"text/plain"}
    return {"description": MEANINGS[status], "content": {name: {} for name in sorted(forms)}}


def _body(endpoint: str) -> dict[str, Any]:
    if endpoint == "beside.take_events":
        batch = {"type": "object", "properties": {"events": {"type": "array", "maxItems": MAX_EVENTS}}}
        batch["description"] = f"{(Batch.__doc__ or '').partition(chr(10))[0]} See events.schema.json."
        return {"application/json": {"schema": batch | {"required": ["page", "events"]}}}
    if endpoint == "hooks.take_prolific_event":
        words = {"event_type": WORD, "resource_id": WORD, "participant_id": WORD, "status": WORD}
        return {
            "application/json": {
                "schema": {"type": "object", "properties": words, "required": ["event_type"]}
            }
        }
    fields = FORMS[endpoint]
    schema: dict[str, Any] = {"type": "object", "properties": {}, "patternProperties": {}}
    for name, values in fields.items():
        schema["patternProperties" if name.startswith("^") else "properties"][name] = values
    if endpoint not in OPEN:
        is_walk = endpoint.partition(".")[0] in WALK
        schema["properties"] |= {"page": PAGE} if is_walk else {"csrf": CSRF}
    media = "multipart/form-data" if endpoint in LARGE_BODIES else "application/x-www-form-urlencoded"
    return {media: {"schema": schema}}
