"""The value of the page on which a worker stands."""
