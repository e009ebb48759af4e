"""Every page of a study as workers see it: each in a copy of its own that is thrown away, reached by the simulated browser.

In comes a study's content, out goes a WSGI app with a list of all pages. Uses `web` and `simulate`.
"""
