"""Reading speed over workers: mean and spread of log words per second.

Read in this order: `rows`, `law`, `medians`, `mixture`, `items`, `fit`. Doubts about the law are in `calibration.checks.reading`.
"""
