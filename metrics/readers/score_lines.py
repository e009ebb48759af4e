"""Forms of lines of scores without a header, as evaluation tools print them.

The values show which field is the metric.

| fields | what prints them |
|---|---|
| metric value | ir_measures |
| metric topic value | trec_eval -q, pytrec_eval's and pyserini's commands |
| topic metric value | ir_measures -q |
| run metric topic value | autojudge-evaluate (tot) |
| run topic metric value | autojudge-evaluate (ir_measures) |

Fields are separated by tabs or, in a line without a tab, by blanks. What the values do not tell has to be said.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from metrics.errors import FaultLog
from metrics.readers.lines import NUMBER, SORTS
from metrics.results import is_mean

RUN, TOPIC, METRIC, VALUE = "run", "topic", "metric", "value"
TREC_EVAL, IR_MEASURES, IR_MEANS = (METRIC, TOPIC, VALUE), (TOPIC, METRIC, VALUE), (METRIC, VALUE)
TOT, RUN_FIRST = (RUN, METRIC, TOPIC, VALUE), (RUN, TOPIC, METRIC, VALUE)
PRINTED_BY = {
    TREC_EVAL: "trec_eval prints",
    IR_MEASURES: "ir_measures -q prints",
    IR_MEANS: "ir_measures prints",
    TOT: "autojudge-evaluate prints",
    RUN_FIRST: "autojudge-evaluate prints",
}
"""Tools that print each form of line."""
RUN_ID = "runid"
TEXTS = re.compile(r"relstring(?:_[0-9]+)?")
"""Metrics of trec_eval whose values are texts."""
OF_TREC_EVAL = re.compile(r"runid|relstring(?:_[0-9]+)?|11pt_avg|num_(?:q|ret|rel|rel_ret|nonrel_judged_ret)")
AT_DEPTH = re.compile(r"\S+@(?:[0-9.]+|inf)|[pr]_[0-9]+|set_[prf]", re.IGNORECASE)
QUOTED = re.compile(r"'.*'")
WORDS = frozenset(
    [
        "acc",
        "accuracy",
        "ap",
        "auc",
        "bertscore",
        "bing",
        "bleu",
        "bpm",
        "bpref",
        "compat",
        "compatibility",
        "completeness",
        "correctness",
        "coverage",
        "dcg",
        "elg",
        "err",
        "faithfulness",
        "fscore",
        "gain",
        "gm",
        "gmap",
        "groundedness",
        "hit",
        "hitrate",
        "hits",
        "idcg",
        "infap",
        "inst",
        "insq",
        "iprec",
        "judged",
        "mae",
        "map",
        "mrr",
        "msu",
        "ncg",
        "ndcg",
        "nerr",
        "nnrbp",
        "nrbp",
        "nugget",
        "nuggets",
        "num",
        "numq",
        "numrel",
        "numrelret",
        "numret",
        "prec",
        "precision",
        "rbo",
        "rbp",
        "recall",
        "recip",
        "relevance",
        "rmse",
        "rndcg",
        "rouge",
        "rprec",
        "rr",
        "score",
        "sdcg",
        "setap",
        "setf",
        "setp",
        "setr",
        "silence",
        "strec",
        "strecall",
        "success",
        "support",
        "tau",
        "utility",
    ]
)
"""Words that occur in names of metrics."""
PEEKED_LINES = 1_000
PREAMBLE_LINES = 50
RESULTS, COMMAND = "Results:", "Running command:"
"""Lines that pyserini's command prints before those of trec_eval."""
UNDEFINED = "nan"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineForm:
    """Meaning of each field of a line of scores.

    Attributes
    ----------
    columns : tuple of str
        ``run``, ``topic``, ``metric`` and ``value`` in the order of the fields.
    start : int
        Line of the file on which the scores begin, from 1.
    """

    columns: tuple[str, ...]
    start: int = 1

    def __str__(self) -> str:
        """Format as ``trec_eval prints (metric, topic, value)``."""
        return f"{PRINTED_BY.get(self.columns, 'a tool prints')} ({', '.join(self.columns)})"


def fields_of(text: str) -> list[str]:
    """Split a line at tabs, or at blanks if it has no tab."""
    return [field.strip() for field in text.split("\t")] if "\t" in text else text.split()


def looks_like_metric(name: str) -> bool:
    """Return whether a name resembles a metric's: ``map``, ``P@5``, ``RBP(p=0.8)``.

    Others are ``ndcg_cut_10`` and ``nugget_coverage``.
    """
    if OF_TREC_EVAL.fullmatch(name) or AT_DEPTH.fullmatch(name):
        return True
    return not WORDS.isdisjoint(re.findall("[a-z]+", name.partition("(")[0].lower()))


