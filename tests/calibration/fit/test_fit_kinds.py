"""What is said of what was not found: a line for each thing that the tables could have told, one for the rest."""

import pandas as pd
import pytest

from calibration.fit.kinds import about_what_was_asked
from calibration.inference.results import SkippedParameters
from calibration.tables.study_json import StudyRecord

ROW = pd.DataFrame({"worker": ["W"]})
NO_ROW = ROW.iloc[:0]
FAMILIES = {
    "away": SkippedParameters(names=("away_mean_seconds", "away_sd_seconds"), reason="few visits"),
    "lateness": SkippedParameters(names=("lateness_decay", "lateness_p0"), reason="no answers"),
    "reading": SkippedParameters(
        names=("reading_speed_mu[ja]", "reading_speed_sigma[ja]"), reason="few reads"
    ),
    "summaries": SkippedParameters(
        names=("patience_chars_preferences", "patience_chars_grid"), reason="no table positions"
    ),
    "stops": SkippedParameters(names=("patience_chars_stops",), reason="no table stops"),
    "lists": SkippedParameters(names=("rbp_p",), reason="no ranked list"),
    "push": SkippedParameters(names=("push_P_E", "push_S_E"), reason="no table push_cells"),
    "intents": SkippedParameters(names=("intents",), reason="no table intent_votes"),
}


def said(tables, record=None, skipped=None) -> tuple[list[str], str | None]:
    """Return which families are spoken of, and the line about the others."""
    lines = about_what_was_asked(skipped or FAMILIES.values(), tables, record)
    own = [name for name, one in FAMILIES.items() if str(one) in lines]
    rest = [line for line in lines if line not in {str(one) for one in FAMILIES.values()}]
    assert len(rest) <= 1
    return own, next(iter(rest), None)


def recorded(*kinds: str) -> StudyRecord:
    return StudyRecord.model_validate(
        {"study": "s", "tasks": {f"t{n}": {"kind": k} for n, k in enumerate(kinds)}}
    )


@pytest.mark.parametrize(
    ("table", "families"),
    [
        ("visits", ["away", "lateness"]),
        ("lateness", ["away", "lateness"]),
        ("reads", ["reading"]),
        ("positions", ["summaries"]),
        ("stops", ["stops"]),
        ("push_cells", ["push"]),
        ("intent_votes", ["intents"]),
        ("preferences", ["summaries", "push"]),
        ("workers", []),
    ],
)
def test_a_table_with_rows_puts_its_families_in_question(table, families):
    """Preferences alone may be of summaries or of push streams; whose they are, the other table says."""
    own, rest = said({table: ROW})

    assert own == families
    assert rest is not None


def test_preferences_of_push_streams_are_none_of_summaries():
    """Their cells say so; and the other way round."""
    assert said({"preferences": ROW, "push_cells": ROW})[0] == ["push"]
    assert said({"preferences": ROW, "positions": ROW})[0] == ["summaries"]


def test_study_json_says_which_kinds_were_run():
    """Then a table that is missing is one that could have told something."""
    assert said({}, recorded("stream_visits"))[0] == ["away", "lateness", "reading"]
    assert said({"preferences": ROW}, recorded("ranked_pairs"))[0] == ["reading", "lists"]
    assert said({"preferences": ROW}, recorded("summary_pairs"))[0] == ["reading", "summaries", "stops"]


def test_a_table_without_rows_is_no_sign_of_a_study():
    """Exports write the header of what nobody filled."""
    assert said({"visits": NO_ROW, "stops": ROW})[0] == ["stops"]


def test_one_line_names_the_kinds_that_were_not_run():
    """It begins with the parameters, as the others do."""
    _, rest = said({"visits": ROW, "reads": ROW, "positions": ROW, "stops": ROW})

    assert rest == (
        "rbp_p, push_*, intents: nothing to fit them from: these tables have no ranked lists that somebody read (table stops), "
        "no judged push streams (stream_pairs), no votes on intents (intent_votes)"
    )


def test_stops_in_ranked_lists_are_none_in_texts():
    """A study of lists alone asks nobody about patience with texts."""
    assert said({"stops": ROW.assign(ranks=10)})[0] == ["lists"]


def test_nothing_is_said_of_kinds_when_all_that_is_missing_could_have_been_told():
    """The line is about what was skipped."""
    assert said({"stops": ROW}, skipped=[FAMILIES["stops"]]) == (["stops"], None)


def test_an_unexpected_error_is_always_told():
    """It may hide that the tables had something."""
    one = SkippedParameters(names=("intents",), reason="an error", unexpected=True)

    assert about_what_was_asked([one], {"stops": ROW}, None) == ["intents: an error"]
