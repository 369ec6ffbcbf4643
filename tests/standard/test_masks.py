"""Masks: array API 2025.12, boolean array indexing."""

import itertools

import numpy as np
import pytest

import refarray as xp


def test_a_mask_of_size_0_selects_nothing():
    """Each size of a mask is that of its axis, or 0 (boolean array indexing)."""
    for shape in ((3,), (3, 2), (0, 1), (2, 3, 4)):
        x = xp.ones(shape)
        for sizes in itertools.product((0, 1, 2, 3), repeat=min(2, len(shape))):
            mask = xp.ones(sizes, dtype=xp.bool)
            covered = shape[: len(sizes)]
            if all(n in (size, 0) for n, size in zip(sizes, covered, strict=True)):
                wanted = np.ones(shape)[np.ones(sizes, dtype=bool)]
                assert x[mask].shape == wanted.shape
                x[mask] = 2.0
            else:
                with pytest.raises(IndexError):
                    x[mask]
