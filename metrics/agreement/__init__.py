"""Agreement of measures with preferences: ceilings, comparisons and correlations."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "agreements",
    "bootstrap_interval",
    "compare",
    "correlate",
    "kendall_tau_b",
    "tau_ap",
]

if TYPE_CHECKING:
    from metrics.agreement.agreement import agreements
    from metrics.agreement.comparison import compare
    from metrics.agreement.correlation import bootstrap_interval, correlate, kendall_tau_b, tau_ap
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".agreement", ".comparison", ".correlation")
