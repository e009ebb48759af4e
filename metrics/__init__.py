"""Effectiveness measures for layered summaries, streams, push notifications and time-aware ranking.

Knows neither `calibration` nor `study_app`. Readers of files live in `metrics.readers`, one measure family in
each other module.
"""
