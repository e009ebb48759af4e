"""The folder of an agreement: what `prefcal agree` writes into it and the report reads from it."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from calibration.agree.study import AgreementTables
from metrics.errors import input_fault
from metrics.files import write_whole

AGREEMENT, COMPARISONS, CURVE, PAIRS = "agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv"
DISAGREEMENTS = "disagreements.csv"
RECORD = "agree.json"


def write_agreement(
    found: AgreementTables, folder: str | Path, record: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Write the tables and, as agree.json, how they were made; each file appears whole or not at all.

    Parameters
    ----------
    found : AgreementTables
        The result.
    folder : str or Path
        Made where it does not exist.
    record : mapping, optional
        What the result was made from: paths, hashes, seed, command.

    Raises
    ------
    InputError
        If the folder or a file cannot be written.
    """
    folder = Path(folder)
    texts = {
        name: frame.to_csv(index=False, lineterminator="\n", float_format="%.13g")
        for name, frame in (
            (AGREEMENT, found.agreement),
            (COMPARISONS, found.comparisons),
            (CURVE, found.curve),
            (PAIRS, found.pairs),
            (DISAGREEMENTS, found.disagreements),
        )
    }
    named = {
        task: {"primary": one.primary, "compare": one.compare, "at_analysis": one.at_analysis}
        for task, one in found.wanted.items()
    }
    content = {
        "prefcal_version": version("prefcal"),
        **record,
        "named": named,
        "notes": list(found.notes),
    }
    texts[RECORD] = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise input_fault(
            f"the folder cannot be made ({error.strerror})", path=folder, cure="choose another place"
        ) from None
    for name, text in texts.items():
        write_whole(folder / name, text)


def file_record(path: str | Path | None) -> dict[str, str] | None:
    """Return {path, sha256} of an input file, None for none."""
    if path is None:
        return None
    return {"path": str(path), "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}


def read_result(folder: Path, name: str) -> pd.DataFrame | None:
    """Return one of the tables, None where the folder lacks it or it has no row.

    Raises
    ------
    InputError
        If the file is no CSV.
    """
    path = folder / name
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (UnicodeDecodeError, pd.errors.ParserError) as error:
        raise input_fault(
            f"not a CSV file ({error})", path=path, cure="write it anew with prefcal agree"
        ) from None
    return frame if len(frame) else None
