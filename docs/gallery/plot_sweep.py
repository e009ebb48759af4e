"""
Many populations at once
========================

MSU for people who come back seldom or often and stay short or long: who leads for whom.
"""

# %%
# Scored for four populations, with the report's figures of a sweep.
from pathlib import Path

import prefcal
from study_app.report.build import build_report
from study_app.report.folder import read_material

streams = Path("prefcal-demo/study/streams")
names = {"topics": "topics.xml", "nuggets": "nuggets.tsv", "matches": "matches.tsv", "updates": "updates.tsv"}
events = prefcal.read_events(**{kind: streams / name for kind, name in names.items()})
runs = [prefcal.read_update_run(path) for path in sorted((streams / "runs").glob("*.txt"))]
grid = prefcal.SweepGrid(
    away_seconds=(3600, 28_800), session_seconds=(30, 300), spread=(0.5,), lateness=(0.5,)
)
prefcal.sweep_msu(events, runs, "prefcal-sweep", grid=grid, users=50)
figures = {figure.name: figure for figure in build_report(read_material("prefcal-sweep")).figures}
drawing = figures["sweep-leaders"].drawing()
drawing

# %%
# MSU against expected latency-discounted gain, for the people in the middle, and for those for whom the two rank systems most and
# least alike. The report has the same for every other measure, and for each second of reading.
drawing = figures["sweep-msu-elg"].drawing()
drawing

# %%
drawing = figures["sweep-msu-elg-closest"].drawing()
drawing

# %%
drawing = figures["sweep-msu-elg-farthest"].drawing()
drawing
