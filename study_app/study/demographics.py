"""What a platform knows of people and a study may keep: named in the study file, said in the consent text, and nothing else.

The paragraph that names the columns is part of the text that workers agree to, so the hash of each consent tells which columns it named.
"""

import re
from collections.abc import Iterable, Sequence

PARAGRAPH = {
    "en": (
        "The site from which you come knows more about you. Of that, the following is kept with your answers, and may be published with them: ",
        ".",
    ),
    "ja": (
        "参加元のサイトが持つあなたの情報のうち、次の項目を回答とともに保存し、回答とあわせて公開することがあります：",
        "。",
    ),
}
"""What stands before and after the names of the columns, by language."""
BETWEEN = "; "
IDS = frozenset(
    [
        "participantid",
        "participant",
        "workerid",
        "prolificpid",
        "connectid",
        "surveycode",
        "surveyid",
        "submissionid",
        "assignmentid",
        "sessionid",
        "id",
        "pid",
        "uuid",
        "email",
        "emailaddress",
        "mail",
        "name",
        "fullname",
        "firstname",
        "lastname",
        "surname",
        "phone",
        "phonenumber",
        "address",
        "ip",
        "ipaddress",
        "completioncode",
        "enteredcode",
    ]
)
"""Names of columns that identify people, in small letters and without blanks and marks: these are never kept."""


def demographics_paragraph(columns: Sequence[str], language: str) -> str:
    """Return the paragraph of a consent text that names the columns to keep."""
    before, after = PARAGRAPH[language]
    return f"{before}{BETWEEN.join(columns)}{after}"


def named_demographics(text: str) -> frozenset[str]:
    """Return the columns that a consent text names, none without such a paragraph."""
    names: set[str] = set()
    for paragraph in map(str.strip, text.split("\n\n")):
        for before, after in PARAGRAPH.values():
            if paragraph.startswith(before) and paragraph.endswith(after):
                names.update(paragraph.removeprefix(before).removesuffix(after).split(BETWEEN))
    return frozenset(names)


def identifying(columns: Iterable[str]) -> list[str]:
    """Return the columns whose names say that they identify people."""
    return [name for name in columns if re.sub(r"[^a-z0-9]", "", name.lower()) in IDS]
