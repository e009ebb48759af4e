"""Dwell times, screen positions and visits from the events of a page; pure.

`page_events` reads what a browser sent, `logged_events` places it in time, `loops` give each item its time and
`visit_record` cuts visits, for many pages at once (`event_arrays`); `screen` is one page from moment to moment. Uses `protocol` and `tasks`.
"""
