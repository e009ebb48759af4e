"""docs/agreement.md says what the code does."""

import doctest
from pathlib import Path

from calibration.agree.agree_tables import agree
from calibration.agree.folder import CORRELATION_COLUMNS, SCORE_COLUMNS
from calibration.agree.measures.kinds import KINDS
from calibration.agree.reading import READING_COLUMNS
from calibration.agree.score_sources import ScoreSources
from calibration.agree.task_agreement import COLUMNS as DISAGREEMENTS
from metrics.agreement.agreement import TIES
from metrics.agreement.correlation import COEFFICIENTS
from study_app.cli.results.agree import agree as agree_command
from tests.calibration.judged_summaries import study

DOC = Path(__file__).resolve().parents[1] / "docs" / "agreement.md"


def test_its_examples_are_true():
    """They are run."""
    result = doctest.testfile(str(DOC), module_relative=False)

    assert result.attempted >= 6
    assert result.failed == 0


def test_it_names_every_column_measure_option_convention_and_coefficient():
    """What is missing here cannot be looked up anywhere."""
    text = DOC.read_text(encoding="utf-8")
    found = agree(ScoreSources(tables=study(topics=2)))
    columns = [
        name
        for frame in (found.agreement, found.comparisons, found.curve, found.pairs)
        for name in frame.columns
        if not name.startswith("difference ")
    ]
    options = [name for option in agree_command.params for name in option.opts if name.startswith("--")]

    measures = [name for kind in KINDS.values() for name in kind.names if not name.startswith("M@500 ")]
    for name in (
        *columns,
        *DISAGREEMENTS,
        *SCORE_COLUMNS,
        *CORRELATION_COLUMNS,
        *READING_COLUMNS,
        *TIES,
        *COEFFICIENTS,
        *measures,
    ):
        assert f"`{name}`" in text, name
    for name in options:
        assert name in text or name == "--output", name
