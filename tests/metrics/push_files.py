"""A small push collection and a run as files, for tests of readers and commands.

Two topics over two days. 226: t1 (relevant) and t2 (highly) say the same on the first day, t3 is relevant on the second; t4 is
nothing. MB227: nothing is clustered.
"""

QRELS = """\
226 Q0 t1 1
226 Q0 t2 2
226 Q0 t3 3
226 Q0 t4 0
226 Q0 t9 4
227 Q0 t5 -1
"""
CLUSTERS_2015 = """\
{"metadata": {"author": "A & B"},
 "topics": {
  "MB226": {"topic": "one", "clusters": [
   ["t1",
    "t2"],
   ["t3"]
  ]}
 }}
"""
CLUSTERS_2016 = """\
{"topics": {"MB226": {"clusters": {
   "1": ["t1", "t2"],
   "2": ["t3"]
}}}}
"""
EPOCHS = """\
t1 20150720 1437350400
t2 20150720 1437354000
t3 20150721 1437436800
t4 20150720 1437350460
t5 20150721 1437436860
"""
RUN = """\
MB226 t1 1437351600 tag
226 t4 1437350460 tag
MB227 t5 1437436860 tag
MB226 x 1437350460 tag
"""
"""t1 after 20 minutes, t4 and t5 at once, and a tweet that nobody judged."""

DAYS = "20150720:20150721"


def write_push(folder, *, qrels=QRELS, clusters=CLUSTERS_2015, epochs=EPOCHS, run=RUN):
    """Write qrels.txt, clusters.json, epochs.txt and run.txt."""
    contents = {"qrels.txt": qrels, "clusters.json": clusters, "epochs.txt": epochs, "run.txt": run}
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
