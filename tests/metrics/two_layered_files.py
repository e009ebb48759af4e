"""A tiny collection with two queries and a run, as files; tests change one thing and see what is said."""

FILES = {
    "queries.tsv": "Q1\tmount fuji\nQ2\t富士山\n",
    "iunits.tsv": "Q1\tU1\t3776 m high\nQ1\tU2\tlast erupted in 1707\nQ1\tU3\topen in summer\nQ2\tU4\t標高3776m\n",
    "intents.tsv": "Q1\tI1\tnature\nQ1\tI2\tclimbing\nQ2\tI3\t自然\n",
    "importance.tsv": "Q1\tI1\tU1\t4\nQ1\tI1\tU2\t2.5\nQ1\tI2\tU3\t3\nQ2\tI3\tU4\t4\n",
    "probability.tsv": "Q1\tI1\t0.75\nQ1\tI2\t0.25\nQ2\tI3\t1\n",
}

RUN = """<?xml version="1.0" encoding="UTF-8"?>
<results>
  <sysdesc>a run by hand</sysdesc>
  <result qid="Q1">
    <first>
      <iunit uid="U1"/>
      <link iid="I2"/>
    </first>
    <second iid="I2">
      <iunit uid="U3"/>
    </second>
  </result>
  <result qid="Q2">
    <first>
      <iunit uid="U4"/>
      <link iid="I3"/>
    </first>
    <second iid="I3"></second>
  </result>
</results>
"""


def write_collection(folder, **changed):
    """Write the collection, with some files' texts changed (None: left out); return the folder."""
    for name, text in {**FILES, **{f"{name}.tsv": text for name, text in changed.items()}}.items():
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_run(folder, text=RUN, *, name="run.xml"):
    """Write a run; return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
