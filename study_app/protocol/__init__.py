"""The rules of a study, pure: no SQL, no clock."""
