"""Patience L: from preferences, from stops, by the agreement grid; side by side and never pooled.

In go tables preferences, positions, intents and stops; out come all that they tell (`fit`). `pairs` joins judged summaries for
`preferences` (by the likelihood of `profile`, with `judges` who differ) and `grid`; `stops` uses the survival curve of `readers`, and
has its result, and what draws stops, in `stops_result`; `persistence` is of ranked lists; `simulate` draws all else. Uses
`calibration.inference` and `calibration.tables`.
"""
