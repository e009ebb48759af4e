"""When one visit of a stream ends and the next begins, for the pages that are served and for the tables alike."""

VISIT_GAP_SECONDS = 60
"""Signs of life at most this many wall seconds apart belong to one visit; study.json says so as visit_gap_seconds."""
