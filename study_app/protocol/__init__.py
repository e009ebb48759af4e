"""Rules of a study, without SQL and clock.

Values in, values out; uses nothing of `study_app`.
"""
