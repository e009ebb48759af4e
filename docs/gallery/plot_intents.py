"""
Which intents people have
=========================

P(i|q) from votes: the fewer votes a query has, the more its shares are drawn towards the mean.
"""

# %%
# Shares as they were voted, and as they are estimated.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-demo/tables")
voted = {name: tables[name] for name in ("intent_votes", "workers")}
intents = prefcal.fit(voted).intents
drawing = Figure(figsize=(6, 4), layout="constrained")
intents.plot_shrinkage(drawing.add_subplot())
drawing
