"""docs/agreement.md says what the code does."""

import doctest
from pathlib import Path

from calibration.agree import agree
from calibration.evidence import Evidence
from metrics.agreement import TIES
from metrics.correlation import COEFFICIENTS
from study_app.cli.agree import command
from tests.calibration.judged_summaries import study

DOC = Path(__file__).resolve().parents[1] / "docs" / "agreement.md"


def test_its_examples_are_true():
    """They are run."""
    result = doctest.testfile(str(DOC), module_relative=False)

    assert result.attempted >= 6
    assert result.failed == 0


def test_it_names_every_column_option_convention_and_coefficient():
    """What is missing here cannot be looked up anywhere."""
    text = DOC.read_text(encoding="utf-8")
    found = agree(Evidence(tables=study(topics=2)))
    columns = [
        name
        for frame in (found.agreement, found.comparisons, found.curve, found.pairs)
        for name in frame.columns
        if not name.startswith("difference ")
    ]
    options = [name for option in command.params for name in option.opts if name.startswith("--")]

    for name in (*columns, *TIES, *COEFFICIENTS):
        assert f"`{name}`" in text, name
    for name in options:
        assert name in text or name == "--output", name
