"""
Streams: how measures rank systems
==================================

MSU beside the measures of the Temporal Summarization track, for the people who were fitted and for others.
"""

# %%
# MSU against expected latency-discounted gain.
from study_app.report.build import build_report
from study_app.report.drawing.look import ReportLook
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
look = ReportLook()
drawing = figures["streams-streams-elg-msu"].draw(look)
drawing

# %%
# Against latency comprehensiveness.
drawing = figures["streams-streams-lc-msu"].draw(look)
drawing

# %%
# The people for whom MSU ranks most and least like it.
drawing = figures["streams-streams-msu-closest"].draw(look)
drawing

# %%
drawing = figures["streams-streams-msu-farthest"].draw(look)
drawing

# %%
# The same for each second of reading.
drawing = figures["streams-streams-msu-s-closest"].draw(look)
drawing

# %%
# Which system is best for whom.
drawing = figures["streams-streams-best"].draw(look)
drawing
