"""
How fast people read
====================

The speed of each worker in words a second, as it was logged.
"""

# %%
# Speeds of workers against a log-normal law.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-demo/tables")
reads = {name: tables[name] for name in ("reads", "workers")}
speed = prefcal.fit(reads, options=prefcal.FitOptions(checks=False)).results["reading_speed_mu"]
drawing = Figure(figsize=(6, 4), layout="constrained")
speed.plot_qq(drawing.add_subplot())
drawing

# %%
# What is left of each read when the worker's own speed is known: a trend would mean that long texts are read otherwise.
drawing = Figure(figsize=(6, 4), layout="constrained")
speed.plot_residuals(drawing.add_subplot())
drawing
