"""The Flask app around the services: one request in, one page, redirect or JSON out.

`pages` are the values that templates get, `show` makes them for the page on which a worker stands, `blueprints` are the views. Uses
`services`, `store` and the rooms before them.
"""
