"""Prolific by its API: studies there, lists of submissions, and orders to approve, to pay and to tell.

`api` calls, knows when a call may be repeated and stores each, `answers` says what the answers must have, `stakes` what depends on a call,
and the others are one use each. Nobody
is ever rejected: there is no such call. What was read of the API, and what is assumed, stands in docs/prolific-api.md.
"""
