"""What must hold in a database beyond what its schema says."""
