"""Use cases of the researcher, one function each."""
