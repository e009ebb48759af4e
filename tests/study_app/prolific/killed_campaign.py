"""A campaign whose process ends at any step, over a line that fails, and what has to hold all the same.

Each command runs in a process of its own that ends without a word (`os._exit`) before or after a transaction or a call. Whatever it had
not stored is lost, as when the machine is cut off.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from sqlalchemy import select

from study_app import http_client
from study_app.prolific import api, messages, sending, settling, studies, sync
from study_app.store.database import open_database, transaction
from study_app.store.models import Worker
from study_app.store.platform_models import PlatformCall, PlatformOrder
from tests.study_app.prefcal_command import run_once
from tests.study_app.prolific.prolific_server import Fault, Prolific

KILLED = 9
CENTS = 50
BONUS = ("bonus", "small", "--each", "0.50", "--for", "all days", "--yes")
FAULTS = (Fault(), Fault(after=True), Fault(500), Fault(503, after=True), Fault(429, {"Retry-After": "0"}))
"""Cut before and after the effect, failed before and after, and refused for now."""


@dataclass
class Figures:
    """What a killed campaign came to.

    ``open_calls``: calls that pay or approve whose answer never came, and the orders ``in_them``; ``unknown``: orders that were
    unknown when all had been sent; ``seen``: those of them that the platform then showed; ``released``: those that a person released.
    """

    kills: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    commands: int = 0
    open_calls: int = 0
    in_them: int = 0
    unknown: int = 0
    seen: int = 0
    released: int = 0


class KilledCampaign:
    """A campaign on a database file.

    It is killed at each kind of step once, then at ``more`` of all steps by chance; ``faulty``: share of calls that fail, and of
    those that pay or approve ``payments_faulty``.
    """

    def __init__(
        self,
        url: str,
        there: Prolific,
        *,
        seed: int = 1,
        more: float = 0.0,
        faulty: float = 0.02,
        payments_faulty: float = 0.1,
    ) -> None:
        self.url, self.there, self.more = url, there, more
        self.faulty, self.payments_faulty = faulty, payments_faulty
        self.rng = random.Random(seed)
        self.figures = Figures()
        there.every = self._fault

    def _fault(self, call: str, _: int) -> Fault | None:
        """Let some calls fail, and set-up payments be made by and by."""
        if self.rng.random() < 0.05:
            self.there.settle()
        is_payment = "bulk-approve" in call or "/pay/" in call
        if self.rng.random() >= (self.payments_faulty if is_payment else self.faulty):
            return None
        fault = self.rng.choice(FAULTS)
        name = "cut" if fault.status is None else str(fault.status)
        self.figures.faults[f"{name} {'after' if fault.after else 'before'}"] += 1
        return fault

    def run(self, *command: str) -> int:
        """Run a command in a process of its own; returns its exit status, `KILLED` where it was killed."""
        self.figures.commands += 1
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            self._die_at_some_step(write, random.Random(self.rng.random()))
            code = run_once("prolific", *command, "--database", self.url).code
            os._exit(min(code, 1))
        os.close(write)
        with os.fdopen(read) as pipe:
            where = pipe.read()
        _, status = os.waitpid(child, 0)
        if where:
            self.figures.kills[where] += 1
        self.check()
        return os.waitstatus_to_exitcode(status)

    def until_done(self, *command: str, most: int = 500) -> None:
        """Run a command again and again until it is neither killed nor fails."""
        for _ in range(most):
            if self.run(*command) == 0:
                return
        raise AssertionError(f"{command} never ended well")

    def _die_at_some_step(self, pipe: int, rng: random.Random) -> None:
        """End this process at the first step of a kind that killed none yet, else at some step."""
        killed = frozenset(self.figures.kills)

        def step(where: str) -> None:
            if where not in killed or rng.random() < self.more:
                os.write(pipe, where.encode())
                os._exit(KILLED)

        def stepping(name: str) -> Callable[..., Any]:
            @contextmanager
            def killed_transaction(database: Any, *, write: bool) -> Iterator[Any]:
                with transaction(database, write=write) as session:
                    yield session
                    if write:
                        step(f"{name}: before a commit")
                if write:
                    step(f"{name}: after a commit")

            return killed_transaction

        for module in (api, messages, sending, settling, studies, sync):
            if hasattr(module, "transaction"):
                module.transaction = stepping(module.__name__.rpartition(".")[2])
        request = httpx.Client.request

        def killed_request(client: httpx.Client, method: str, url: str, **more: Any) -> httpx.Response:
            kind = f"{method} {url}" if method != "GET" else f"GET {url.split('/')[1]}"
            kind = kind if "/pay/" not in kind else "POST pay"
            step(f"{kind}: before")
            response = request(client, method, url, **more)
            step(f"{kind}: after")
            return response

        httpx.Client.request = killed_request  # type: ignore[method-assign]
        http_client.GROWING = lambda _state: 0.0  # type: ignore[assignment]

    def check(self) -> None:
        """Look whether anybody was paid twice, or is paid and taken for unpaid, or unknown without an open call."""
        there = self.there
        assert max(Counter(there.approved).values(), default=0) <= 1
        assert set(there.times_paid.values()) <= {1}
        database = open_database(self.url)
        with transaction(database, write=False) as session:
            orders = session.scalars(select(PlatformOrder)).all()
            rows = session.scalars(select(PlatformCall)).all()
        database.engine.dispose()
        paid = {name for name, _ in there.times_paid}
        wrong = [order.id for order in orders if order.state == "intended" and _is_done(order, paid, there)]
        assert wrong == [], "carried out, and yet to be sent"
        unsure = {str(row.id) for row in rows if _may_have_been_done(row)}
        unsure |= {row.path.split("/")[2] for row in rows if _may_have_been_done(row) and "/pay/" in row.path}
        assert all(order.batch in unsure for order in orders if order.state == "unknown"), "no call is open"
        assert not any(order.batch in unsure for order in orders if order.state == "sent"), "its call is open"
        self.figures.open_calls = sum(map(_may_have_been_done, rows))
        self.figures.in_them = sum(order.batch in unsure for order in orders)

    def states(self, kind: str) -> Counter[str]:
        """Count the orders of a kind by state."""
        return Counter(order.state for order in self.orders() if order.kind == kind)

    def unknown(self) -> int:
        """Return how many orders are unknown."""
        return sum(order.state == "unknown" for order in self.orders())

    def orders(self) -> list[PlatformOrder]:
        """Return all orders."""
        database = open_database(self.url)
        with transaction(database, write=False) as session:
            rows = list(session.scalars(select(PlatformOrder)))
        database.engine.dispose()
        return rows

    def missing(self) -> int:
        """Return how many workers with complete data have no approval or no bonus on the list."""
        database = open_database(self.url)
        with transaction(database, write=False) as session:
            workers = set(session.scalars(select(Worker.id)))
            listed = Counter(session.scalars(select(PlatformOrder.worker_id)))
        database.engine.dispose()
        return sum(listed[worker] != 2 for worker in workers)

    def settle_by_hand(self) -> None:
        """Do what a person does about unknown orders: look there, and release what was not carried out."""
        paid = {name for name, _ in self.there.times_paid}
        unknown = [order for order in self.orders() if order.state in {"unknown", "sent"}]
        done = [order.id for order in unknown if _is_done(order, paid, self.there)]
        undone = [order.id for order in unknown if order.id not in done]
        self.figures.released += len(undone)
        for option, numbers in (("--paid", done), ("--release", undone)):
            if numbers:
                words = [word for number in numbers for word in (option, str(number))]
                self.run("pay", "small", *words, "--yes")


def _is_done(order: PlatformOrder, paid: set[str], there: Prolific) -> bool:
    """Return whether the platform carried an order out."""
    return order.submission in (there.approved if order.kind == "approval" else paid)


def _may_have_been_done(call: PlatformCall) -> bool:
    """Return whether no answer says what a call did that pays or approves."""
    if "approve" not in call.path and "/pay/" not in call.path:
        return False
    no_answer = call.status is None and not call.outcome.startswith("not reached")
    return no_answer or (call.status is not None and call.status >= 500)


def go_through(made: KilledCampaign) -> Figures:
    """Approve and pay everybody, kill after kill; a person settles what stays unknown."""
    made.until_done("sync", "small")
    while made.run("approve", "small", "--yes") != 0:
        pass
    while made.run(*BONUS) != 0 and made.states("bonus")["intended"]:
        pass
    for _ in range(200):
        if not made.states("bonus")["intended"] and not made.states("approval")["intended"]:
            break
        made.run("pay", "small", "--yes")
    made.there.settle()
    assert made.missing() == 0
    figures, in_them, open_calls = made.figures, made.figures.in_them, made.figures.open_calls
    figures.unknown = made.unknown()
    made.until_done("sync", "small")
    figures.seen = figures.unknown - made.unknown()
    for _ in range(200):
        if set(made.states("approval")) | set(made.states("bonus")) == {"confirmed"}:
            break
        made.settle_by_hand()
        made.run("pay", "small", "--yes")
        made.there.settle()
        made.until_done("sync", "small")
    figures.in_them, figures.open_calls = in_them, open_calls
    return figures
