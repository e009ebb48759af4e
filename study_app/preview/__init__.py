"""Preview of a study: every page as workers see it, each in its own copy.

In comes a study's content, out goes a WSGI app with a list of all pages. Uses `web` and `simulate`.
"""
