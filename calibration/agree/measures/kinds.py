"""Kinds of pairs that have measures, one value a kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

from metrics.ranked.named import ranked_measure
from metrics.registry import Measure, parse_measure, short_number
from metrics.summaries.score import PAPER_PATIENCE

if TYPE_CHECKING:
    from calibration.agree.judged_task import JudgedTask
    from calibration.agree.score_sources import Scorer, ScoreSources, ShownTexts
    from calibration.tables.sources import TaskSources


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKind:
    """Measures of one kind of task: classes, names, and scoring module.

    Attributes
    ----------
    classes : tuple of str
        Classes of the registry that score a system of this kind; a higher score is better.
    names : frozenset of str
        Names of the measures in tables, whether or not their files and model are given; without the suffix of converted ones.
    module : str
        Module of ``scorer`` and ``texts``, imported at the first call: a study file names measures too, and needs none of the scoring
        code.
    endings : tuple of (str, str, str)
        Parameter, value, and the ending that they add to the name of a measure, in the order of the endings.
    with_depth : bool
        True if names end in the depth of the lists; ``names`` has those of depth 10.
    reads : callable
        Parser of the name of a measure.
    """

    classes: tuple[str, ...]
    names: frozenset[str]
    module: str
    endings: tuple[tuple[str, str, str], ...] = ()
    with_depth: bool = False
    reads: Callable[[str], Measure] = parse_measure

    def scorer(self, task: "JudgedTask", evidence: "ScoreSources", named: Mapping[str, Measure]) -> "Scorer":
        """Build the scorer of a task's systems from its files."""
        scorer: Scorer = import_module(self.module).scorer(task, evidence, named)
        return scorer

    def texts(self, task: "JudgedTask", sources: "TaskSources") -> "ShownTexts":
        """Read the texts that workers saw."""
        texts: ShownTexts = import_module(self.module).texts(task, sources)
        return texts


_M_ENDINGS = (
    ("layers", "first", " first layer only"),
    ("layers", "second", " second layers only"),
    ("intents", "uniform", " uniform P"),
    ("intents", "fitted", " fitted P"),
)
_M_AT_DEFAULT = tuple(f"M@{short_number(patience)}" for patience in PAPER_PATIENCE.values())

KINDS: Mapping[str, PairKind] = MappingProxyType(
    {
        "summary_pairs": PairKind(
            classes=("MMeasure",),
            names=frozenset(
                map("".join, product(_M_AT_DEFAULT, ("", *(ending for *_, ending in _M_ENDINGS))))
            )
            | {"M@preferences", "M@grid", "M@stops"},
            module="calibration.agree.measures.summaries",
            endings=_M_ENDINGS,
        ),
        "stream_pairs": PairKind(
            classes=(
                *("ELG", "NCG", "T11U", "Contingency", "SilencePrecision", "SilenceRecall"),
                *("ExpectedGain", "ExpectedLatencyGain", "NormalisedGain", "NormalisedLatencyGain"),
                *("Comprehensiveness", "LatencyComprehensiveness", "HarmonicMean", "MSU", "MSUPerSecond"),
            ),
            names=frozenset(
                {"ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U", "MSU@0.5", "ELG", "LC", "HM"}
                | {"T11U@preferences", "Contingency@preferences", "MSU@fitted"}
            ),
            module="calibration.agree.measures.streams",
        ),
        "ranked_pairs": PairKind(
            classes=(
                *("TIANDCG", "TIAP", "TIAERR", "TIAAP", "TSBR", "TIASBR"),
                *("IANDCG", "IAP", "IAERR", "SBR", "RBP", "Compat"),
            ),
            names=frozenset(
                {"TIA-nDCG@10", "TIA-P@10", "TIA-ERR@10", "TIA-AP", "T-SBR@10", "TIA-SBR@10"}
                | {"IA-nDCG@10", "IA-P@10", "IA-ERR@10", "SBR@10"}
                | {"TIA-nDCG@10 fitted P", "TIA-ERR@10 fitted P", "TIA-SBR@10 fitted P"}
                | {"RBP@fitted"}
            ),
            module="calibration.agree.measures.ranked",
            with_depth=True,
            reads=ranked_measure,
        ),
        "answer_pairs": PairKind(
            classes=(
                *("NuggetsAll", "NuggetsAllStrict", "NuggetsVital", "NuggetsVitalStrict", "NuggetsWeighted"),
                *("CitationPrecision", "CitationRecall", "Support", "SupportStrict"),
                *("CitedSentences", "Words"),
            ),
            names=frozenset(
                {"nuggets-all", "nuggets-all-strict", "nuggets-vital", "nuggets-vital-strict"}
                | {"nuggets-weighted", "citation-precision", "citation-recall"}
                | {"support", "support-strict", "cited-sentences", "words"}
            ),
            module="calibration.agree.measures.answers",
        ),
    }
)
"""Measures by kind of task; other kinds have the measures of --scores alone."""
