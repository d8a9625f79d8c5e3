"""Names for types that need numpy, for type checkers only: nothing imports this at run time."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchquery.kinds.architectures.arch import Arch

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Features = npt.NDArray[np.float32]
Ints = npt.NDArray[Any]
Keys = Ints | Iterable[Arch | int]
