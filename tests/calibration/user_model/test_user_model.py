"""user-model.json: what a fit writes, what a hand may write, and what is refused."""

import json

import pytest

from calibration.user_model.model import (
    Diagnostic,
    IntentEntry,
    JointEntry,
    ParameterEntry,
    UserModel,
    read_user_model,
    write_user_model,
)
from metrics.errors import InputError

MODEL = UserModel(
    study="demo",
    tables_sha256="0" * 64,
    prefcal_version="0.1.0",
    seed=1,
    parameters={
        "patience_chars": ParameterEntry(
            estimate=None,
            interval=(840.5, None),
            unit="counted characters",
            method="preferences",
            workers=60,
            rows=1176,
            diagnostics=(Diagnostic(name="infinite", severity="warning", sentence="No decay."),),
        ),
        "patience_chars_stops[ja]": ParameterEntry(estimate=500.0),
    },
    joint=(
        JointEntry(names=("away_mean_seconds", "away_sd_seconds"), covariance=((0.01, 0.002), (0.002, 0.04))),
    ),
    intents={"q": {"i": IntentEntry(estimate=1.0, interval=(0.9, 1.0), raw=None)}},
)


def refused(path, text: str) -> list[str]:
    """Return the faults of a user model with this text."""
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_user_model(path)
    return [str(fault).replace(str(path), "FILE") for fault in error.value.faults]


def test_what_is_written_is_read_back(tmp_path):
    """An infinite estimate and an open end are null and come back as such."""
    write_user_model(MODEL, tmp_path / "m.json")

    assert read_user_model(tmp_path / "m.json").model_dump() == MODEL.model_dump()
    parameter = json.loads((tmp_path / "m.json").read_text())["parameters"]["patience_chars"]
    assert (parameter["estimate"], parameter["interval"]) == (None, [840.5, None])


def test_the_file_has_the_documented_shape(tmp_path):
    """Other programs read it: names and order of the keys are a contract."""
    write_user_model(MODEL, tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())

    assert content["format"] == "prefcal-user-model/1"
    assert " ".join(content) == "format study tables_sha256 prefcal_version seed parameters joint intents"
    assert (
        " ".join(content["parameters"]["patience_chars"])
        == "estimate interval level unit method workers rows diagnostics"
    )
    assert list(content["intents"]["q"]["i"]) == ["estimate", "interval", "raw"]
    assert list(content["joint"][0]) == ["names", "scale", "covariance"]


def test_a_hand_may_write_the_truth_of_a_simulated_crowd(tmp_path):
    """Estimates alone are enough; a block for the simulation is not ours and is passed over."""
    (tmp_path / "truth.json").write_text(
        '{"format": "prefcal-user-model/1", "parameters": {"patience_chars": {"estimate": 840}},'
        ' "behaviour": {"quit": 0.1}}'
    )

    assert read_user_model(tmp_path / "truth.json").parameters["patience_chars"].estimate == 840.0


def test_every_fault_has_its_line_key_and_cure(tmp_path):
    """A misspelt parameter names the nearest one: taken as absent, it would change every score."""
    text = """{
 "format": "prefcal-user-model/1",
 "seed": -1,
 "parameters": {
  "patience_char": {"estimate": 840},
  "patience_chars[ja]": {"estimate": "840"},
  "lateness_p0": {}
 },
 "intents": {"q": {"i": {"estimate": 2}}}
}"""

    assert refused(tmp_path / "m.json", text) == [
        "FILE:3: seed is -1; it should be greater than or equal to 0",
        "FILE:5: parameters.patience_char: there is no parameter of this name; did you mean 'patience_chars'?",
        'FILE:6: parameters.patience_chars[ja].estimate is "840"; it should be a valid number',
        (
            "FILE:7: 'estimate' is missing in parameters.lateness_p0; "
            "write the file with prefcal fit, or as docs/calibration.md says"
        ),
        "FILE:9: intents.q.i.estimate is 2; it should be less than or equal to 1",
    ]


def test_a_name_like_no_other_is_answered_with_all_of_them(tmp_path):
    """The list is short enough to print."""
    text = '{"format": "prefcal-user-model/1", "parameters": {"zzz": {"estimate": 1}}}'

    assert "known are away_mean_seconds, away_sd_seconds," in refused(tmp_path / "m.json", text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"parameters": {}}',
        '{"format": "prefcal-user-model/2"}',
        '{"format": "prefcal-user-model/1", "parameters": {"patience_chars": {"estimate": NaN}}}',
        '{"format": "prefcal-user-model/1", "parameters": {"patience_chars": {"estimate": Infinity}}}',
    ],
)
def test_what_is_no_user_model_is_an_input_error(text, tmp_path):
    """The format is part of the file; infinity is null, NaN is nothing."""
    assert refused(tmp_path / "m.json", text)[0].startswith("FILE:1: ")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_model_holds_no_nan_and_no_infinity(number):
    """JSON has neither: what is infinite is None, and what is undefined is no estimate."""
    with pytest.raises(ValueError, match="finite number"):
        ParameterEntry(estimate=number)
    with pytest.raises(ValueError, match="finite number"):
        ParameterEntry(estimate=1.0, interval=(0.5, number))
