"""The forms in which a pair page shows a side, by kind of task: the one table that a new kind of pair is entered in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from study_app.models import Showing
from study_app.plan import Content
from study_app.shown_pushes import shown_pushes
from study_app.shown_ranking import shown_ranking
from study_app.shown_summary import shown_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class SideForm:
    """How a side is shown.

    Attributes
    ----------
    name : str
        Template ``sides/NAME.html`` shows it, and ``NAME.`` begins the keys of its words in the catalogue.
    side : callable
        From what a system shows of a topic (`models.Summary.content`), the topic's `models.Topic.detail`, and the showing
        to the value that the template's macro takes.
    """

    name: str
    side: Callable[[Content, Mapping[str, Any], Showing], object]


FORMS: Mapping[str, SideForm] = MappingProxyType(
    {
        "ranked_pairs": SideForm(
            name="ranking", side=lambda content, _detail, _showing: shown_ranking(content)
        ),
        "stream_pairs": SideForm(
            name="pushes",
            side=lambda content, detail, showing: shown_pushes(
                content, detail, reveals_silence=bool(showing.reveals_silence)
            ),
        ),
        "summary_pairs": SideForm(
            name="summary", side=lambda content, _detail, _showing: shown_summary(content)
        ),
    }
)
"""Kind of task -> the form of its pairs."""
