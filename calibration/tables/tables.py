"""Definitions of the tidy tables: columns, meanings, and rules of rows.

Only definitions stand here. `calibration.tables.files` reads and writes them as CSV and Parquet and reports
faults with file, row and cure. The shapes are a contract with logs from elsewhere: they do not change lightly.
"""

from collections.abc import Callable
from functools import partial
from types import MappingProxyType

import pandas as pd

from calibration.tables.definition import Column, ColumnType, RowRule, Table, in_order, is_same, is_unknown

_text = partial(Column, kind=ColumnType.TEXT)
_number = partial(Column, kind=ColumnType.NUMBER, low=0.0)
_integer = partial(Column, kind=ColumnType.INTEGER, low=0)
_flag = partial(Column, kind=ColumnType.FLAG)
_time = partial(Column, kind=ColumnType.TIME)
_system = partial(_text, "system", "Name of the system in the study file.")
_task = partial(_text, "task", "Name of the task in the study file.")
_WORKER = _text("worker", "Pseudonym of the worker, the same in every table of a study.", required=True)
_TOPIC = _text(
    "topic", "Query, event or interest profile, as the collection's topics file names it.", required=True
)
_LANGUAGE = _text("language", "Language of the texts: en, ja.")
_LAYOUT = _text("layout", "How the two texts stood on the screen.", choices=("side_by_side", "stacked"))
CHOICES = ("left", "right", "equally_good", "equally_bad")
"""What a person may answer about a pair."""
JUDGE_CHOICES = ("no_answer", "contradicts")
"""What besides may stand for a judge that is no person: nothing usable, or another answer when the sides were exchanged."""
JUDGE_KIND = "model"
"""Column kind of table workers for a judge that is no person."""
DEMOGRAPHIC = "demographic_"
"""How columns of table workers begin that a platform filled in (prefcal demographics)."""
SIDES = ("left", "right")
GOLD = ("left", "right", "equally_good")
"""Known answers of gold pairs."""
MAX_STRENGTH = 3
"""The largest strength: the outermost of seven grades."""
DRAWS = ("uniform", "adaptive")
"""How a pair was drawn: whatever the answers before were, or by them."""
END_REASONS = ("left", "idle", "exhausted", "lost", "study_end")
SHARE_TOLERANCE = 0.01
"""Largest difference from 1 of a topic's summed probabilities, as in a collection."""


def _ends_before(start: str, end: str) -> Callable[[pd.DataFrame], "pd.Series[bool]"]:
    return lambda frame: (frame[end] < frame[start]).fillna(value=False)


