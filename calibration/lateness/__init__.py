"""The decay of lateness: how much less often an update is still of use for each visit that it comes late.

In goes table lateness; out come L and p0, or these and a floor (`fit`). `likelihood` has the law, `floor` that with a floor, `laws` what else people may do
instead, `choice` which stands for the answers; `errors` and `intervals` say how far it may be off, `nuggets` and `shape` test, `notes` has words for
people, `naive` the baselines, `simulate` draws answers. Uses `calibration.inference` and `calibration.tables`.
"""
