"""Flask application around the services, with its views and page values.

`pages` are the values that templates get, `show` makes them for the page on which a worker stands,
`blueprints` are the views. Uses `services`, `store` and the rooms before them.
"""
