"""Simulated participants of any study of plain HTML forms, who log events.

python benchmarks/load_client.py START_URLS --participants 50 --seconds 30 [--think S] [--set choice=left|right]

A participant opens a start address, posts the first form of each page with its hidden fields and the fields of --set, and
follows the redirect, until a page has no form. A page whose body has `data-page` and `data-events` gets a batch of events
every --events-every seconds, also when one participant follows the other at the same place. Prints one line of JSON. Needs aiohttp.
"""

import argparse
import asyncio
import html
import json
import random
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin

import aiohttp

FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL | re.IGNORECASE)
INPUT = re.compile(r"<input\b([^>]*)>", re.DOTALL | re.IGNORECASE)
BODY = re.compile(r"<body\b([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")
TIMEOUT = aiohttp.ClientTimeout(total=120)
REFUSED = 400
EVENTS_A_BATCH = 20


@dataclass
class Place:
    """Where one participant follows the other; ``next_batch``: when the next events are due."""

    next_batch: float


@dataclass
class Measured:
    """Seconds of each turn (post, redirect, next page), of its post, and of each batch of events; faults; who got through."""

    turns: list[float] = field(default_factory=list)
    posts: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    through: int = 0


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag."""
    return {name.lower(): html.unescape(a or b or c) for name, a, b, c in ATTRIBUTE.findall(tag)}


def first_form(text: str) -> tuple[str, dict[str, str]] | None:
    """Return (where it goes, hidden fields) of the first form that is posted."""
    for tag, body in FORM.findall(text):
        form = attributes(tag)
        if form.get("method", "get").lower() == "post":
            inputs = [attributes(one) for one in INPUT.findall(body)]
            hidden = {one["name"]: one.get("value", "") for one in inputs if one.get("type") == "hidden"}
            return form.get("action", ""), hidden
    return None


class Participant:
    """One browser."""

    def __init__(
        self, session: aiohttp.ClientSession, options: argparse.Namespace, found: Measured, place: Place
    ) -> None:
        self.session, self.options, self.found, self.place = session, options, found, place
        self.page, self.events_url, self.sent, self.opened = "", "", 0, time.monotonic()

    async def walk(self, url: str, stop: float) -> None:
        """Go from page to page until there is no form, or time is over."""
        async with self.session.get(url) as answer:
            text, here = await answer.text(), str(answer.url)
            self.check("start", answer.status)
        self.see(text, here)
        logging = asyncio.create_task(self.keep_logging())
        try:
            while (form := first_form(text)) is not None and time.perf_counter() < stop:
                if self.options.think:
                    await asyncio.sleep(random.expovariate(1 / self.options.think))
                text, here = await self.turn(here, form)
                self.see(text, here)
            self.found.through += form is None
        finally:
            logging.cancel()

    async def turn(self, here: str, form: tuple[str, dict[str, str]]) -> tuple[str, str]:
        """Post a form and load what answers."""
        action, fields = form
        fields |= {name: random.choice(values.split("|")) for name, values in self.options.set.items()}
        began = time.perf_counter()
        async with self.session.post(urljoin(here, action), data=fields, allow_redirects=False) as answer:
            await answer.read()
            self.check("post", answer.status)
            posted = time.perf_counter()
            if "Location" not in answer.headers:
                raise RuntimeError(f"post answered {answer.status} without a redirect")
            target = urljoin(here, answer.headers["Location"])
        async with self.session.get(target) as answer:
            text, here = await answer.text(), str(answer.url)
            self.check("get", answer.status)
        ended = time.perf_counter()
        self.found.posts.append(posted - began)
        self.found.turns.append(ended - began)
        self.found.ends.append(ended)
        return text, here

    def see(self, text: str, here: str) -> None:
        """Note where events of this page go."""
        body = BODY.search(text)
        marks = attributes(body[1]) if body else {}
        self.page, self.sent, self.opened = marks.get("data-page", ""), 0, time.monotonic()
        self.events_url = urljoin(here, marks.get("data-events", ""))

    async def keep_logging(self) -> None:
        """Post a batch whenever one is due."""
        while self.options.events_every:
            await asyncio.sleep(max(0.0, self.place.next_batch - time.monotonic()))
            if self.page:
                self.place.next_batch += self.options.events_every
                await self.log_events()
            else:
                await asyncio.sleep(0.05)

    async def log_events(self) -> None:
        """Post one batch about the page at hand."""
        now, wall = round((time.monotonic() - self.opened) * 1000), round(time.time() * 1000)
        page, url, first = self.page, self.events_url, self.sent + 1
        self.sent += EVENTS_A_BATCH
        events = [
            {
                "n": n,
                "kind": "see",
                "ms": now,
                "wall": wall,
                "side": "left",
                "item": f"f{n % 9}",
                "share": 0.5,
            }
            for n in range(first, first + EVENTS_A_BATCH)
        ]
        batch = {"page": page, "sent_ms": now, "sent_wall_ms": wall, "events": events}
        began = time.perf_counter()
        async with self.session.post(url, json=batch) as answer:
            said = await answer.json()
            self.check("events", answer.status)
        if said["upto"] < first + EVENTS_A_BATCH - 1:
            self.found.faults.append("events were not acknowledged")
        self.found.batches.append(time.perf_counter() - began)

    @staticmethod
    def check(what: str, status: int) -> None:
        """Take every refusal for a fault."""
        if status >= REFUSED:
            raise RuntimeError(f"{what} {status}")


async def crowd(urls: list[str], options: argparse.Namespace) -> dict[str, object]:
    """Keep so many participants busy for so long, and say what they met."""
    found, waiting = Measured(), iter(urls)
    began = time.perf_counter()
    stop = began + options.seconds

    async def take_place(number: int) -> None:
        await asyncio.sleep(options.ramp * number / options.participants)
        place = Place(time.monotonic() + random.uniform(0, options.events_every))
        while time.perf_counter() < stop and (url := next(waiting, None)) is not None:
            connector = aiohttp.TCPConnector(limit=2)
            try:
                async with aiohttp.ClientSession(
                    connector=connector, timeout=TIMEOUT, cookie_jar=aiohttp.CookieJar(unsafe=True)
                ) as session:
                    await Participant(session, options, found, place).walk(url, stop)
            except (aiohttp.ClientError, RuntimeError, TimeoutError, OSError) as error:
                found.faults.append(f"{type(error).__name__}: {error}"[:120])

    await asyncio.gather(*map(take_place, range(options.participants)))
    return summary(found, began, options)


def summary(found: Measured, began: float, options: argparse.Namespace) -> dict[str, object]:
    """Return the figures; turns that ended after the time are in no rate."""
    in_time = sum(end <= began + options.seconds for end in found.ends)
    return {
        "participants": options.participants,
        "submissions": len(found.turns),
        "submissions_per_s": round(in_time / options.seconds, 1),
        "through": found.through,
        "post_ms": quantiles(found.posts),
        "turn_ms": quantiles(found.turns),
        "batches": len(found.batches),
        "batch_ms": quantiles(found.batches),
        "faults": len(found.faults),
        "kinds_of_fault": sorted(set(found.faults))[:5],
    }


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and maximum in milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        return {}
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("urls", type=Path, help="one start address a line")
    parser.add_argument("--participants", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--ramp", type=float, default=0, help="seconds over which participants begin")
    parser.add_argument("--think", type=float, default=0, help="mean seconds before each form, exponential")
    parser.add_argument("--events-every", type=float, default=5, help="seconds between batches; 0: none")
    parser.add_argument("--set", nargs="*", default=["choice=left|right"])
    options = parser.parse_args()
    options.set = dict(pair.split("=", 1) for pair in options.set)
    urls = options.urls.read_text(encoding="utf-8").split()
    if len(urls) < options.participants:
        sys.exit(f"{len(urls)} start addresses for {options.participants} participants")
    print(json.dumps(asyncio.run(crowd(urls, options))))


if __name__ == "__main__":
    main()
