"""Kinds of task: a module for each, and `kinds`, the table of them.

In come the entries of a study file with its collections and runs, out go values and functions that every later room asks for by the name
of the kind. Uses `protocol` and `study`.
"""
