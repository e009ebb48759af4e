"""Doubts about the models, one file each: what may be wrong, and how it would move the number, which no check does.

`registry` says which checks belong to which model; `finding` what a check returns.
"""
