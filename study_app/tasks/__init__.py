"""The kinds of task: one module for each, with all that differs between kinds, and `kinds`, the one table of them.

In come the entries of a study file with its collections and runs, out go values and functions that every later room asks for by the name
of the kind. Uses `protocol` and `study`.
"""
