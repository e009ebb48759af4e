"""The result of every fit: intervals chosen after it, draws, a summary, an entry of the user model."""

import json
import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from calibration.inference.formatting import format_interval
from calibration.inference.results import CalibrationResult, SkippedParameters, info, warning
from calibration.inference.uncertainty import Replicates, Scale, StudentT
from calibration.user_model.model import ParameterEntry

FIT = CalibrationResult(
    parameters=MappingProxyType({"patience_chars": 1234.567890123456}),
    unit="counted characters",
    method="highest agreement",
    uncertainty=MappingProxyType(
        {
            "bootstrap": Replicates(values=np.linspace(1000, 1500, 501)[:, None]),
            "t": StudentT(centre=np.array([1234.0]), cov=np.array([[100.0]]), df=7),
        }
    ),
    n_workers=60,
    n_rows=1176,
    loglik=-12.5,
    details=MappingProxyType({"agreement": 0.75}),
    diagnostics=(warning("weak", "Look twice."), info("how", "By a grid.")),
)
UNBOUNDED = CalibrationResult(
    parameters=MappingProxyType({"patience_chars": math.inf}),
    unit="counted characters",
    method="stops",
    uncertainty=MappingProxyType({}),
    n_workers=1,
    n_rows=3,
)


def test_level_and_method_are_chosen_after_the_fit():
    """The first method is the default; the data are not needed again."""
    assert FIT.conf_int()["patience_chars"] == pytest.approx((1012.5, 1487.5))
    assert FIT.conf_int(0.5)["patience_chars"] == pytest.approx((1125, 1375))
    assert FIT.conf_int(method="t")["patience_chars"] == pytest.approx(
        (1234 - 23.646, 1234 + 23.646), abs=1e-3
    )


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_share(level):
    """95 for 0.95 is a slip that would give an interval of any width."""
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\)"):
        FIT.conf_int(level)


def test_an_unknown_method_is_answered_with_those_there_are():
    """Each fit has its own."""
    with pytest.raises(ValueError, match="no interval method 'wald'; this fit has bootstrap, t"):
        FIT.conf_int(method="wald")


def test_without_ingredients_an_interval_is_open_and_draws_are_refused():
    """Data that allow no interval give none; draws from nothing would be certainty."""
    assert UNBOUNDED.conf_int() == {"patience_chars": (None, None)}
    with pytest.raises(ValueError, match="the data allow no interval"):
        UNBOUNDED.draw_parameters(3, np.random.default_rng(0))
    with pytest.raises(ValueError, match="the data allow no interval"):
        _ = UNBOUNDED.cov


def test_draws_are_named_as_the_parameters():
    """So that a metric can be computed once for each."""
    draws = FIT.draw_parameters(100, np.random.default_rng(0))

    assert list(draws) == ["patience_chars"]
    assert draws["patience_chars"].shape == (100,)


def test_a_dictionary_is_what_stands_in_the_user_model():
    """Ten digits, null for what is infinite or open, ready for JSON."""
    entry = FIT.to_dict()["parameters"]["patience_chars"]

    assert entry["estimate"] == 1234.567890
    assert ParameterEntry.model_validate(entry) == FIT.entries()["patience_chars"]
    assert UNBOUNDED.to_dict()["parameters"]["patience_chars"]["estimate"] is None
    assert UNBOUNDED.to_dict()["parameters"]["patience_chars"]["interval"] == [None, None]
    assert json.loads(json.dumps(FIT.to_dict(), allow_nan=False)) == FIT.to_dict()


def test_a_summary_tells_people_what_they_need():
    """Estimate with unit, the interval and how it was made, how much data, what to look out for."""
    assert FIT.summary().splitlines() == [
        "patience_chars: 1235 [1012, 1488] counted characters",
        "highest agreement; 95 % intervals: bootstrap",
        "60 workers, 1176 rows, log-likelihood -12.50, AIC 27.00",
        "agreement = 0.75",
        "warning: Look twice.",
        "info: By a grid.",
    ]


MIXED = CalibrationResult(
    parameters=MappingProxyType({"lateness_decay": 0.8, "lateness_p0": 0.5}),
    unit="per visit late",
    units=MappingProxyType({"lateness_p0": "probability"}),
    method="likelihood",
    uncertainty=MappingProxyType(
        {
            "delta": StudentT(
                centre=np.array([math.log(0.8), 0.0]),
                cov=np.array([[0.01, 0.02], [0.02, 0.16]]),
                df=math.inf,
                scale=(Scale.LOG, Scale.LOGIT),
            ),
            "other": StudentT(centre=np.array([0.8, 0.5]), cov=np.eye(2), df=9),
        }
    ),
    n_workers=20,
    n_rows=400,
    n_censored=30,
    loglik=-100.0,
    n_free=3,
)


def test_standard_errors_are_on_the_scale_of_the_parameters():
    """By the delta method: sd of log x times x, sd of logit p times p (1 - p)."""
    assert MIXED.se == pytest.approx({"lateness_decay": 0.1 * 0.8, "lateness_p0": 0.4 * 0.25})
    assert MIXED.natural_cov == pytest.approx(np.array([[0.0064, 0.004], [0.004, 0.01]]))
    inverse = StudentT(centre=np.array([0.0]), cov=np.eye(1), df=9, scale=Scale.INVERSE)
    endless = replace(UNBOUNDED, uncertainty=MappingProxyType({"t": inverse}))
    assert math.isnan(endless.se["patience_chars"])


def test_aic_counts_every_number_that_was_fitted():
    """Nuisance parameters too; without a likelihood there is none."""
    assert MIXED.aic == 2 * 3 + 200
    assert FIT.aic == 2 + 25
    assert UNBOUNDED.aic is None


def test_each_parameter_has_its_unit_whatever_its_language():
    """A fit may mix them."""
    japanese = MIXED.for_language("ja")

    assert list(japanese.parameters) == ["lateness_decay[ja]", "lateness_p0[ja]"]
    assert [japanese.unit_of(name) for name in japanese.parameters] == ["per visit late", "probability"]
    assert MIXED.entries()["lateness_p0"].unit == "probability"


def test_another_interval_can_be_made_the_default():
    """The others stay; a method that the fit does not have changes nothing."""
    assert list(MIXED.preferring("other").uncertainty) == ["other", "delta"]
    assert MIXED.preferring("other").conf_int() == MIXED.conf_int(method="other")
    assert MIXED.preferring("bootstrap") == MIXED


def test_diagnostics_can_be_added():
    """By whoever knows more than the fit did."""
    assert FIT.with_diagnostics(info("more", "And this.")).diagnostics[-1].name == "more"


def test_censored_rows_are_counted_in_the_summary():
    """How much of the data is only a bound."""
    assert "20 workers, 400 rows (30 censored), log-likelihood -100.00, AIC 206.00" in MIXED.summary()


def test_a_result_cannot_be_changed():
    """What was fitted stays what was fitted."""
    with pytest.raises(AttributeError):
        FIT.n_rows = 3


def test_open_ends_are_printed_as_such():
    """Never as nan or inf."""
    assert format_interval((840.123, None)) == "at least 840.1"
    assert format_interval((None, 2.0)) == "at most 2"
    assert format_interval((None, None)) == "no interval"
    assert format_interval((0.0, None)) == "cannot be told"


def test_what_was_skipped_is_one_line_that_begins_with_the_names():
    """As it stands on stderr."""
    assert str(SkippedParameters(names=("a", "b"), reason="no table")) == "a, b: no table"
