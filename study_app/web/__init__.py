"""Flask application around the services, with its views and page values.

`pages` are the values that templates get, `render_step` makes them for the page on which a worker stands,
`blueprints` are the views. Uses `services`, `insert_row` and the rooms before them.
"""
