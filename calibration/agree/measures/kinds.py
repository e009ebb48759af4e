"""The kinds of pairs that prefcal has measures for: one value a kind, with all that differs between them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from calibration.agree.evidence import Evidence, Scorer, ShownTexts
from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.ranked import ranked_scorer, ranked_texts
from calibration.agree.measures.streams import stream_scorer, stream_texts
from calibration.agree.measures.summaries import summary_scorer, summary_texts
from calibration.patience.grid import PAPER_PATIENCE
from calibration.tables.sources import TaskSources
from metrics.ranked.named import ranked_measure
from metrics.registry import Measure, parse_measure, short_number


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKind:
    """How the systems of one kind of task are scored, and what their measures are called.

    Attributes
    ----------
    classes : tuple of str
        The measures of the registry that give one of its systems a score, the more the better.
    names : frozenset of str
        What tables call its measures, whether or not files and model for them are there; without the mark of converted ones.
    scorer : callable
        Reads what scores the systems of a task; see `calibration.agree.evidence.Scorer`.
    texts : callable
        Reads what people were shown.
    endings : tuple of (str, str, str)
        Parameter, value and what it adds to the name of a measure, in the order in which they stand there.
    with_depth : bool
        Its names end in the depth of the lists, and ``names`` has them at depth 10.
    reads : callable
        Reads a measure that is named as the registry prints it, or otherwise.
    """

    classes: tuple[str, ...]
    names: frozenset[str]
    scorer: Callable[[JudgedTask, Evidence, Mapping[str, Measure]], Scorer]
    texts: Callable[[JudgedTask, TaskSources], ShownTexts]
    endings: tuple[tuple[str, str, str], ...] = ()
    with_depth: bool = False
    reads: Callable[[str], Measure] = parse_measure


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
            scorer=summary_scorer,
            texts=summary_texts,
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
            scorer=stream_scorer,
            texts=stream_texts,
        ),
        "ranked_pairs": PairKind(
            classes=(
                *("TIANDCG", "TIAP", "TIAERR", "TIAAP", "TSBR", "TIASBR"),
                *("IANDCG", "IAP", "IAERR", "SBR", "RBP"),
            ),
            names=frozenset(
                {"TIA-nDCG@10", "TIA-P@10", "TIA-ERR@10", "TIA-AP", "T-SBR@10", "TIA-SBR@10"}
                | {"IA-nDCG@10", "IA-P@10", "IA-ERR@10", "SBR@10"}
                | {"TIA-nDCG@10 fitted P", "TIA-ERR@10 fitted P", "TIA-SBR@10 fitted P"}
                | {"RBP@fitted"}
            ),
            scorer=ranked_scorer,
            texts=ranked_texts,
            with_depth=True,
            reads=ranked_measure,
        ),
    }
)
"""Kind of task -> what scores it; a task of another kind has only the measures of --scores."""
