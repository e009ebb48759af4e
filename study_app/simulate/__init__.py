"""A simulated crowd: people with known parameters who go through a study over its real HTTP routes.

`clock` and `server` give the study a virtual clock, `site` fetches and parses pages as a browser would, `mind` says
how a person decides and reads (pure), `events` writes what a browser would log, `person` puts these together and
`crowd` lets many of them live at once.
"""
