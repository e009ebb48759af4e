"""A small diversity collection with time windows and a run as files, for tests of readers and commands.

Topic 1 has subtopics a and b. d1 (a) and d2 (b) are from 1990, d3 (a and b) from 1991; n is judged and nothing, from 1990.
Topic 2 has one subtopic, and nothing relevant is known for it.
"""

QRELS = """\
1 a d1 1
1 b d2 1
1 a d3 3
1 b d3 1
1 a n 0
2 a n -2
"""
WINDOWS = """\
d1 1990
d2 1990
d3 1991
n 1990
elsewhere 1992
"""
INTENTS = """\
1 a 0.75
1 b 0.25
"""
RUN = """\
1 Q0 d3 1 9.5 tag
1 Q0 n 2 7 tag
1 Q0 d1 3 1e0 tag
2 Q0 n 1 0 tag
3 Q0 d1 1 0 tag
"""
"""d3 (both subtopics, 1991), n, d1 (a, 1990): d2 is missing. Topic 3 was not judged."""


def write_ranked(folder, *, qrels=QRELS, windows=WINDOWS, intents=INTENTS, run=RUN):
    """Write qrels.txt, windows.txt, intents.txt and run.txt."""
    contents = {"qrels.txt": qrels, "windows.txt": windows, "intents.txt": intents, "run.txt": run}
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
