"""
Streams: how measures rank systems
==================================

MSU beside the measures of the Temporal Summarization track, for the people who were fitted and for others.
"""

# %%
# MSU against expected latency-discounted gain.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
drawing = figures["streams-streams-elg-msu"].drawing()
drawing

# %%
# Against latency comprehensiveness.
drawing = figures["streams-streams-lc-msu"].drawing()
drawing

# %%
# The people for whom MSU ranks most and least like it.
drawing = figures["streams-streams-msu-closest"].drawing()
drawing

# %%
drawing = figures["streams-streams-msu-farthest"].drawing()
drawing

# %%
# The same for each second of reading.
drawing = figures["streams-streams-msu-s-closest"].drawing()
drawing

# %%
# Which system is best for whom.
drawing = figures["streams-streams-best"].drawing()
drawing