def line_form(
    lines: Sequence[str], log: FaultLog, *, columns: Sequence[str] | None = None, cure: str
) -> LineForm | None:
    """Recognise the form of lines by their values.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file, all or `PEEKED_LINES` of them.
    log : FaultLog
        Of the file.
    columns : sequence of str, optional
        What the fields are, where that is known already.
    cure : str
        How to say it, where the values do not tell: ``--columns {columns}``.

    Returns
    -------
    LineForm or None
        None where the lines are no scores without a header: a table with one, or something else.

    Raises
    ------
    InputError
        If they are lines of scores, and nobody can tell which field is which; or lines of another sort.
    """
    start = _preamble(lines)
    rows = [(text, fields_of(text)) for text in lines[start:] if text.strip()]
    if columns is not None:
        return LineForm(columns=tuple(columns), start=start + 1)
    counts = Counter(len(fields) for _, fields in rows)
    width = counts.most_common(1)[0][0] if counts else 0
    alike = [(text, fields) for text, fields in rows if len(fields) == width]
    if width < 2 or 2 * sum(_ends_in_value(fields) for _, fields in alike) <= len(alike):
        return None
    first_text, first = rows[0]
    if len(first) == width and not any(map(is_value, first)) and not _ends_in_value(first):
        if not {"\t", ","} & {*first_text}:
            _refuse_header(first, start + 1, log)
        return None
    names = [list(dict.fromkeys(fields[index] for _, fields in alike)) for index in range(width)]
    _check_sort(names, start + 1, log)
    is_padded = any(" \t" in text for text, _ in alike)
    order = _order(names, is_padded=is_padded)
    if order is None:
        forms = [form for form in PRINTED_BY if len(form) == width]
        among = " or ".join(f"{', '.join(form)} ({PRINTED_BY[form].split()[0]})" for form in forms)
        log.add(
            f"lines of {width} fields, of which none is a metric by its values: {among}",
            line=start + 1,
            cure=f"say which: {' or '.join(cure.format(columns=','.join(form)) for form in forms)}",
        )
        log.raise_if_any()
    return None if order is None else LineForm(columns=order, start=start + 1)


def _preamble(lines: Sequence[str]) -> int:
    """Count the lines before the scores that pyserini's command prints."""
    first = [text.strip() for text in lines[:PREAMBLE_LINES]]
    if RESULTS in first:
        return first.index(RESULTS) + 1
    return int(bool(first) and first[0].startswith(COMMAND))


def is_value(field: str) -> bool:
    """Return whether a field is the value of a score: a number, or ``nan``."""
    return NUMBER.fullmatch(field) is not None or field.lower() == UNDEFINED


def _ends_in_value(fields: Sequence[str]) -> bool:
    """Return whether the last field is a value of a score."""
    return is_value(fields[-1]) or QUOTED.fullmatch(fields[-1]) is not None or RUN_ID in fields[:-1]


def _refuse_header(header: Sequence[str], line: int, log: FaultLog) -> None:
    log.add(
        f"a header ({', '.join(header)}) and fields that are separated by blanks",
        line=line,
        cure="separate them by commas",
    )
    log.raise_if_any()


def _check_sort(names: Sequence[Collection[str]], line: int, log: FaultLog) -> None:
    """Raise if lines are judgments, or have too many fields for scores."""
    width = len(names)
    if width == 4 and all(one.lower() in {"0", "q0"} for one in names[1]):
        sort = "a file of judgments"
    elif width > 4:
        sort = SORTS.get(width, "no known file of scores")
    else:
        return
    log.add(
        f"each line has {width} fields, as {sort} has",
        line=line,
        cure="name a file of scores: run,topic,metric,value, or what an evaluation tool prints",
    )
    log.raise_if_any()


def _order(names: Sequence[Sequence[str]], *, is_padded: bool) -> tuple[str, ...] | None:
    """Return the meaning of each field, or None if the values are ambiguous."""
    if len(names) == 2:
        return IR_MEANS if any(map(looks_like_metric, names[0])) else None
    is_first = _is_metric_first(*names[-3:-1], is_padded=is_padded and len(names) == 3)
    if is_first is None:
        return None
    first, second = (TREC_EVAL, IR_MEASURES) if len(names) == 3 else (TOT, RUN_FIRST)
    return first if is_first else second


def _is_metric_first(one: Sequence[str], other: Sequence[str], *, is_padded: bool) -> bool | None:
    """Return whether the first of two fields is the metric; None if ambiguous.

    The second field is then the topic.

    Rows of trec_eval's own (``runid``, ``num_q``) decide, then means (``all``), which are topics, then the names of metrics, then
    the blanks by which trec_eval fills up a metric.
    """
    own = [any(map(OF_TREC_EVAL.fullmatch, names)) for names in (one, other)]
    if own[0] != own[1]:
        return own[0]
    means = [any(map(is_mean, names)) for names in (one, other)]
    if means[0] != means[1]:
        return means[1]
    shares = [sum(map(looks_like_metric, names)) / len(names) for names in (one, other)]
    for index in (0, 1):
        if shares[index] and (not shares[1 - index] or (shares[index] == 1 and shares[1 - index] < 0.5)):
            return index == 0
    return True if is_padded else None
