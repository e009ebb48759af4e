"""One use case, one function: the session first, the time an argument; none of them commits."""
