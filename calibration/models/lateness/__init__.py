"""The decay of lateness: how much less often an update is of use for each visit that it comes late.

Read in this order: `answers`, `likelihood`, `error`, `fit`, `simulate`. Doubts about the law are in `calibration.checks.lateness`.
"""
