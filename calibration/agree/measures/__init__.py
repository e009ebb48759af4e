"""Measures whose agreement is reported, scored for every system of a task."""
