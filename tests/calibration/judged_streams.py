"""Small studies of pairs of streams as files and preferences, for the tests of agreement."""

import itertools
import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from calibration.agree.measures.kinds import KINDS
from calibration.models.push.judgments import push_judgments
from calibration.models.push.simulate import PushJudges, simulate_push_cells, simulate_push_preferences
from calibration.tables.files import check_frame
from calibration.tables.sources import NamedFile, TaskSources
from calibration.tables.tables import TABLES

TASK = "pushes"
SYSTEMS = ("calm", "chatty", "keen")
DAYS = ("20150720", "20150721", "20150722")
TOPICS = ("MB1", "MB2", "MB3", "MB4")
MIDNIGHT = int(datetime(2015, 7, 20, tzinfo=UTC).timestamp())
PUSH_FILES = {
    "topics": "topics.txt",
    "qrels": "qrels.txt",
    "clusters": "clusters.json",
    "epochs": "epochs.txt",
    "texts": "texts.tsv",
}


def table(name, rows):
    """Rows as a checked table."""
    return check_frame(pd.DataFrame(rows), TABLES[name])


def choices(systems, topics, rng, *, workers=6, task=TASK):
    """Every worker judges all pairs of every topic; the first system of a pair is a little better liked."""
    rows = []
    for topic, worker in itertools.product(topics, range(workers)):
        for one, other in itertools.combinations(systems, 2):
            rows.append(
                {
                    "judgment": f"j{len(rows)}",
                    "worker": f"w{worker}",
                    "task": task,
                    "topic": topic,
                    "pair": f"{topic}/{one}/{other}",
                    "system_left": one,
                    "system_right": other,
                    "choice": rng.choice(["left", "right", "equally_good"], p=[0.5, 0.3, 0.2]),
                }
            )
    return table("preferences", rows)


def write_push_study(folder, seed=1):
    """Four topics over three days, of which some are silent; three systems push more and more.

    Returns
    -------
    TaskSources, DataFrame
        The files, and preferences about them.
    """
    rng = np.random.default_rng(seed)
    qrels, epochs, texts, clusters, pushes = [], [], [], {}, {name: [] for name in SYSTEMS}
    for topic in TOPICS:
        groups = [[], []]
        for day, number in itertools.product(range(len(DAYS)), range(4)):
            tweet, posted = f"{topic}-{day}{number}", MIDNIGHT + 86_400 * day + 3600 * number
            grade = int(rng.integers(0, 3)) if day != 1 else 0
            qrels.append(f"{topic} Q0 {tweet} {grade}")
            epochs.append(f"{tweet} {DAYS[day]} {posted}")
            texts.append(f"{tweet}\tthe news {number} of {topic} that day in some words")
            if grade:
                groups[int(rng.integers(2))].append(tweet)
            for share, name in zip((0.2, 0.8, 0.5), SYSTEMS, strict=True):
                if rng.random() < share + (0.2 if grade else 0):
                    pushes[name].append(f"{topic} {tweet} {posted + int(rng.integers(0, 3000))} {name}")
        clusters[topic] = {"clusters": [group for group in groups if group]}
    contents = {
        "topics.txt": "\n".join(
            f"<top>\n<num> Number: {topic}\n<title> What is new about {topic}\n</top>" for topic in TOPICS
        ),
        "qrels.txt": "\n".join(qrels),
        "epochs.txt": "\n".join(epochs),
        "texts.tsv": "\n".join(texts),
        "clusters.json": json.dumps({"topics": clusters}),
        **{f"{name}.txt": "\n".join(lines) for name, lines in pushes.items()},
    }
    for name, text in contents.items():
        (folder / name).write_text(text + "\n")
    sources = TaskSources(
        kind="stream_pairs",
        collection={kind: NamedFile(path=folder / name) for kind, name in PUSH_FILES.items()},
        systems={name: NamedFile(path=folder / f"{name}.txt") for name in SYSTEMS},
        protocol={"days": [DAYS[0], DAYS[-1]]},
    )
    return sources, choices(SYSTEMS, TOPICS, rng)


def judged_cells(seed, *, topics=6, systems=4, judges=None):
    """Tables preferences and push_cells of a simulated study."""
    rng = np.random.default_rng(seed)
    cells = simulate_push_cells(topics, rng, systems=systems)
    return {
        "push_cells": cells,
        "preferences": simulate_push_preferences(cells, judges or PushJudges(workers=20), rng),
    }


def joined(tables):
    """Judgments with their cells."""
    return push_judgments(tables["preferences"], tables["push_cells"])


def differences(found, measure):
    """Score difference of every pair by its topic and systems."""
    rows = found.pairs.set_index(["topic", "system_a", "system_b"])
    return rows[f"difference {measure}"].to_dict()


def by_hand(scores, metric, pairs):
    """Differences straight from a score table."""
    value = scores[scores["metric"] == metric].set_index(["topic", "run"])["value"]
    return {(topic, one, other): value[topic, one] - value[topic, other] for topic, one, other in pairs}


def measures(found):
    """One row a measure; every one of them can be named in a study file."""
    names = found.agreement.loc[found.agreement["fit"] != "in_sample", "measure"]
    assert set(names.str.removesuffix(" (converted)")) <= KINDS["stream_pairs"].names | {"mine"}
    return found.agreement.drop_duplicates("measure").set_index("measure")
