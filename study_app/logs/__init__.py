"""Pure: events of a page -> dwell times, places, visits.

`page_events` reads what a browser sent, `dwell` whose time it was, `visit_record` what of it is a visit; `event_arrays`, `loops` and
`sign_loops` do it for many pages at once. Uses `protocol` and `tasks`.
"""
