"""Dwell times, screen positions and visits from the events of a page; pure.

`page_events` reads what a browser sent, `dwell` gives each item its time, `visit_record` cuts visits;
`event_arrays`, `loops` and `sign_loops` do it for many pages at once. Uses `protocol` and `tasks`.
"""
