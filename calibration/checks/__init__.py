"""Doubts about the models, one file each, which never change a number.

Each says what may be wrong, and how it would move the number.

`registry` says which checks belong to which model; `finding` what a check returns.
"""