def _has_odd_strength(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Return rows whose strength contradicts the choice: 0 for a side, or more for neither."""
    is_sided = frame["choice"].isin(SIDES)
    return (frame["strength"].gt(0) != is_sided).fillna(value=False) & frame["strength"].notna()


_STRENGTH_RULE = RowRule(
    broken=_has_odd_strength,
    problem="strength is 0 of a choice for a side, or above 0 of a choice for neither",
    cure="write 1 to 3 beside left and right, 0 beside equally_good and equally_bad, or leave it empty",
)


def _repeats_gold(frame: pd.DataFrame) -> "pd.Series[bool]":
    gold = frame["judgment"][frame["gold"].notna()]
    return frame["validation_of"].notna() & (
        frame["gold"].notna() | frame["validation_of"].isin(gold.dropna())
    )


def _shares_do_not_add_up(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Return the first probability of every topic whose sum is not 1.

    The tolerance is 0.01.
    """
    given = frame[frame["probability"].notna()]
    sums = given.groupby("topic")["probability"].sum()
    wrong = sums.index[(sums - 1).abs() > SHARE_TOLERANCE]
    first = given.index[given["topic"].isin(wrong) & ~given["topic"].duplicated()]
    return pd.Series(frame.index.isin(first), index=frame.index)


def _visits_overlap(frame: pd.DataFrame) -> "pd.Series[bool]":
    ordered = frame.sort_values(["worker", "topic", "start", "end"], kind="stable")
    stream = [ordered["worker"], ordered["topic"]]
    ended = ordered["end"].groupby(stream).cummax().groupby(stream).shift()
    return (ordered["start"] < ended).fillna(value=False).reindex(frame.index)


def couple_names(frame: pd.DataFrame) -> "pd.Series[str]":
    """Return `topic/system/system` of each row of preferences, systems sorted."""
    first, second = in_order(frame["system_left"], frame["system_right"])
    return frame["topic"].astype("str") + "/" + first + "/" + second


def visit_numbers(frame: pd.DataFrame) -> "pd.Series[int]":
    """Return the rank of each visit of its worker and topic, from 1.

    Visits are ordered by start and end.
    """
    ordered = frame.sort_values(["start", "end"], kind="stable")
    return ordered.groupby(["worker", "topic"], observed=True).cumcount().add(1).reindex(frame.index)


_TABLES = (
    Table(
        name="workers",
        doc="One row per worker. A worker who stands in another table only counts as not excluded, and as a person. Columns whose names begin with "
        "demographic_ hold what the platform knows of the worker.",
        key=("worker",),
        open_prefix=DEMOGRAPHIC,
        rules=(
            RowRule(
                broken=lambda frame: (
                    (frame["model"].notna() | frame["prompt_sha256"].notna()) & (frame["kind"] != JUDGE_KIND)
                ),
                problem="model or prompt_sha256 is filled in, and kind is not model",
                cure="write model as kind, or leave both empty for a person",
            ),
        ),
        columns=(
            _WORKER,
            _text("platform", "Where the worker came from, as the study file names it, such as generic."),
            _time("consented_at", "When the worker agreed to take part."),
            _time("completed_at", "When every required answer was stored."),
            _time("withdrawn_at", "When the worker took the consent back."),
            _number("mean_search_seconds", "Mean search time over the worker's queries."),
            _number("consistency", "Share of validation pairs answered alike.", high=1.0),
            _number(
                "gold_right",
                "Share of gold pairs, whose answer is known, answered right.",
                high=1.0,
                sparse=True,
            ),
            _flag("excluded", "Left out of fits and agreement by the study's exclusion rule."),
            _text("reason", "Which part of the rule excluded the worker."),
            _text(
                "ended_as",
                "How the worker's part ended: complete, screened_out, failed_checks, partial, withdrawn; else empty.",
            ),
            _text("flags", "Signs of carelessness that exclude nobody, such as dwell, straight_lining."),
            _text(
                "kind",
                "A person (also where the cell is empty), or a language model or rule, compared with people and never counted with them.",
                choices=("human", JUDGE_KIND),
                sparse=True,
            ),
            _text("model", "Kind model: which one judged, with its version.", sparse=True),
            _text("prompt_sha256", "Kind model: SHA-256 of the prompt.", sparse=True),
        ),
    ),
    Table(
        name="preferences",
        doc="One row per judgment: the newest revision of one answer to one showing of a pair.",
        key=("judgment",),
        rules=(
            RowRule(
                broken=lambda frame: is_same(frame["system_left"], frame["system_right"]),
                problem="system_left and system_right are the same system",
                cure="name the two systems that were compared",
            ),
            RowRule(
                broken=lambda frame: is_unknown(frame["validation_of"], frame["judgment"]),
                problem="validation_of names no judgment of this table",
                cure="write the judgment that this one repeats, or leave it empty",
            ),
            RowRule(
                broken=_repeats_gold,
                problem="it is a repeat, and it or what it repeats is a gold pair",
                cure="leave validation_of empty, or gold",
            ),
            _STRENGTH_RULE,
        ),
        columns=(
            _text("judgment", "Id of the judgment."),
            _text(
                "worker",
                "Pseudonym of the worker, the same in every table of a study. Without this column who judged is not known.",
                all_or_none=True,
            ),
            _task(required=True),
            _TOPIC,
            _text(
                "pair",
                "Id of the unordered couple of systems, the same whatever the sides. Without this column topic/system/system.",
                derived=couple_names,
            ),
            _text("system_left", "System shown on the left (or first).", required=True),
            _text("system_right", "System shown on the right (or second).", required=True),
            _text("choice", "The answer.", required=True, choices=CHOICES, judge_choices=JUDGE_CHOICES),
            _integer(
                "strength",
                "Graded choices: how much better the chosen side is, 1 slightly, 2 much (with seven grades 1, 2, 3); 0 for neither.",
                high=MAX_STRENGTH,
                sparse=True,
            ),
            _time("shown_at", "When the pair was shown."),
            _time("decided_at", "When the answer was stored."),
            _number("decision_seconds", "Seconds from showing to answer."),
            _integer("position", "Place of the pair among the worker's pairs of the task, from 1.", low=1),
            _LAYOUT,
            _text("timing", "Whose clock gave decision_seconds.", choices=("browser", "server")),
            _LANGUAGE,
            _integer("revision", "1 for a first answer, more when it was changed before finishing.", low=1),
            _flag("late", "Answered after its lease had gone to someone else."),
            _text("validation_of", "The judgment this one repeats, for a validation pair."),
            _integer(
                "text_version",
                "Which version of the topic's texts the page showed: 1 the first, 2 after the first time that one of them was mended, and so on.",
                low=1,
                sparse=True,
            ),
            _text(
                "gold",
                "Gold pairs: the known answer, by the sides shown. Such a judgment counts in no estimate.",
                choices=GOLD,
                sparse=True,
            ),
            _text("reason", "Why the worker chose so, in the worker's words.", sparse=True),
            _flag("silent_days_revealed", "Whether the page said which days were silent."),
            _number(
                "chance",
                "Adaptive pairs: the probability with which the pair was drawn, given earlier answers.",
                high=1.0,
            ),
            _text(
                "drawn",
                "Adaptive pairs: drawn independently of earlier answers, or by them. Adaptive ones count for worths and the best system only.",
                choices=DRAWS,
            ),
            _integer(
                "order",
                "Kind model: order of the pair, 1 or 2; empty where not known, or where the answer is over both.",
                low=1,
                high=2,
                sparse=True,
            ),
            _integer(
                "repeat",
                "Kind model: 1, 2, ...: number of the answer about the pair in this order.",
                low=1,
                sparse=True,
            ),
        ),
    ),
    Table(
        name="criteria",
        doc="One row per judgment and criterion that the worker was asked about beside the overall choice.",
        key=("judgment", "criterion"),
        rules=(_STRENGTH_RULE,),
        columns=(
            _text("judgment", "The judgment of table preferences that was given with it.", required=True),
            _text("criterion", "Name of the criterion in the study file.", required=True),
            _text(
                "choice",
                "The answer, by the sides of the judgment.",
                required=True,
                choices=CHOICES,
                judge_choices=JUDGE_CHOICES,
            ),
            _integer("strength", "As in table preferences.", high=MAX_STRENGTH, sparse=True),
        ),
    ),
    Table(
        name="intents",
        doc="Every intent that was offered, ticked or not.",
        key=("topic", "intent"),
        rules=(
            RowRule(
                broken=_shares_do_not_add_up,
                problem="it is the first probability of a topic whose probabilities do not add up to 1",
                cure="write shares, as 0.25 for a quarter, of all its intents, or leave all of them empty",
            ),
        ),
        columns=(
            _TOPIC,
            _text("intent", "Id of the intent.", required=True),
            _number("probability", "The collection's P(i|q); empty when there is none.", high=1.0),
        ),
    ),
    Table(
        name="intent_votes",
        doc="One row per tick. Each worker asked has a row per topic: with an empty intent when nothing was ticked.",
        key=("worker", "topic", "intent"),
        columns=(
            _WORKER,
            _TOPIC,
            _text("intent", "Intent ticked; empty: voted for none.", required=True, blank=True),
        ),
    ),
    Table(
        name="importance",
        doc="One row per rating of an iUnit for an intent by one assessor.",
        key=("worker", "topic", "intent", "iunit"),
        columns=(
            _WORKER,
            _TOPIC,
            _text("intent", "Intent assumed.", required=True),
            _text("iunit", "iUnit rated.", required=True),
            _number("rating", "0 unimportant to 4 highly important.", required=True, high=4.0),
        ),
    ),
    Table(
        name="searches",
        doc="Time spent searching for a query before judging.",
        columns=(
            _WORKER,
            _TOPIC,
            _number("seconds", "Server time from showing the search page to leaving it.", required=True),
        ),
    ),
    Table(
        name="answers",
        doc="Answers to the study's own questions.",
        columns=(
            _WORKER,
            _task(),
            _text("question", "Id of the question.", required=True),
            _text("value", "The answer as given.", required=True, blank=True),
        ),
    ),
    Table(
        name="follows",
        doc="One row per worker following a stream, from this worker's enrolment to the end; also for workers who never came.",
        key=("worker", "topic", "system"),
        rules=(
            RowRule(
                broken=_ends_before("started_at", "ended_at"),
                problem="ended_at is before started_at",
                cure="write the end of the study, or of the consent, never an earlier time",
            ),
        ),
        columns=(
            _WORKER,
            _TOPIC,
            _system(),
            _time("started_at", "This worker's own enrolment.", required=True),
            _time(
                "ended_at", "End of the study, or withdrawal if earlier; never the last visit.", required=True
            ),
            _time("last_seen_at", "A last sign of life, for a warning about drop-outs only."),
        ),
    ),
    Table(
        name="visits",
        doc="One row per stay in a stream, from opening to leaving, over all its pages.",
        key=("worker", "topic", "visit"),
        rules=(
            RowRule(
                broken=_ends_before("start", "end"),
                problem="end is before start",
                cure="write the last sign of activity of the visit",
            ),
            RowRule(
                broken=_visits_overlap,
                problem="the visit starts before an earlier one of this worker and topic ended",
                cure="unite visits that overlap, two tabs for example",
            ),
        ),
        columns=(
            _WORKER,
            _TOPIC,
            _system(),
            _integer(
                "visit",
                "Number of the visit within worker and topic, from 1. Without this column they are counted by start.",
                low=1,
                derived=visit_numbers,
            ),
            _time(
                "start",
                "Opening. A first visit that starts at the follow's started_at is the enrolment: it ends no time away.",
                required=True,
            ),
            _time("end", "The last sign of activity; set back to it for idle visits.", required=True),
            _time("stream_at", "Stream time of the opening."),
            _text(
                "end_reason",
                "left and idle are complete; exhausted, lost and study_end are right-censored.",
                required=True,
                choices=END_REASONS,
            ),
            _text("entry", "What brought the worker.", choices=("own", "reminder", "invitation")),
        ),
    ),
    Table(
        name="prompts",
        doc="Reminders and invitations sent to a worker.",
        columns=(_WORKER, _TOPIC, _time("sent_at", "When it was sent.", required=True)),
    ),
    Table(
        name="activity",
        doc="Signs of life of stream pages, from which visits can be cut anew.",
        columns=(
            _WORKER,
            _TOPIC,
            _system(),
            _text("page", "Id of the page load.", required=True),
            _time("at", "When.", required=True),
            _text(
                "kind",
                "What happened: the page opens, beats while it is in sight, is hidden, is visible again, is closed.",
                required=True,
                choices=("open", "beat", "hidden", "visible", "close"),
            ),
        ),
    ),
    Table(
        name="reads",
        doc="One row per page and item: how long an iUnit, link, update, picture or sound was on screen.",
        rules=(
            RowRule(
                broken=lambda frame: frame["words"].isna() & (frame["kind"] != "media"),
                problem="words is empty, and the item is no picture or sound",
                cure="write how many words it has",
            ),
        ),
        columns=(
            _WORKER,
            _TOPIC,
            _system(),
            _text("page", "Id of the page load.", required=True),
            _integer("visit", "The visit the page belongs to.", low=1),
            _text("judgment", "The judgment the page belongs to."),
            _text("side", "Side of the text.", choices=SIDES),
            _text(
                "item", "Id of the iUnit, link or update, or the hash of the picture or sound.", required=True
            ),
            _text("kind", "What the item is.", required=True, choices=("iunit", "link", "update", "media")),
            _integer(
                "words",
                "Whitespace tokens of the item; a picture or sound has none.",
                required=True,
                blank=True,
            ),
            _integer("chars", "Counted characters of the item."),
            _integer("end_offset_chars", "Counted characters of the text read up to the item's end."),
            _time("first_seen", "When the item first came on screen."),
            _time("stream_at", "Stream time of first_seen."),
            _number(
                "dwell_seconds",
                "Visible and focused time; divided by visible words while several items are on screen.",
                required=True,
            ),
            _flag("fully_seen", "The whole item was on screen at some time."),
            _flag("interrupted", "The visit ended while this item was being read."),
            _LANGUAGE,
        ),
    ),
    Table(
        name="stops",
        doc="One row per text: how far it was read, in counted characters in trailtext order, and in ranks where it is a ranked list.",
        rules=(
            RowRule(
                broken=lambda frame: (frame["rank_read"] > frame["ranks"]).fillna(
                    frame["rank_read"].isna() != frame["ranks"].isna()
                ),
                problem="rank_read is beyond ranks, or one of them is given without the other",
                cure="write the rank of the last entry seen and the number of entries of a ranked list; of another text neither",
            ),
            RowRule(
                broken=lambda frame: frame["chars_read"] > frame["text_chars"],
                problem="chars_read is above text_chars: more was read than the text has",
                cure="write both in the same unit, counted characters, with the layers of the text opened",
            ),
            RowRule(
                broken=lambda frame: frame["chars_least"] > frame["chars_read"],
                problem="chars_least is above chars_read",
                cure="write the characters before the top of the last screen, or leave it empty",
            ),
        ),
        columns=(
            _WORKER,
            _TOPIC,
            _system(),
            _text("page", "Id of the page load."),
            _text("judgment", "The judgment the text belongs to."),
            _text("side", "Side of the text.", choices=SIDES),
            _LAYOUT,
            _number("chars_read", "Counted characters up to the furthest point seen.", required=True),
            _number(
                "chars_least",
                "Counted characters before the top of the last screen: the reader came at least so far; empty: chars_read is exact.",
            ),
            _number(
                "text_chars", "Counted characters of the whole text with the layers opened.", required=True
            ),
            _flag("reached_end", "The end of the text was seen: the stop is right-censored.", required=True),
            _integer("opened", "Second layers opened."),
            _integer(
                "rank_read",
                "Ranked lists: rank of the furthest entry seen, 0 for none; empty for other texts.",
            ),
            _integer("ranks", "Ranked lists: how many entries it has; empty for other texts.", low=1),
            _LANGUAGE,
        ),
    ),
    Table(
        name="lateness",
        doc="One row per answer to the question whether an update was still of use.",
        columns=(
            _WORKER,
            _TOPIC,
            _text("nugget", "The one new nugget of the update.", required=True),
            _integer("visits_late", "Visits between the nugget's time and its reading.", required=True),
            _flag("useful", "The answer.", required=True),
        ),
    ),
    Table(
        name="media",
        doc="One row per picture, sound or film that a system showed of a topic.",
        key=("task", "topic", "system"),
        columns=(
            _task(required=True),
            _TOPIC,
            _system(required=True),
            _text("media", "SHA-256 of the bytes that were shown: `item` of table reads.", required=True),
            _text("source_sha256", "SHA-256 of the file."),
            _text("path", "The file, as the system's file names it."),
            _text("mime", "Type of what was shown, such as image/png."),
            _integer("width", "Pixels from left to right, as shown; empty for a sound.", low=1),
            _integer("height", "Pixels from top to bottom, as shown; empty for a sound.", low=1),
            _text("alt", "What it shows, in words."),
        ),
    ),
    Table(
        name="positions",
        doc="Each iUnit that the trailtext of an intent meets in a system's summary, at its first place.",
        key=("task", "topic", "system", "intent", "iunit"),
        columns=(
            _task(),
            _TOPIC,
            _system(required=True),
            _text("intent", "Intent whose trailtext is read.", required=True),
            _text("iunit", "iUnit met.", required=True),
            _number("importance", "Gain of the iUnit for the intent.", required=True, low=None),
            _number("offset_chars", "Counted characters up to and including the iUnit.", required=True),
        ),
    ),
    Table(
        name="push_cells",
        doc="Cell totals of the contingency framework for each system of a pair.",
        key=("task", "topic", "pair", "system", "convention"),
        columns=(
            _task(),
            _TOPIC,
            _text("pair", "Id of the pair; both its systems share topic and days."),
            _system(required=True),
            _number("days", "Days summed over."),
            _text("convention", "track or paper."),
            _number("gain", "Gain credited.", required=True),
            _number("nonrelevant_eventful", "Non-relevant pushes on eventful days.", required=True),
            _number("silent_eventful", "Eventful days without any push.", required=True),
            _number("nonrelevant_silent", "Non-relevant pushes on silent days.", required=True),
            _number("silent_silent", "Silent days without any push.", required=True),
        ),
    ),
)

TABLES: MappingProxyType[str, Table] = MappingProxyType({table.name: table for table in _TABLES})
