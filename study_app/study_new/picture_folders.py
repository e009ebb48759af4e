"""Folders of pictures without a file that names them.

It drafts the file that names them if their names are topics; otherwise it gives the reason.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from metrics.errors import pluralise
from study_app.study_new.recognise import RecognisedFile, Unknown

OF_TOPICS = frozenset(("id text", "id word", "windows"))
"""Forms that a file of topics can have."""


def picture_folders(
    pictures: Sequence[Path], others: Sequence[Path], recognised: Sequence[RecognisedFile]
) -> Iterator[RecognisedFile | Unknown]:
    """Yield the file to write about each folder of unnamed pictures, or a reason.

    Parameters
    ----------
    pictures, others : sequence of Path
        Every picture, and every other file.
    recognised : sequence of RecognisedFile
        Of the others those that are something known.
    """
    named = {
        os.path.normpath(file.path.parent.absolute() / row[1])
        for file in recognised
        if file.form == "images"
        for row in file.rows
    }
    folders: dict[Path, list[Path]] = {}
    for picture in pictures:
        if os.path.normpath(picture.absolute()) not in named:
            folders.setdefault(picture.parent, []).append(picture)
    topics = [{row[0] for row in file.rows} for file in recognised if file.form in OF_TOPICS]
    mixed = {path.parent for path in others}
    for folder, inside in folders.items():
        listing = folder.parent / f"{folder.name}.jsonl"
        lines = [{"topic": path.stem, "image": f"{folder.name}/{path.name}"} for path in inside]
        doubt = _doubt(inside, topics)
        if folder in mixed:
            doubt = "other files stand beside them"
        elif os.path.lexists(listing):
            doubt = f"{listing.name} is there already"
        if doubt:
            example = json.dumps({**lines[0], "alt": "..."}, ensure_ascii=False)
            yield Unknown(
                path=folder,
                why=f"{pluralise(len(inside), 'picture')} that no file names, and {doubt}; "
                f"a file beside this folder would name one with {example}",
            )
        else:
            yield RecognisedFile(
                path=listing,
                form="images",
                rows=tuple((line["topic"], line["image"]) for line in lines),
                draft="".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
            )


def _doubt(pictures: Sequence[Path], topics: Sequence[set[str]]) -> str:
    """Return why names of a system's pictures are no topics, or nothing."""
    stems = [path.stem for path in pictures]
    if not topics:
        return "there is no file of topics, lines `topic TAB what was asked for`"
    nearest = max(topics, key=lambda names: len(names.intersection(stems)))
    strange = [path.name for path in pictures if path.stem not in nearest]
    if strange:
        return f"{strange[0]} is called like no topic; with one folder a system and names like TOPIC.png such a file is written for you"
    twice = [stem for stem in stems if stems.count(stem) > 1]
    return f"two are called like topic {twice[0]}" if twice else ""
