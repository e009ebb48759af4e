"""The names of numpy's arrays in signatures, by what they hold; shapes stand in docstrings."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Places: TypeAlias = NDArray[np.intp]
"""Where something stands in another array."""
Bools: TypeAlias = NDArray[np.bool_]
