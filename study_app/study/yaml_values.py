"""YAML whose unquoted values are true, false, null, decimal numbers or text.

The rules of YAML 1.1, which its libraries still follow, have surprises for people: ``1:30`` is 90 (base 60),
``010`` is 8, ``yes``, ``no`` and ``on`` are truth values, ``2026-03-01`` is no text, and ``1:59:59.5`` can be
a number without end. Every number here is a number there, too, so files of other programs are read as they
were meant.
"""

import re
from typing import Any, TypeAlias

import yaml

_TAG = "tag:yaml.org,2002:"
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_INTEGER = re.compile(r"^[-+]?(?:0|[1-9][0-9]{0,17})$")
_NUMBER = re.compile(
    r"^[-+]?(?:[0-9]{1,100}\.[0-9]{0,100}|\.[0-9]{1,100})(?:[eE][-+][0-9]{1,3})?$"
    r"|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"
)
_WORD = re.compile(r"\.(?=[iInN])(.*)")
"""Infinity and NaN, which YAML writes behind a dot."""
_MERGE = re.compile(r"^<<$")


class PlainLoader(yaml.CSafeLoader):
    """Fast loader; raises `yaml.YAMLError` for a value that its tag forbids."""

    yaml_implicit_resolvers: Any = {}  # noqa: RUF012 - PyYAML's; its own rules are left out


class PatientLoader(yaml.SafeLoader):
    """Loader in Python: slower, but deep nesting ends in RecursionError, no crash."""

    yaml_implicit_resolvers: Any = {}  # noqa: RUF012


AnyLoader: TypeAlias = PlainLoader | PatientLoader


def _integer(loader: AnyLoader, node: yaml.ScalarNode) -> int:
    return int(_matching(loader, node, _INTEGER))


def _number(loader: AnyLoader, node: yaml.ScalarNode) -> float:
    text = str(node.value)
    return float(text if _INTEGER.match(text) else _WORD.sub(r"\1", _matching(loader, node, _NUMBER)))


def _truth(loader: AnyLoader, node: yaml.ScalarNode) -> bool:
    return _matching(loader, node, _BOOL).lower() == "true"


def _text(loader: AnyLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


def _matching(loader: AnyLoader, node: yaml.ScalarNode, form: re.Pattern[str]) -> str:
    text = _text(loader, node) if isinstance(node, yaml.ScalarNode) else ""
    if not form.match(text):
        raise yaml.constructor.ConstructorError(
            problem=f"{text[:40]!r} is not what its tag says", problem_mark=node.start_mark
        )
    return text


for _kind, _form, _starts in (
    ("bool", _BOOL, "tTfF"),
    ("null", _NULL, ["~", "n", "N", ""]),
    ("int", _INTEGER, "-+0123456789"),
    ("float", _NUMBER, "-+.0123456789"),
    ("merge", _MERGE, "<"),
):
    for _loader in (PlainLoader, PatientLoader):
        _loader.add_implicit_resolver(f"{_TAG}{_kind}", _form, list(_starts))
for _kind, _maker in (
    ("bool", _truth),
    ("int", _integer),
    ("float", _number),
    ("timestamp", _text),
    ("binary", _text),
):
    for _loader in (PlainLoader, PatientLoader):
        _loader.add_constructor(f"{_TAG}{_kind}", _maker)


def parsed_yaml(text: str) -> Any:
    """Return the values of a YAML document.

    Raises
    ------
    yaml.YAMLError
        If it is none, or a value is not what its tag says.
    """
    return yaml.load(text, Loader=PlainLoader)  # noqa: S506 - it makes plain values only, as the safe one
