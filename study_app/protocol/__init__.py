"""Rules of a study, without SQL and clock.

Rules map values to values; the package uses nothing of `study_app`.
"""
