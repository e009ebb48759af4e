"""The study server, the simulated crowd, the report and the command line; may import both other packages."""
