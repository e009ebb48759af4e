"""
How long people stay, and stay away
===================================

The two laws behind Modeled Stream Utility, fitted to a diary study.
"""

# %%
# How often people came back, against studies that are simulated from the fit: outside the grey band the law is wrong.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-demo/tables")
diary = {name: tables[name] for name in ("follows", "visits", "workers")}
fits = prefcal.fit(diary, options=prefcal.FitOptions(checks=False)).results
drawing = Figure(figsize=(6, 4), layout="constrained")
fits["away_mean_seconds"].plot_totals(drawing.add_subplot())
drawing

# %%
# The same people one by one: quantiles of what was seen against those of the fit.
drawing = Figure(figsize=(6, 4), layout="constrained")
fits["away_mean_seconds"].plot_qq(drawing.add_subplot())
drawing

# %%
# How long people stayed, in a log of another tool. Where many sessions were cut by the end of what there was to read, as in the study
# above, there is no band to hold them against, and the plot says so instead.
from calibration.interchange.visits import VisitColumns, read_foreign_visits

columns = VisitColumns(worker="user", topic="feed", start="opened", end="closed")
log = read_foreign_visits("../notebooks/log.csv", columns).visits
sessions = prefcal.fit({"visits": log}, options=prefcal.FitOptions(checks=False)).results[
    "session_mean_seconds"
]
drawing = Figure(figsize=(6, 4), layout="constrained")
sessions.plot_qq(drawing.add_subplot())
drawing

# %%
drawing = Figure(figsize=(6, 4), layout="constrained")
sessions.plot_totals(drawing.add_subplot())
drawing
