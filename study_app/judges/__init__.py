"""Judges that are no people: requests from a study file, programs and servers that answer them, and the files between.

A judge is asked what people see of a pair, with sides called A and B and no name of a system.
"""
