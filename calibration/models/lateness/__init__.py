"""Decay of lateness: how the use of an update falls with each visit it is late.

Read in this order: `answers`, `likelihood`, `error`, `fit`, `simulate`. Doubts about the law are in
`calibration.checks.lateness`.
"""
