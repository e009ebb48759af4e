"""Times away and session lengths of MSU's users: M and S of the workers' means.

Read in this order: `exposure`, `from_tables`, `likelihood`, `maximum`, `intervals`, `fit`; then `laws` (gamma rates, and what laws beside
the paper's share), `correlation` of times away and sessions, and `simulate`. Doubts about the law are in `calibration.checks.durations`.
"""
