"""One use case, one function: the session first, the time an argument; none of them commits.

Rows are locked in one order, so that no two transactions wait for each other: study, page load, worker, tasks as they stand in
the study, slot.
"""
