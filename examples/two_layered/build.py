"""Derive the bundled study's MobileClick files from the fact table `facts.yaml`, and its streams from `streams/facts/`.

    python build.py            write collection/*.tsv, runs/*.xml, streams/*.* and streams/runs/*.txt beside this file
    python build.py --check    write nothing; exit 1 and name the files that are not what would be written

The streams are those of `build_streams` and `build_stream_files`; here are the summaries. Seven systems are written, one
rule each, so that they differ in kind and the kind is known. Everything is deterministic, the "random" system too: its
order is that of SHA-256 digests.
"""

import argparse
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from build_stream_files import stream_files

FOLDER = Path(__file__).resolve().parent

GENERAL_FACTS = 6
"""Facts in a well made first layer, half of them above the links and half below."""

INTENT_FACTS = 7
"""Facts in a well made second layer, at most."""

MIN_IMPORTANCE = 2
"""Importance for its intent that a fact of a well made second layer has at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One query with its intents and iUnits, ids as MobileClick writes them.

    Attributes
    ----------
    qid, text : str
        The query.
    links : dict of str to str
        Link text of each intent.
    probability : dict of str to Decimal
        P(i|q) = n_i / n, the intent's share of all votes.
    facts : dict of str to str
        Text of each iUnit.
    importance : dict of (intent, iUnit) to Decimal
        Mean of the two assessors' ratings, 0 to 4 in halves.
    """

    qid: str
    text: str
    links: dict[str, str]
    probability: dict[str, Decimal]
    facts: dict[str, str]
    importance: dict[tuple[str, str], Decimal]

    def likeliest_links(self) -> list[str]:
        """Intents by falling probability, equal ones as in the fact table."""
        return sorted(self.links, key=lambda iid: -self.probability[iid])

    def general_facts(self) -> list[str]:
        """Facts by falling expected importance, sum_i P(i|q) g_i(u), equal ones as in the fact table."""
        expected = {
            uid: sum(self.probability[iid] * self.importance[iid, uid] for iid in self.links)
            for uid in self.facts
        }
        return sorted(self.facts, key=lambda uid: -expected[uid])

    def facts_for(self, iid: str) -> list[str]:
        """Facts that matter to one intent, most important first, equal ones by expected importance."""
        matter = [uid for uid in self.general_facts() if self.importance[iid, uid] >= MIN_IMPORTANCE]
        return sorted(matter, key=lambda uid: -self.importance[iid, uid])


@dataclass(frozen=True, slots=True)
class Summary:
    """A two-layered summary: ids of iUnits and links in the first layer, of iUnits behind each link."""

    first: list[str]
    second: dict[str, list[str]]


