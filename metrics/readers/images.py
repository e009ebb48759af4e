"""Files that name the pictures of systems for topics.

The pictures themselves are not opened here.

| file | content |
|---|---|
| images | ``{"topic": ID, "image": PATH, "alt": TEXT?}`` a line |

PATH is relative to the file in which it stands. ``alt`` says in words what there is to see, for whoever does not see it. Files are UTF-8, plain or
packed. A system need not have a picture of every topic.
"""

from dataclasses import dataclass
from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.answers import has_members
from metrics.readers.texts import json_objects

IMAGE = ("topic", "image", "alt")
IMAGE_FORM = 'write {"topic": ID, "image": PATH, "alt": TEXT} on one line'


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenImage:
    """Picture as a file names it: path as written, alternative text, line.

    The alternative text may be empty.
    """

    path: str
    alt: str
    line: int


def read_images(path: str | Path) -> dict[str, GivenImage]:
    """Read one system's picture of each topic, in the order of the file.

    Topic ids are kept as written.

    Raises
    ------
    InputError
        With every fault: a line is not UTF-8 or not JSON; a member is missing, not known or no text; a topic or a picture's path is
        empty; a topic stands twice; or if there is no picture.
    """
    log = FaultLog(path)
    images: dict[str, GivenImage] = {}
    for line, plain in json_objects(log, IMAGE_FORM):
        if not has_members(plain, IMAGE, IMAGE[:2], "the picture", IMAGE_FORM, line, log):
            continue
        topic, image = plain["topic"].strip(), plain["image"].strip()
        if not topic or not image:
            missing = "topic" if not topic else "file"
            log.add(f"a picture without a {missing}", line=line, cure=IMAGE_FORM)
        if topic in images:
            cure = "delete one of the two lines; each system has a file of its own"
            log.add(f"topic {topic} has a picture above", line=line, cure=cure)
        images[topic] = GivenImage(path=image, alt=" ".join((plain.get("alt") or "").split()), line=line)
    if not images and not log.faults:
        log.add("there are no pictures", line=1, cure=IMAGE_FORM)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    return images
