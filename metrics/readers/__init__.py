"""The only place of the package that parses files; one format family a module."""
