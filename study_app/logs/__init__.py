"""Events of a page -> dwell times, places, visits."""
