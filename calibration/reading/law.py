"""The law of one read's log speed around its worker's: read, idle, skimmed, or anything.

e ~ sum_k p_k N(m_k, tau^2 + d_k^2):  read  m = 0, d = 0;  idle  m = -1.6, d = 0.9;  skimmed  m = 1.6, d =
0.5;
    anything  m = 0, d = 3 with a fixed share of 0.002, so that a single absurd time has little say
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from calibration.inference.uncertainty import Floats
from calibration.reading.rows import Flags

OFFSETS = np.array([0.0, -1.6, 1.6, 0.0])
EXTRA_VARIANCES = np.array([0.0, 0.9, 0.5, 3.0]) ** 2
ANYTHING = 0.002
_TINY = 1e-300


class ReadLaw:
    """The law of one residual at given parameters: (mu, log sigma,) log tau, a_idle, a_skimmed."""

    def __init__(self, p: Floats) -> None:
        odds = np.exp(np.array([0.0, p[3], p[4]]) - max(0.0, p[3], p[4]))
        self.softmax = odds / odds.sum()
        self.shares = np.append((1 - ANYTHING) * self.softmax, ANYTHING)
        variance = math.exp(2 * p[2]) + EXTRA_VARIANCES
        self.sd = np.sqrt(variance)
        self.pull = math.exp(2 * p[2]) / variance

    def of(self, e: Floats, cut: Flags) -> "LawValues":
        """Return f (F where cut) of residuals.

        Parameters
        ----------
        e : (n, k) ndarray of float
            Residuals at k nodes.
        cut : (n,) ndarray of bool
            Which rows are left-censored.
        """
        parts, tau_slope = [], np.zeros_like(e)
        for share, offset, sd, pull in zip(self.shares, OFFSETS, self.sd, self.pull, strict=True):
            z = (e - offset) / sd
            density = (share / math.sqrt(2 * math.pi)) * np.exp(-0.5 * z**2)
            part = density / sd
            tau_part = part * (z**2 - 1)
            if cut.any():
                part[cut] = share * ndtr(z[cut])
                tau_part[cut] = -z[cut] * density[cut]
            tau_slope += pull * tau_part
            parts.append(part)
        told = parts[0] + parts[1] + parts[2]
        value = np.maximum(told + parts[3], _TINY)
        return LawValues(
            value=value, told=told, idle=parts[1], skimmed=parts[2], tau_slope=tau_slope, softmax=self.softmax
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LawValues:
    """f of some residuals, its parts, and d f / d log tau; (n, k) each."""

    value: Floats
    told: Floats
    idle: Floats
    skimmed: Floats
    tau_slope: Floats
    softmax: Floats

    def slopes(self, weight: Floats) -> Floats:
        """Return (n, 3): the slopes of log f in log tau, a_idle and a_skimmed, added up over nodes with (n, k) weights."""
        relative = weight / self.value
        tau, idle, skimmed, told = (
            np.einsum("nk,nk->n", part, relative)
            for part in (self.tau_slope, self.idle, self.skimmed, self.told)
        )
        return np.stack([tau, idle - self.softmax[1] * told, skimmed - self.softmax[2] * told], axis=1)
