"""The rules of a study, pure: what a side is, order, balance, limits, steps, streams, items of texts, flags; no SQL, no clock.

Values in, values out; uses nothing of `study_app`.
"""
