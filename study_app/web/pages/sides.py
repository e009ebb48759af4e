"""The forms in which a pair page shows a side, by kind of task: the one table that a new kind of pair is entered in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from study_app.store.plan import Content
from study_app.web.pages.pushes import shown_pushes
from study_app.web.pages.ranking import shown_ranking
from study_app.web.pages.summary import shown_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class SideForm:
    """How a side is shown.

    Attributes
    ----------
    name : str
        Template ``sides/NAME.html`` shows it, and ``NAME.`` begins the keys of its words in the catalogue.
    side : callable
        From what a system shows of a topic (`models.Summary.content`), the topic's `models.Topic.detail`, and whether it is
        said which days were silent, to the value that the template's macro takes.
    """

    name: str
    side: Callable[[Content, Mapping[str, Any], bool], object]

    def shown(self, content: Content, detail: Mapping[str, Any], reveals_silence: bool) -> "ShownSide":  # noqa: FBT001
        """Return a side of this form."""
        return ShownSide(form=self.name, value=self.side(content, detail, reveals_silence))


@dataclass(slots=True, eq=False)
class ShownSide:
    """A system's side as the macro of ``sides/FORM.html`` takes it.

    ``html`` keeps what the macro made of it, by language and side: it is the same for everybody who sees it.
    """

    form: str
    value: object
    html: dict[tuple[str, str], Markup] = field(default_factory=dict)


FORMS: Mapping[str, SideForm] = MappingProxyType(
    {
        "ranked_pairs": SideForm(
            name="ranking", side=lambda content, _detail, _reveals: shown_ranking(content)
        ),
        "stream_pairs": SideForm(
            name="pushes",
            side=lambda content, detail, reveals: shown_pushes(content, detail, reveals_silence=reveals),
        ),
        "summary_pairs": SideForm(
            name="summary", side=lambda content, _detail, _reveals: shown_summary(content)
        ),
    }
)
"""Kind of task -> the form of its pairs."""
