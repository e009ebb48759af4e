"""What the pages before the first and after the last answer show: one value a template."""

from dataclasses import dataclass

from study_app.study.platforms import WayBack


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPage:
    """What a study is, for somebody who has not accepted the work yet."""

    language: str
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPage:
    """Everything is answered. The code to withdraw with, since the next page may lead away at once."""

    language: str
    withdrawal_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPage:
    """Stop here? ``text``: key of what is said about it; ``is_full``: there is nothing to go on with."""

    language: str
    text: str
    is_full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPage:
    """A code for ever, the way back to the platform, and the code to withdraw with.

    Attributes
    ----------
    heading, text, label : str
        Keys of what is said: which end it is, and what the code is called.
    code : str or None
        None where the study has none for this end.
    back : WayBack or None
        How the code is handed in.
    at_once : bool
        The browser goes back by itself: only right after the last form of who finished.
    """

    language: str
    heading: str
    text: str
    label: str
    code: str | None
    back: WayBack | None
    at_once: bool
    withdrawal_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawPage:
    """Where a worker types the code to withdraw with; ``code`` as it was typed."""

    language: str
    code: str
    error: str | None
