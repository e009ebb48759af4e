"""What a simulated crowd knows of the material."""
