"""Effectiveness measures of summaries, streams, pushes, ranked lists and answers.

Knows neither `calibration` nor `study_app`. Readers of files live in `metrics.readers`, one measure family in
each other module.
"""

import importlib
from collections.abc import Callable
from collections.abc import Collection as AnyCollection
from typing import TYPE_CHECKING, Any

__all__ = [
    "ELG",
    "IAERR",
    "IANDCG",
    "IAP",
    "MSU",
    "NCG",
    "RBP",
    "SBR",
    "T11U",
    "TIAAP",
    "TIAERR",
    "TIANDCG",
    "TIAP",
    "TIASBR",
    "TSBR",
    "AnswerCollection",
    "AnswerRun",
    "AnswerSentence",
    "CitationPrecision",
    "CitationRecall",
    "CitedSentences",
    "Collection",
    "Compat",
    "Comprehensiveness",
    "Contingency",
    "Created",
    "Event",
    "EventCollection",
    "ExpectedGain",
    "ExpectedLatency",
    "ExpectedLatencyGain",
    "ExpectedVerbosity",
    "Fault",
    "GivenUsers",
    "HarmonicMean",
    "IUnit",
    "InputError",
    "JudgedNugget",
    "LatencyComprehensiveness",
    "Link",
    "MMeasure",
    "MSUPerSecond",
    "MSUStandardError",
    "MSUSweep",
    "Match",
    "Measure",
    "NormalisedGain",
    "NormalisedLatencyGain",
    "Nugget",
    "NuggetsAll",
    "NuggetsAllStrict",
    "NuggetsVital",
    "NuggetsVitalStrict",
    "NuggetsWeighted",
    "Population",
    "PushCell",
    "PushCollection",
    "PushRun",
    "Query",
    "RankedCollection",
    "RankedRun",
    "Run",
    "SilencePrecision",
    "SilenceRecall",
    "SimulatedUsers",
    "Summary",
    "Support",
    "SupportStrict",
    "SweepGrid",
    "UMeasure",
    "Update",
    "UpdateCount",
    "UpdateRun",
    "Words",
    "agreements",
    "all_measures",
    "bootstrap_interval",
    "compare",
    "correlate",
    "kendall_tau_b",
    "measure",
    "read_answer_collection",
    "read_answer_run",
    "read_events",
    "read_lengths",
    "read_push_collection",
    "read_push_run",
    "read_ranked_collection",
    "read_ranked_run",
    "read_summary_collection",
    "read_summary_run",
    "read_sweep",
    "read_trails",
    "read_update_run",
    "score_answers",
    "score_intents",
    "score_msu",
    "score_push",
    "score_push_days",
    "score_ranked",
    "score_summaries",
    "score_updates",
    "summary_positions",
    "sweep_msu",
    "tau_ap",
]


def lazily(
    package: str, names: AnyCollection[str], *modules: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__` that import its names on use.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : collection of str
        Its ``__all__``.
    *modules : str
        Where they stand: `.score` is in the package. The first that has a name in its ``__all__``, or at all where it has none, is
        taken; what comes first is imported first.
    """

    def get(name: str) -> Any:
        if name in names:
            for module in modules:
                imported = importlib.import_module(module, package)
                if name in getattr(imported, "__all__", vars(imported)):
                    return getattr(imported, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(names)


if TYPE_CHECKING:
    from metrics.agreement import agreements, bootstrap_interval, compare, correlate, kendall_tau_b, tau_ap
    from metrics.answers import (
        AnswerCollection,
        AnswerRun,
        AnswerSentence,
        CitationPrecision,
        CitationRecall,
        CitedSentences,
        JudgedNugget,
        NuggetsAll,
        NuggetsAllStrict,
        NuggetsVital,
        NuggetsVitalStrict,
        NuggetsWeighted,
        Support,
        SupportStrict,
        Words,
        score_answers,
    )
    from metrics.errors import Fault, InputError
    from metrics.events import Event, EventCollection, Match, Nugget, Update, UpdateRun
    from metrics.msu import (
        MSU,
        GivenUsers,
        MSUPerSecond,
        MSUStandardError,
        Population,
        SimulatedUsers,
        score_msu,
    )
    from metrics.push import (
        ELG,
        NCG,
        T11U,
        Contingency,
        Created,
        PushCell,
        PushCollection,
        PushRun,
        SilencePrecision,
        SilenceRecall,
        score_push,
        score_push_days,
    )
    from metrics.ranked import (
        IAERR,
        IANDCG,
        IAP,
        RBP,
        SBR,
        TIAAP,
        TIAERR,
        TIANDCG,
        TIAP,
        TIASBR,
        TSBR,
        Compat,
        RankedCollection,
        RankedRun,
        score_ranked,
    )
    from metrics.readers import (
        read_answer_collection,
        read_answer_run,
        read_events,
        read_lengths,
        read_push_collection,
        read_push_run,
        read_ranked_collection,
        read_ranked_run,
        read_summary_collection,
        read_summary_run,
        read_trails,
        read_update_run,
    )
    from metrics.registry import Measure, all_measures, measure
    from metrics.summaries import (
        Collection,
        IUnit,
        Link,
        MMeasure,
        Query,
        Run,
        Summary,
        UMeasure,
        score_intents,
        score_summaries,
        summary_positions,
    )
    from metrics.sweep import MSUSweep, SweepGrid, read_sweep, sweep_msu
    from metrics.updates import (
        Comprehensiveness,
        ExpectedGain,
        ExpectedLatency,
        ExpectedLatencyGain,
        ExpectedVerbosity,
        HarmonicMean,
        LatencyComprehensiveness,
        NormalisedGain,
        NormalisedLatencyGain,
        UpdateCount,
        score_updates,
    )
else:
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        ".errors",
        ".registry",
        ".events",
        ".summaries",
        ".push",
        ".updates",
        ".msu",
        ".ranked",
        ".answers",
        ".agreement",
        ".readers",
        ".sweep",
    )
