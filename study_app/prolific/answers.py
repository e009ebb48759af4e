"""What answers of Prolific's API must have; whatever else they have is left alone."""

from typing import Generic, TypeVar

import httpx
from pydantic import AliasPath, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from metrics.errors import PrefcalError
from study_app.http_client import in_one_line


class ChangedAnswerError(PrefcalError):
    """An answer that is not what the documented API gives."""


class ApiAnswer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True)


class ListedSubmission(ApiAnswer):
    """Submission in a list; ``study_code`` is the code that was handed in."""

    id: str = Field(min_length=1)
    participant_id: str = Field(min_length=1)
    status: str = Field(min_length=1)
    study_code: str | None = None
    study_id: str | None = None


class PageAddress(ApiAnswer):
    """Address of another page, None at the end."""

    href: str | None = None


class PageAddresses(ApiAnswer):
    """Addresses of other pages."""

    next: PageAddress | None = None


class Meta(ApiAnswer):
    """Number of elements of all pages."""

    count: int


class SubmissionPage(ApiAnswer):
    """Page of a list of submissions."""

    results: tuple[ListedSubmission, ...]
    meta: Meta | None = None
    links: PageAddresses | None = Field(default=None, alias="_links")


class SubmissionDetail(ApiAnswer):
    """Submission by itself; ``bonus_payments`` in hundredths of the currency."""

    id: str
    status: str
    participant: str | None = None
    bonus_payments: tuple[float, ...] | None = None

    @property
    def bonuses(self) -> list[int] | None:
        """Bonuses in whole cents, None where the answer has none to see."""
        return None if self.bonus_payments is None else [round(amount) for amount in self.bonus_payments]


class RemoteStudy(ApiAnswer):
    """Study on Prolific; ``reward`` in hundredths of the currency."""

    id: str = Field(min_length=1)
    status: str = Field(min_length=1)
    internal_name: str | None = None
    external_study_url: str | None = None
    reward: float | None = None
    total_available_places: float | None = None


class StudyCost(ApiAnswer):
    """Cost of a study so far; of it only the currency in which the study pays."""

    currency: str = Field(validation_alias=AliasPath("rewards", "rewards", "currency"))


class WholeCost(ApiAnswer):
    """Cost of a study with fees and tax, in hundredths of the account's currency."""

    total_cost: float


class SetUpBonus(ApiAnswer):
    """Payment of bonuses that is set up and not made; ``total_amount`` with fees and tax."""

    id: str = Field(min_length=1)
    total_amount: float


class Message(ApiAnswer):
    """Message between an account and a participant."""

    body: str
    sent_at: AwareDatetime | None = None


Element = TypeVar("Element", bound=ApiAnswer)


class AnswerList(ApiAnswer, Generic[Element]):
    """List of answers, such as studies or messages."""

    results: tuple[Element, ...]


Form = TypeVar("Form", bound=ApiAnswer)


def read_answer(response: httpx.Response, form: type[Form], what: str) -> Form:
    """Return an answer as a value; raises `ChangedAnswerError` where it is none."""
    try:
        return form.model_validate_json(response.content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ChangedAnswerError(
            f"Prolific's answer about {what} is not what its API documents ({place}: {in_one_line(first['msg'])}); "
            "nothing of it was stored: see whether a newer prefcal knows it"
        ) from None