def good_order(topic: Topic) -> Summary:
    """Put the best general facts first, then links by falling probability, then more facts; best first in all layers."""
    general, links = topic.general_facts()[:GENERAL_FACTS], topic.likeliest_links()
    above, below = general[: GENERAL_FACTS // 2], general[GENERAL_FACTS // 2 :]
    own = {iid: [uid for uid in topic.facts_for(iid) if uid not in general] for iid in links}
    return Summary([*above, *links, *below], {iid: uids[:INTENT_FACTS] for iid, uids in own.items()})


def bad_order(topic: Topic) -> Summary:
    """Show what good-order shows, each layer from its end to its beginning."""
    good = good_order(topic)
    return Summary(good.first[::-1], {iid: uids[::-1] for iid, uids in good.second.items()})


def one_layer(topic: Topic) -> Summary:
    """Put every fact into the first layer, best general ones first, without any link."""
    return Summary(topic.general_facts(), {})


def wrong_links(topic: Topic) -> Summary:
    """Show the layers of good-order, but each link opens what belongs to the link after it, the last to the first."""
    good, links = good_order(topic), topic.likeliest_links()
    opened = [good.second[iid] for iid in links[1:] + links[:1]]
    return Summary(good.first, dict(zip(links, opened, strict=True)))


def short(topic: Topic) -> Summary:
    """Give the four best general facts and the two likeliest links with two facts each."""
    good, links = good_order(topic), topic.likeliest_links()[:2]
    return Summary(topic.general_facts()[:4] + links, {iid: good.second[iid][:2] for iid in links})


def redundant(topic: Topic) -> Summary:
    """Say general facts above the links, again below them, and again in each second layer before anything new."""
    general, links = topic.general_facts()[: len(topic.facts) // 2], topic.likeliest_links()
    own = {iid: [uid for uid in topic.facts_for(iid) if uid not in general] for iid in links}
    return Summary([*general[:GENERAL_FACTS], *links, *general], {iid: general + own[iid] for iid in links})


def random(topic: Topic) -> Summary:
    """Draw lots for what stands where: six facts and all links in the first layer, seven facts behind each link."""

    def drawn(ids: Iterable[str], lot: str) -> list[str]:
        return sorted(ids, key=lambda uid: sha256(f"{lot} {uid}".encode()).digest())

    first = drawn([*drawn(topic.facts, "first")[:GENERAL_FACTS], *topic.links], "mixed")
    return Summary(
        first, {iid: drawn(topic.facts, iid)[:INTENT_FACTS] for iid in first if iid in topic.links}
    )


SYSTEMS: dict[str, Callable[[Topic], Summary]] = {
    "good-order": good_order,
    "bad-order": bad_order,
    "one-layer": one_layer,
    "wrong-links": wrong_links,
    "short": short,
    "redundant": redundant,
    "random": random,
}


def read_topics(path: Path) -> list[Topic]:
    """Read the fact table and give everything its id."""
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [
        _topic(f"{table['prefix']}{number:04}", entry)
        for number, entry in enumerate(table["queries"], start=1)
    ]


def _topic(qid: str, entry: dict[str, Any]) -> Topic:
    intents = {f"{qid}-INT{number:02}": intent for number, intent in enumerate(entry["intents"], start=1)}
    iunits = {f"{qid}-{number:04}": iunit for number, iunit in enumerate(entry["iunits"], start=1)}
    votes = sum(intent["votes"] for intent in intents.values())
    return Topic(
        qid=qid,
        text=entry["query"],
        links={iid: intent["link"] for iid, intent in intents.items()},
        probability={iid: Decimal(intent["votes"]) / votes for iid, intent in intents.items()},
        facts={uid: text for uid, (_, text) in iunits.items()},
        importance={
            (iid, uid): Decimal(sum(map(int, pair))) / 2
            for uid, (ratings, _) in iunits.items()
            for iid, pair in zip(intents, ratings.split(), strict=True)
        },
    )


def collection_files(topics: list[Topic]) -> dict[str, str]:
    """Return the five tables of the collection, by path below this folder."""
    tables: dict[str, list[tuple[object, ...]]] = {
        "queries": [(t.qid, t.text) for t in topics],
        "iunits": [(t.qid, uid, text) for t in topics for uid, text in t.facts.items()],
        "intents": [(t.qid, iid, text) for t in topics for iid, text in t.links.items()],
        "importance": [
            (t.qid, iid, uid, t.importance[iid, uid]) for t in topics for iid in t.links for uid in t.facts
        ],
        "probability": [(t.qid, iid, p) for t in topics for iid, p in t.probability.items()],
    }
    return {
        f"collection/{name}.tsv": "".join("\t".join(map(str, row)) + "\n" for row in rows)
        for name, rows in tables.items()
    }


def run_file(name: str, topics: list[Topic]) -> str:
    """One system's summaries of all queries as MobileClick XML."""
    system = SYSTEMS[name]
    results = ET.Element("results")
    ET.SubElement(results, "sysdesc").text = (system.__doc__ or name).strip()
    for topic in topics:
        summary = system(topic)
        result = ET.SubElement(results, "result", qid=topic.qid)
        _add_layer(ET.SubElement(result, "first"), summary.first, topic)
        for iid in summary.first:
            if iid in summary.second:
                _add_layer(ET.SubElement(result, "second", iid=iid), summary.second[iid], topic)
    ET.indent(results)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(results, encoding="unicode")}\n'


def _add_layer(layer: ET.Element, ids: list[str], topic: Topic) -> None:
    for each in ids:
        if each in topic.links:
            ET.SubElement(layer, "link", iid=each)
        else:
            ET.SubElement(layer, "iunit", uid=each)


def all_files() -> dict[str, str]:
    """Return every file that this script answers for, by path below this folder."""
    topics = read_topics(FOLDER / "facts.yaml")
    summaries = {f"runs/{name}.xml": run_file(name, topics) for name in SYSTEMS}
    return collection_files(topics) | summaries | stream_files(FOLDER)


def stale_files(files: dict[str, str]) -> list[str]:
    """Paths that are missing, differ, or stand in a folder of derived files without being written by this script."""
    found = {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("collection", "runs", "streams", "streams/runs")
        for path in (FOLDER / folder).glob("*.*")
    }
    return sorted(path for path in files.keys() | found.keys() if files.get(path) != found.get(path))


def main() -> int:
    """Write the files, or check them; return the exit status."""
    parser = argparse.ArgumentParser(description="Derive the bundled study's files from its facts.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, say whether the files are up to date"
    )
    arguments = parser.parse_args()
    files = all_files()
    if arguments.check:
        stale = stale_files(files)
        for path in stale:
            print(f"{path}: is not what build.py writes; run python build.py", file=sys.stderr)
        return 1 if stale else 0
    for path, content in files.items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(content, encoding="utf-8", newline="\n")
    print(f"wrote {len(files)} files below {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
