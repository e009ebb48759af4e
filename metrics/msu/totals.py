"""Means over users, kept up to date block by block, so that memory does not grow with their number."""

import numpy as np
from numpy.typing import NDArray

from metrics.msu.arrays import FloatArray


class UserTotals:
    """Means and squared deviations over the users met so far, for one run.

    Arrays have a row a topic, and a last one for a user's mean over the counted topics; NaN if no topic is counted.

    Parameters
    ----------
    counted : (topics,) ndarray of bool
        The topics of the last row.
    decays : int
        How many lateness decays.

    Attributes
    ----------
    users : int
        How many were met.
    mean_gain : (topics + 1, decays) ndarray of float64
        Mean gain of a user.
    squares : (topics + 1, decays) ndarray of float64
        Sum over users of the squared deviation from this mean.
    mean_seconds : (topics + 1,) ndarray of float64
        Mean time spent on fully read updates.
    mean_rate : (topics + 1, decays) ndarray of float64
        Mean of a user's gain per second, 0 for one who spent no time; in the last row, of the mean of these over topics.
    """

    def __init__(self, counted: NDArray[np.bool_], decays: int) -> None:
        rows = counted.size + 1
        self.counted = counted
        self.users = 0
        self.mean_gain = np.zeros((rows, decays))
        self.squares = np.zeros((rows, decays))
        self.mean_seconds = np.zeros(rows)
        self.mean_rate = np.zeros((rows, decays))

    def add(self, gain: FloatArray, seconds: FloatArray) -> None:
        """Add some users.

        Parameters
        ----------
        gain : (topics, decays, users) ndarray of float64
            What each gained.
        seconds : (topics, users) ndarray of float64
            Time each spent on fully read updates.
        """
        new = seconds.shape[1]
        share = new / (self.users + new)
        gains = with_mean(gain, self.counted)
        block = gains.mean(axis=2)
        step = block - self.mean_gain
        self.squares += ((gains - block[:, :, None]) ** 2).sum(axis=2) + step**2 * share * self.users
        self.mean_gain += step * share
        self.mean_seconds += (with_mean(seconds, self.counted).mean(axis=1) - self.mean_seconds) * share
        rates = with_mean(rate(gain, seconds[:, None, :]), self.counted).mean(axis=2)
        self.mean_rate += (rates - self.mean_rate) * share
        self.users += new


def with_mean(values: FloatArray, counted: NDArray[np.bool_]) -> FloatArray:
    """Append to the rows of an array the mean of the counted ones, NaN if there are none."""
    none = np.full(values.shape[1:], np.nan)
    mean = values[counted].mean(axis=0) if counted.any() else none
    return np.concatenate([values, mean[None]])


def rate(gain: FloatArray, seconds: FloatArray) -> FloatArray:
    """Divide entry by entry; 0 where no time was spent, NaN where that is not defined."""
    values = np.where(np.isnan(seconds), np.nan, np.zeros_like(gain))
    np.divide(gain, seconds, out=values, where=seconds > 0)
    return values
