"""Calls of Prolific's API, and which of them may be made again.

A call that changes nothing is repeated while the server is busy or does not answer. A call that pays, approves, sends or publishes
is repeated only where it cannot have done anything: when no connection was made, or the server said 429, too many requests. If its
answer is lost, `LostAnswerError` says so, and nothing here makes it again.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx
from sqlalchemy import update
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from metrics.errors import PrefcalError, input_fault
from study_app.http_client import (
    LONGEST_ORDERED_WAIT_SECONDS,
    TRIES,
    check_key,
    error_words,
    hide,
    in_one_line,
    ordered_seconds,
    tls,
    wait_as_ordered,
)
from study_app.prolific.answers import (
    AnswerList,
    ChangedAnswerError,
    ListedSubmission,
    Message,
    RemoteStudy,
    SetUpBonus,
    StudyCost,
    SubmissionDetail,
    SubmissionPage,
    WholeCost,
    read_answer,
)
from study_app.prolific.stakes import CallEffect, OrderStakes
from study_app.store.database import Database, transaction
from study_app.store.platform_models import PlatformCall
from study_app.store.tokens import Now

TOKEN_VARIABLE = "PREFCAL_PROLIFIC_TOKEN"  # noqa: S105 - the name of a variable
"""Holds the token; nothing else does."""
ADDRESS_VARIABLE = "PREFCAL_PROLIFIC_API"
PUBLIC_ADDRESS = "https://api.prolific.com"
TIMEOUT_SECONDS = 30.0
PAGE = 100
"""Submissions asked for at a time."""
MAX_PAGES = 10_000
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts to which a token may go without TLS: this machine."""


class CallError(PrefcalError):
    """Call that did not do what it was for."""


class RefusedCallError(CallError):
    """Call that Prolific refused, so that it did nothing; ``status`` is its answer, None without one."""

    def __init__(self, words: str, *, status: int | None = None) -> None:
        super().__init__(words)
        self.status = status

    @property
    def is_about_content(self) -> bool:
        """True if other content may be taken: it is not about the token, the address or the time."""
        return self.status in {400, 404, 409, 422}


class LostAnswerError(CallError):
    """Call whose answer is lost: it may have done what it was for, or not."""


