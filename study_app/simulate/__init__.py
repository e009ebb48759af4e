"""Simulated crowd: people with known parameters in a study, by requests to its server.

`truth` says what they are like, `world` what they can know of the material, `mind` how a person reads and decides, `person` and
`follower` how one lives, `crowd` lets many of them live at once on a `site`, the browser with its clock; `connection` is its HTTP, `trial` the server they come to.
Uses every room before `web` and the app itself.
"""
