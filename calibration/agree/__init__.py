"""How well measures agree with the preferences of a study.

In come tables, a user model, collections and runs (`evidence`); out go the tables that `study.agree` makes and
`folder.write_agreement` writes. `measures` scores the systems, `task_agreement` and `comparisons` hold the scores against the
preferences of a `judged_task`; `stream_scores` is what is said of
streams apart from preferences, `stream_results` reads it again. It may use every room
of `calibration` but `fit`, `plan` and `simulate`.
"""
