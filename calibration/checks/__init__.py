"""Doubts about the models, one file each, which never change a number.

Each names a possible fault and how it would move the number.

`registry` says which checks belong to which model; `finding` what a check returns.
"""
