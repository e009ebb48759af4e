"""Preview of a study: every page as workers see it, each in its own copy.

It turns a study's content into a WSGI app with a list of all pages. It uses `web` and `simulate`.
"""
