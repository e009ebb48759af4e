"""Turn the published ground truth of the SIGIR 2010 data into scores that prefcal reads.

    python examples/sigir2010/scores.py DATA/MTurk.qrel -o scores.csv

The judgments themselves are read by `prefcal import`; the README beside this file has the whole command.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from calibration.tables.files import csv_text
from metrics.errors import FaultLog, InputError
from metrics.files import write_atomically
from metrics.readers.lines import rows

FIELDS = ("system", "query", "document", "group")


def scores(path: Path) -> pd.DataFrame:
    """Return the ground truth as scores: minus the number of the group, so that the first group is best.

    Raises
    ------
    InputError
        If the file cannot be read as UTF-8, or a line does not have four fields with a whole number at the end.
    """
    log = FaultLog(path)
    found = []
    for line, (_, query, document, group) in rows(FIELDS, log):
        if group.isdigit():
            found.append((document, query, "group", -int(group)))
        else:
            log.add(f"the group is {group!r}", line=line, cure="write a whole number")
    log.raise_if_any()
    return pd.DataFrame(found, columns=["run", "topic", "metric", "value"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and convert; 1 when the data have faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="MTurk.qrel")
    parser.add_argument("-o", "--output", type=Path, required=True, help="CSV to write")
    options = parser.parse_args(arguments)
    try:
        found = scores(options.file)
        write_atomically(options.output, csv_text(found))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.output}: {len(found)} scores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
