"""Small judged pictures within a report, from the unchanged files of the study."""

import hashlib
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from PIL import Image, ImageOps

from calibration.tables.study_json import StudyRecord

MAX_PIXELS = 320
"""Largest longer side in pixels; a page displays it at half of that."""
QUALITY = 75


class PictureCell(str):
    """Words for a picture as tables write them; on the page below the picture."""

    __slots__ = ("address",)
    address: str

    @classmethod
    def of(cls, words: str, picture: bytes) -> "PictureCell":
        """Return the words with a picture as JPEG."""
        cell = cls(words)
        cell.address = f"data:image/jpeg;base64,{b64encode(picture).decode()}"
        return cell

    def __html__(self) -> str:
        """Return the picture and its words as HTML, for Jinja."""
        return str(Markup('<img src="{}" alt=""> {}').format(self.address, str(self)))


def with_pictures(
    disagreements: pd.DataFrame | None, media: pd.DataFrame | None, study: StudyRecord | None, tables: Path
) -> pd.DataFrame | None:
    """Replace texts that stand for pictures by `PictureCell` in disagreements.

    It does so only where the file is unchanged since the study.

    Parameters
    ----------
    disagreements, media : DataFrame or None
        Of prefcal agree; table media.
    study : StudyRecord or None
        Names the files of systems, as they are seen from ``tables``; theirs name the pictures.
    tables : Path
        Folder of the tables.
    """
    if disagreements is None or media is None or study is None:
        return disagreements
    files = {(row["task"], row["topic"], row["system"]): row for row in media.to_dict("records")}

    def cell(row: dict[Any, Any], side: str) -> object:
        words = row[f"text_{side}"]
        file = files.get((row["task"], row["topic"], row[f"system_{side}"]))
        system = None if file is None else study.tasks[row["task"]].systems.get(file["system"])
        if file is None or system is None or not isinstance(file.get("path"), str):
            return words
        picture = _small((tables / system.path).parent / file["path"], file.get("source_sha256"))
        return words if picture is None else PictureCell.of(words, picture)

    rows = disagreements.to_dict("records")
    return disagreements.assign(
        **{
            f"text_{side}": pd.Series([cell(row, side) for row in rows], disagreements.index, dtype=object)
            for side in ("a", "b")
        }
    )


def _small(path: Path, sha256: object) -> bytes | None:
    """Return a picture as a small JPEG, or None where its file has changed."""
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            return None
        with Image.open(BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as image:
            upright = ImageOps.exif_transpose(image).convert("RGBA")
    except (OSError, ValueError, SyntaxError):
        return None
    upright.thumbnail((MAX_PIXELS, MAX_PIXELS))
    paper = Image.new("RGB", upright.size, "white")
    paper.paste(upright, mask=upright.getchannel("A"))
    stream = BytesIO()
    paper.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()
