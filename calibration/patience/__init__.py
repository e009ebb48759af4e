"""The patience L: from preferences, from stops, by the agreement grid."""
