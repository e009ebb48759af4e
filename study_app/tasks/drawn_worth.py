"""What texts are worth to a simulated crowd where nothing says it: drawn by lot, the same in every simulation of a study."""

import zlib

import numpy as np

from study_app.tasks.content import TaskContent

OF_SYSTEM_SD = 1.0
OF_TOPIC_SD = 0.5
"""How far systems lie apart over all topics, and how far a topic moves each."""


def drawn_worth(content: TaskContent) -> dict[tuple[str, str], float]:
    """Return (topic, system) -> strength of the system + its luck with the topic, both normal; names alone decide the lot."""
    strength = {system: OF_SYSTEM_SD * _normal(system) for system in content.systems}
    return {
        (topic, system): strength[system] + OF_TOPIC_SD * _normal(f"{system} {topic}")
        for topic, system in content.shown
    }


def _normal(name: str) -> float:
    return float(np.random.default_rng(zlib.crc32(name.encode())).normal())
