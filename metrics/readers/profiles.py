"""Interest profiles, as people read them: title, description, narrative.

| form | where |
|---|---|
| ``<top>`` blocks with ``<num>``, ``<title>``, ``<desc>``, ``<narr>`` | TREC Microblog, such as 2015 |
| JSON list of objects with ``topid``, ``title``, ``description``, ``narrative`` | TREC Real-Time Summarization, such as 2016 |

Which of the two a file has is told by its first character. Files are UTF-8, plain or gzip. No measure needs them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.json_tree import Node, read_json
from metrics.readers.lines import read_bytes, text_lines

TAG = re.compile(r"<(/?)([A-Za-z]+)>")
LABEL = re.compile(r"(?:Number|Description|Narrative):\s*")
"""What stands before the text in the tracks' own files."""

FORM = "write <top> <num> Number: TOPIC <title> TITLE <desc> TEXT <narr> TEXT </top> for each, or a JSON list of objects"
MEMBERS = 'write {"topid": TOPIC, "title": TITLE, "description": TEXT, "narrative": TEXT}'
OBJECT_OF_TAG = {"num": "topid", "title": "title", "desc": "description", "narr": "narrative"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What somebody wants to be told of; ``description`` and ``narrative`` may be empty."""

    title: str
    description: str
    narrative: str


def read_profiles(path: str | Path) -> dict[str, Profile]:
    """Read the profiles, by topic as written, in the order of the file.

    White space counts as one blank wherever it stands. A comma after the last member of an object or list is no fault, since the
    track's file of 2016 has some.

    Raises
    ------
    InputError
        With every fault: a line is not UTF-8; the file is not JSON, or its JSON has another form; a topic has no id, has no
        title, is not closed or stands twice; there is no topic.
    """
    log = FaultLog(path)
    is_json = read_bytes(path).lstrip()[:1] in {b"[", b"{"}
    profiles: dict[str, Profile] = {}
    for line, parts in _from_json(log) if is_json else _from_blocks(log):
        topic = parts["topid"]
        if topic in profiles:
            log.add(f"topic {topic} stands twice", line=line, cure="delete one of the two")
        if not parts["title"]:
            log.add(f"topic {topic} has no title", line=line, cure="write a few words that name the interest")
        profiles[topic] = Profile(
            title=parts["title"], description=parts["description"], narrative=parts["narrative"]
        )
    if not profiles and not log.faults:
        log.add("there are no topics", line=1, cure=FORM)
    log.raise_if_any()
    return profiles


def _from_blocks(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each block's line and its parts under the names of the JSON form."""
    for line, fields in _blocks(log):
        parts = {
            name: " ".join(LABEL.sub("", fields.get(tag, "").strip(), count=1).split())
            for tag, name in OBJECT_OF_TAG.items()
        }
        if parts["topid"]:
            yield line, parts
        else:
            log.add("a topic without its number", line=line, cure="write <num> Number: TOPIC")


def _blocks(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each ``<top>`` block's line and the text after each of its tags."""
    begun, fields, tag = 0, dict[str, str](), ""
    for line, text in text_lines(log.path, log):
        before, *rest = TAG.split(text)
        if begun and tag:
            fields[tag] = f"{fields.get(tag, '')} {before}"
        for closing, name, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            if name == "top":
                if begun and not closing:
                    _note_open(begun, log)
                if begun and closing:
                    yield begun, fields
                begun, fields, tag = (0 if closing else line), {}, ""
            elif begun:
                tag = "" if closing else name
                fields[name] = f"{fields.get(name, '')} {after}" if tag else fields.get(name, "")
    if begun:
        _note_open(begun, log)


def _note_open(line: int, log: FaultLog) -> None:
    log.add("a topic that is not closed", line=line, cure="write </top> at its end")


def _from_json(log: FaultLog) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each object's line and its parts."""
    document = read_json(log, trailing_commas=True)
    if not isinstance(document.value, list):
        log.add("the topics are no list", line=document.line, cure=f"write [TOPIC, ...]; {MEMBERS}")
        return
    for node in document.value:
        parts = {name: _text(node, name, log) for name in OBJECT_OF_TAG.values()}
        if parts["topid"]:
            yield node.line, parts
        else:
            log.add("a topic without its topid", line=node.line, cure=MEMBERS)


def _text(node: Node, name: str, log: FaultLog) -> str:
    """Return a member that is text, empty when there is none."""
    member = node.value.get(name) if isinstance(node.value, dict) else None
    if member is None or member.value is None:
        return ""
    if not isinstance(member.value, str):
        log.add(f"{name} is no text", line=member.line, cure="write it in quotes")
        return ""
    return " ".join(member.value.split())