class _AgainError(Exception):
    """Call to be made again after ``seconds``, or after growing times; ``error`` if that does not help."""

    def __init__(self, error: CallError, seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.seconds = error, seconds


def token_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the token; raises `InputError` without one."""
    token = environment.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise input_fault(
            f"there is no token of Prolific in {TOKEN_VARIABLE}",
            cure="make one in Prolific's settings, and set the variable for this command alone",
        )
    check_key(TOKEN_VARIABLE, token)
    return token


def address_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the API; raises `InputError` where a token would go unencrypted."""
    given = environment.get(ADDRESS_VARIABLE) or PUBLIC_ADDRESS
    try:
        url = httpx.URL(given)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if (
        not url.host
        or url.scheme not in {"https", "http"}
        or (url.scheme == "http" and url.host not in LOCAL)
    ):
        raise input_fault(
            f"{ADDRESS_VARIABLE} is no address with https", cure=f"unset it, or write {PUBLIC_ADDRESS}"
        )
    return given.rstrip("/")


class ProlificApi:
    """Client of Prolific's API for one study, to be used in a ``with`` block.

    Each call is stored in the study's database before it is made, and again after its answer.

    Parameters
    ----------
    database : Database
        Where the study is.
    study_id : int
        The study (row).
    now : callable
        The clock.

    Raises
    ------
    InputError
        As `address_of` and `token_of` do.
    """

    def __init__(self, database: Database, study_id: int, *, now: Now) -> None:
        self.database, self.study_id, self.now = database, study_id, now
        address, self._token = address_of(), token_of()
        self._client = httpx.Client(
            base_url=f"{address}/api/v1",
            headers={"Authorization": f"Token {self._token}", "Accept": "application/json"},
            timeout=TIMEOUT_SECONDS,
            verify=tls(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def create_study(self, body: Mapping[str, Any]) -> RemoteStudy:
        """Make a draft."""
        return read_answer(self._write("POST", "/studies/", body), RemoteStudy, "a new draft")

    def studies(self) -> tuple[RemoteStudy, ...]:
        """Return the studies of the account."""
        return read_answer(self._read("/studies/"), AnswerList[RemoteStudy], "the studies").results

    def study(self, study: str) -> RemoteStudy:
        """Return a study."""
        return read_answer(self._read(f"/studies/{study}/"), RemoteStudy, f"study {study}")

    def currency(self, study: str) -> str:
        """Return the currency in which a study pays."""
        response = self._read(f"/studies/{study}/cost/")
        return read_answer(response, StudyCost, f"the cost of study {study}").currency

    def whole_cost(self, reward: int, places: int) -> float:
        """Return the cost of a study with fees and tax, in cents; nothing is bought."""
        body = {"reward": reward, "total_available_places": places}
        response = self._call("POST", "/study-cost-calculator/", body=body, is_harmless=True)
        return read_answer(response, WholeCost, "the cost of a study").total_cost

    def transition(self, study: str, action: str) -> None:
        """Publish, pause or resume a study."""
        self._write("POST", f"/studies/{study}/transition/", {"action": action})

    def set_places(self, study: str, places: int) -> None:
        """Set how many people a study takes in all; the same again changes nothing."""
        body = {"total_available_places": places}
        self._call("PATCH", f"/studies/{study}/", body=body, is_harmless=True)

    def submission_pages(self, study: str) -> Iterator[Sequence[ListedSubmission]]:
        """Yield the submissions of a study, page by page, each once.

        Raises
        ------
        CallError
            If a page cannot be read.
        ChangedAnswerError
            If an answer is no page, is of another study, or the pages have fewer submissions than they say.
        """
        seen: set[str] = set()
        count = None
        for number in range(1, MAX_PAGES + 1):
            parameters = {"study": study, "page": number, "page_size": PAGE}
            try:
                response = self._read("/submissions/", parameters)
            except RefusedCallError as error:
                if number > 1 and error.status == httpx.codes.NOT_FOUND and count is None:
                    break  # there is no page after the last, and nothing said which is the last
                raise
            page = read_answer(response, SubmissionPage, f"the submissions of study {study}")
            if any(row.study_id not in {None, study} for row in page.results):
                raise ChangedAnswerError(
                    f"Prolific's list of study {study} has submissions of another study; nothing of it was stored"
                )
            new = [row for row in {row.id: row for row in page.results}.values() if row.id not in seen]
            seen |= {row.id for row in new}
            yield new
            count = page.meta.count if page.meta else count
            is_last = page.links is not None and (page.links.next is None or page.links.next.href is None)
            if is_last or not new or (count is not None and len(seen) >= count):
                break
        if count is not None and len(seen) < count:
            raise ChangedAnswerError(
                f"Prolific says that study {study} has {count} submissions, and lists {len(seen)}; "
                "they may have changed while they were read: read them again"
            )

    def submission(self, submission: str) -> SubmissionDetail:
        """Return a submission by itself."""
        response = self._read(f"/submissions/{submission}/", shown="/submissions/ID/")
        return read_answer(response, SubmissionDetail, "a submission")

    def approve(self, submissions: Sequence[str], stakes: OrderStakes) -> None:
        """Approve submissions, which pays them; the answer comes before it is done."""
        self._write("POST", "/submissions/bulk-approve/", {"submission_ids": list(submissions)}, stakes)

    def set_up_bonuses(self, study: str, lines: str) -> SetUpBonus:
        """Set up bonuses (lines ``submission,amount``), which pays nobody."""
        body = {"study_id": study, "csv_bonuses": lines}
        response = self._call("POST", "/submissions/bonus-payments/", body=body, is_harmless=True)
        return read_answer(response, SetUpBonus, "bonuses that were set up")

    def pay_bonuses(self, batch: str, stakes: OrderStakes) -> None:
        """Pay bonuses that were set up; made twice, it pays twice."""
        self._write("POST", f"/bulk-bonus-payments/{batch}/pay/", {}, stakes)

    def send_message(self, worker: str, study: str, text: str, stakes: OrderStakes) -> None:
        """Send a message to a participant."""
        body = {"recipient_id": worker, "study_id": study, "body": text}
        self._write("POST", "/messages/", body, stakes)

    def messages(self, worker: str) -> tuple[Message, ...]:
        """Return the messages with a participant."""
        return read_answer(
            self._read("/messages/", {"user_id": worker}), AnswerList[Message], "messages"
        ).results

    def _read(
        self, path: str, parameters: Mapping[str, Any] | None = None, *, shown: str | None = None
    ) -> httpx.Response:
        return self._call("GET", path, parameters=parameters, is_harmless=True, shown=shown)

    def _write(
        self, method: str, path: str, body: Mapping[str, Any], stakes: OrderStakes | None = None
    ) -> httpx.Response:
        return self._call(method, path, body=body, is_harmless=False, stakes=stakes)

    def _call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        is_harmless: bool,
        shown: str | None = None,
        stakes: OrderStakes | None = None,
    ) -> httpx.Response:
        """Make a call, and again where that is safe."""
        tries = Retrying(
            retry=retry_if_exception_type(_AgainError),
            stop=stop_after_attempt(TRIES),
            wait=wait_as_ordered,
            reraise=True,
        )

        def send() -> httpx.Response:
            return self._client.request(method, path, json=body, params=parameters)

        try:
            answer: httpx.Response = tries(
                self._once, send, f"{method} {shown or path}", is_harmless=is_harmless, stakes=stakes
            )
        except _AgainError as error:
            raise error.error from None
        return answer

    def _once(
        self, send: Callable[[], httpx.Response], call: str, *, is_harmless: bool, stakes: OrderStakes | None
    ) -> httpx.Response:
        """Make a call once, and record it."""
        method, _, path = call.partition(" ")
        number = self._begin(method, path, stakes)
        try:
            response = send()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            words = f"not reached: {hide(error_words(error), self._token)}"
            self._end(number, None, words, CallEffect.NOTHING, stakes)
            raise _AgainError(
                RefusedCallError(
                    f"Prolific cannot be reached ({words.removeprefix('not reached: ')}); run the same command again later"
                )
            ) from None
        except httpx.HTTPError as error:
            words = hide(error_words(error), self._token)
            self._end(number, None, f"answer lost: {words}", CallEffect.UNKNOWN, stakes)
            raise _lost(call, words, is_harmless=is_harmless) from None
        words, effect = "", CallEffect.DONE
        if not response.is_success:
            words, effect = self._said(response), _effect(response.status_code)
        self._end(number, response.status_code, words, effect, stakes)
        if response.is_success:
            return response
        raise self._error(response, call, is_harmless=is_harmless)

    def _begin(self, method: str, path: str, stakes: OrderStakes | None) -> int:
        """Store that a call is about to be made, and what depends on it; return its row."""
        with transaction(self.database, write=True) as session:
            call = PlatformCall(
                study_id=self.study_id, method=method, path=path, began_at=self.now(), outcome=""
            )
            session.add(call)
            session.flush()
            if stakes is not None:
                stakes.begin(session, call.id)
            return call.id

    def _end(
        self, call: int, status: int | None, outcome: str, effect: CallEffect, stakes: OrderStakes | None
    ) -> None:
        """Store the answer of a call, or that there was none, and what follows for what depends on it."""
        with transaction(self.database, write=True) as session:
            session.execute(
                update(PlatformCall)
                .where(PlatformCall.id == call)
                .values(ended_at=self.now(), status=status, outcome=outcome)
            )
            if stakes is not None:
                stakes.end(session, effect, outcome)

    def _error(self, response: httpx.Response, call: str, *, is_harmless: bool) -> Exception:
        """Return the error of an answer that is no success."""
        status, said = response.status_code, self._said(response)
        words = f"Prolific answers {call} with {status}{f': {said}' if said else ''}"
        if status == httpx.codes.TOO_MANY_REQUESTS:
            seconds = ordered_seconds(response)
            if seconds is not None and seconds > LONGEST_ORDERED_WAIT_SECONDS:
                return RefusedCallError(f"{words}; run the same command again in {seconds:,.0f} s")
            return _AgainError(RefusedCallError(f"{words}; run the same command again later"), seconds)
        if _effect(status) is CallEffect.UNKNOWN:
            return _lost(call, f"{status} {said}".strip(), is_harmless=is_harmless)
        cure = {
            401: f"set {TOKEN_VARIABLE} to a token of this account",
            403: f"the account of the token in {TOKEN_VARIABLE} may not do this: take another, or ask the owner of the workspace",
            404: "see whether the study is one of this account",
        }.get(status, "nothing was done: mend what it says, and run the same command again")
        return RefusedCallError(f"{words}; {cure}", status=status)

    def _said(self, response: httpx.Response) -> str:
        """Return what an answer says is wrong, in one line and without the token."""
        try:
            given = response.json()
            error = given.get("error", given)
            said = error.get("detail") or error.get("title") if isinstance(error, dict) else error
        except (ValueError, AttributeError, RecursionError):
            said = response.text
        return in_one_line(hide(str(said or ""), self._token))


def _effect(status: int) -> CallEffect:
    """Return what a call that did not succeed may have done."""
    is_unknown = status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT
    return CallEffect.UNKNOWN if is_unknown else CallEffect.NOTHING


def _lost(call: str, words: str, *, is_harmless: bool) -> Exception:
    """Return the error of a call without an answer that says what it did."""
    if is_harmless:
        return _AgainError(
            CallError(f"Prolific does not answer {call} ({words}); run the same command again later")
        )
    return LostAnswerError(f"Prolific's answer to {call} is lost ({words}): it may have been done, or not")
