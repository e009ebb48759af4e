"""Content of a task with pictures: topics, and each system's checked pictures."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from metrics.errors import Fault, FaultLog, join_names, pluralise
from metrics.readers.images import GivenImage, read_images
from metrics.readers.texts import AskedTopic, read_ranked_topics
from metrics.topic_ids import TopicNames
from study_app.protocol.sides import Block, Media, Side
from study_app.study.entries import collection_paths
from study_app.tasks.content import TaskContent, TopicContent, collect_faults, read_systems, source_files
from study_app.tasks.image_pairs import ImagePairs
from study_app.tasks.reading.media_files import MediaError, media_bytes, media_reader
from study_app.tasks.reading.pictures import check_bytes, read_picture, stripped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Images:
    """File of one system, and its pictures by topic.

    The pictures are those that the file names, and those for display.
    """

    path: Path
    given: Mapping[str, GivenImage]
    media: Mapping[str, Media]


def read_image_content(folder: Path, task: ImagePairs, faults: list[Fault]) -> TaskContent | None:
    """Read the files of one task; add faults to ``faults`` and return None then."""
    paths = collection_paths(task)
    asked = collect_faults(faults, partial(read_ranked_topics, folder / paths["topics"]))
    if asked is None:
        return None
    names = TopicNames(asked)
    whole = read_systems(
        folder, task.systems, faults, lambda path, _name: _system(path, names, paths["topics"])
    )
    if whole is None:
        return None
    if task.pairs_file is None:  # a couple that a file of pairs names on purpose is only warned of
        equal = list(_equal_pictures(asked, whole))
        if equal:
            faults += equal
            return None
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=topic.text) for name, topic in asked.items()),
        sides={
            (topic, name): _side(media, images.given[topic].alt)
            for name, images in whole.items()
            for topic, media in images.media.items()
        },
        media={
            media.sha256: media_reader(images.path, media, partial(_shown_bytes, images.path), "picture")
            for images in whole.values()
            for media in images.media.values()
        },
        tables={"media": _table(whole)},
        notes=tuple(_notes(asked, whole)),
    )


def _system(path: Path, names: TopicNames, topics_file: str) -> _Images:
    """Read one system's pictures by topic.

    Raises
    ------
    InputError
        As `read_images` does; else with every topic that the collection has not, and every picture that cannot be shown.
    """
    log = FaultLog(path)
    given: dict[str, GivenImage] = {}
    media: dict[str, Media] = {}
    for written, image in read_images(path).items():
        topic = names.find(written)
        if topic is None:
            cure = f"add it to {topics_file}, or delete the line"
            log.add(f"there is no topic {written}", line=image.line, cure=cure)
            continue
        try:
            given[topic], media[topic] = image, _media(path, image.path)
        except MediaError as error:
            log.add(f"{image.path}: {error.problem}", line=image.line, cure=error.cure)
    log.raise_if_any()
    return _Images(path=path, given=given, media=media)


def _media(listing: Path, written: str) -> Media:
    """Open a picture; raises `MediaError` where it cannot be shown."""
    data = media_bytes(listing, written, check_bytes)
    picture = read_picture(data)
    return Media(
        sha256=picture.sha256,
        source_sha256=hashlib.sha256(data).hexdigest(),
        mime=picture.mime,
        path=written,
        width=picture.width,
        height=picture.height,
    )


def _shown_bytes(listing: Path, written: str) -> bytes:
    return stripped(media_bytes(listing, written, check_bytes))[0]


def _equal_pictures(topics: Mapping[str, AskedTopic], systems: Mapping[str, _Images]) -> Iterator[Fault]:
    """Yield a fault for each picture that another system has for the same topic.

    Workers could prefer neither.
    """
    for topic in topics:
        first: dict[str, str] = {}
        for name, images in systems.items():
            media = images.media.get(topic)
            if media is not None and first.setdefault(media.sha256, name) != name:
                yield Fault(
                    problem=f"{media.path}: {name} and {first[media.sha256]} show the same picture of topic {topic}",
                    cure="take the topic out of one of the two, or name the pairs to judge in a file (pairs)",
                    path=str(images.path),
                    line=images.given[topic].line,
                )


def _side(media: Media, alt: str) -> Side:
    return Side((Block(key="m1", id=media.sha256, kind="media", media=media, alt=alt),))


def _table(systems: Mapping[str, _Images]) -> bytes:
    """Return table media, without the column task, as Parquet."""
    import pandas as pd  # noqa: PLC0415 - slow to import, and only pictures need it here

    rows = [
        {"topic": topic, "system": name, "media": media.sha256, "source_sha256": media.source_sha256, "path": media.path,
         "mime": media.mime, "width": media.width, "height": media.height, "alt": images.given[topic].alt}
        for name, images in systems.items()
        for topic, media in images.media.items()
    ]  # fmt: skip
    content: bytes = pd.DataFrame(rows).to_parquet()
    return content


def _notes(topics: Mapping[str, AskedTopic], systems: Mapping[str, _Images]) -> Iterator[str]:
    """Return notes on topics without a picture, and on pictures without a text."""
    for name, images in systems.items():
        silent = [topic for topic in topics if topic not in images.media]
        if silent:
            yield f"{name}: no picture of {pluralise(len(silent), 'topic')} of {len(topics)}: {join_names(silent)}"
        undescribed = [topic for topic, image in images.given.items() if not image.alt]
        if undescribed:
            yield f"{name}: {pluralise(len(undescribed), 'picture')} without alt, which a screen reader cannot describe: {join_names(undescribed)}"
