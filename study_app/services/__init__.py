"""Use cases of the study server, one function each.

The session is the first argument, the time an argument too; none of them commits. Rows are locked in one order, so that no two transactions
wait for each other: study, page load, worker, tasks as they stand in the study, slot.
"""
