"""Wording that the sentences of several families share."""

SMALLEST_P = 0.001


def shown_p(p_value: float) -> str:
    """Return `p = 0.012`, or `p < 0.001`."""
    return f"p < {SMALLEST_P:g}" if p_value < SMALLEST_P else f"p = {p_value:.3f}"
