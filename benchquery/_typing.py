"""Names for types that need numpy, for type checkers only: nothing imports this at run time."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Features = npt.NDArray[np.float32]
Ints = npt.NDArray[Any]
