"""Push notifications: days, pool, gain and pain, the measures of the track and the contingency cells."""
