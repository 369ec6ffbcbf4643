"""Arrays with known sizes, and others with sizes that depend on values."""

from typing import Any


class Operands:
    """Arrays with known sizes, and others with sizes that depend on values.

    The known sizes include the true ones of the others, so that what fits by chance is
    seen: every unknown size is 3.
    """

    def __init__(self, xp: Any) -> None:
        self.v = xp.asarray([0.5, 0.25, 0.75, 0.125, 0.625])  # (5,)
        self.k = xp.asarray([0.5, 0.25, 0.75])  # (3,)
        self.one = xp.asarray([0.5])  # (1,)
        self.x = xp.asarray([[1.0, 2, 3], [0, 1, 1], [4, 0, 9], [2, 7, 1]])  # (4, 3)
        self.u = self.v[self.v > 0.3]  # (None,)
        self.w = self.v[self.v < 0.55]  # (None,)
        self.m = self.x[self.x[:, 0] > 0.5]  # (None, 3)
        self.q = self.m[:, self.k > 0.1]  # (None, None)
        self.mask = self.u > 0.6  # (None,)
        self.ints = xp.astype(self.u * 8, xp.int64)  # (None,)
        self.other_ints = xp.astype(self.w * 8, xp.int64)  # (None,)
        self.places = xp.nonzero(self.v > 0.3)[0]  # (None,)
        self.complex = xp.astype(self.u, xp.complex128)  # (None,)
        self.complex_m = xp.astype(self.m, xp.complex128)  # (None, 3)

    def pair(self, dtypes: tuple[str, ...]) -> tuple[Any, Any]:
        """Two vectors of unknown sizes, of a dtype that a function takes."""
        if "float64" in dtypes:
            return self.u, self.w
        if "int64" in dtypes:
            return self.ints, self.other_ints
        if "complex128" in dtypes:
            return self.complex, self.complex
        return self.mask, self.mask
