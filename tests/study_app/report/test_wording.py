"""How the report writes numbers."""

import math

import pytest

from study_app.report import page as say


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (say.percent(0.8271), "82.7\u202f%"),
        (say.percent(math.nan), "–"),
        (say.percent_interval(0.76, 0.894), "76.0 to 89.4\u202f%"),
        (say.percent_interval(math.nan, math.nan), "no interval"),
        (say.points(0.0361), "+3.6"),
        (say.points(-0.226), "−22.6"),
        (say.points(-0.0001), "0.0"),
        (say.decimal(-0.001), "0.00"),
        (say.points_interval(-0.024, 0.071), "−2.4 to +7.1"),
        (say.p_value(0.0004), "< 0.001"),
        (say.p_value(0.0321), "0.032"),
        (say.p_value(math.nan), "–"),
        (say.quantity(1500.0), "1\u202f500"),
        (say.quantity(0.01234), "0.0123"),
        (say.quantity(-2.5), "−2.5"),
        (say.quantity(0), "0"),
        (say.quantity(math.inf), "∞"),
        (say.quantity(None), "–"),
        (say.quantity_interval(520.0, None), "520 to open"),
        (say.quantity_interval(None, None), "no interval"),
        (say.pluralise(1, "query", "queries"), "1 query"),
        (say.pluralise(1234, "pair"), "1\u202f234 pairs"),
        (say.stretch([0.1, 0.2, 0.3], [False, True, False], say.decimal, before="L = "), "at L = 0.20"),
        (say.stretch([0.1, 0.2, 0.3], [False, True, True], say.decimal), "from 0.20 to 0.30"),
        (
            say.stretch([0.1, 0.2, 0.3], [True, False, True], say.decimal),
            "in several places from 0.10 to 0.30",
        ),
    ],
)
def test_numbers_read_well(written, expected):
    """True minus signs, spaces that do not break, a dash for what is unknown."""
    assert written == expected
