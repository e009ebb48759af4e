"""Two small events with judgments and a run, as files; tests change one thing and see what is said.

TS14.1 lasts a day from 1000000 and has the nuggets n1 (importance 3), n2 (1) and n3 (0); TS14.2 has n1 of its own.
"""

START = 1_000_000
DAY = 86_400

NUGGETS = (
    "query_id\tnugget_id\ttimestamp\timportance\tnugget_len\tnugget_text\n"
    "TS14.1\tn1\t1000000\t3\t2\ttwo words\n"
    "TS14.1\tn2\t1010000\t1\t4\tfour words in all\n"
    "TS14.1\tn3\t1010000\t0\t9\tof no importance\n"
    "TS14.2\tn1\t2000000\t2\t1\tanother\n"
)
MATCHES = (
    "query_id\tupdate_id\tnugget_id\tmatch_start\tmatch_end\tauto_p\n"
    "TS14.1\td1-0\tn1\t0\t9\t0\n"
    "TS14.1\td1-0\tn3\t4\t9\t0\n"
    "TS14.1\td2-5\tn2\t4\t16\t0\n"
    "TS14.2\td3-1\tn1\t0\t4\t0\n"
)
UPDATES = (
    "query_id\tupdate_id\tdoc_id\tsentence_id\tupdate_len\tduplicate_id\tupdate_text\n"
    "TS14.1\td1-0\td1\t0\t3\tNULL\tsome news here\n"
    "TS14.1\td2-5\td2\t5\t4\tNULL\tand more news still\n"
    "TS14.1\td9-9\td9\t9\t3\td1-0\tsome news here\n"
    "TS14.2\td3-1\td3\t1\t1\tNULL\tnews\n"
)
TOPICS = f"""<?xml version="1.0"?>
<events>
  <event>
    <id>1</id>
    <title>one</title>
    <start>{START}</start>
    <end>{START + DAY}</end>
  </event>
  <event>
    <id>2</id>
    <start>2000000</start>
    <end>2086400</end>
  </event>
  <event>
    <id>3</id>
    <start>3000000</start>
    <end>3086400</end>
  </event>
</events>
"""
FILES = {"topics": TOPICS, "nuggets": NUGGETS, "matches": MATCHES, "updates": UPDATES}

RUN = "1 team mine d1 0 1000000 0.5\n1 team mine d2 5 1020000 inf\n2 team mine d3 1 2000100 0.1\n"


def write_events(folder, **changed):
    """Write the judgments, with some files' texts changed; return the reader's arguments."""
    paths = {}
    for name, text in {**FILES, **changed}.items():
        paths[name] = folder / f"{name}.{'xml' if name == 'topics' else 'tsv'}"
        paths[name].write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def write_updates(folder, text=RUN, *, name="mine"):
    """Write a run; return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
