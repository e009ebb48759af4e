"""Use cases of a worker, one function each, with the session as first argument."""
