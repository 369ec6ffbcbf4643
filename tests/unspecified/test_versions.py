"""Versions where the standard leaves a choice: docs/reference/unspecified.md."""

import pytest

import refarray


def test_an_unknown_version_is_a_value_error():
    with pytest.raises(ValueError, match="known versions"):
        refarray.zeros(1).__array_namespace__(api_version="2020.12")


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12"])
def test_what_belongs_to_the_arrays_is_that_of_2025_12(version):
    xp = refarray.namespace(version)
    x = xp.ones(2, dtype=xp.float32)
    # With a complex scalar, an error before 2024.12.
    z = x + 1j
    assert z.dtype is refarray.complex64
    assert xp.multiply(z, z).dtype is xp.astype(x, z.dtype).dtype is z.dtype
    assert complex(x[0]) == 1
    # A Python scalar in a function came with 2024.12.
    assert xp.add(1, x).dtype is xp.float32
