"""The exchange with array-api-strict, which does what NumPy does.

In CI: yes
"""

import numpy as np
import pytest
from arrays import DTYPES, ours
from exchange import Exchange, library, load
from faults import answers_wrong

import refarray as xp

strict = library("array_api_strict")

LIBRARY = "array-api-strict"


class TestExchange(Exchange):
    adapter = load("array_api_strict")
    takes = [name for name in DTYPES if name != "float16"]
    refusal = TypeError
    read_only = "kept"
    asks = {"max_version": (1, 0), "dl_device": None, "copy": None}
    asks_device = False
    gives_version = (1, 0)


@pytest.mark.works
def test_pretended_devices():
    """Arrays on its pretended devices come as what they are, memory of the CPU."""
    x = strict.ones(3, device=strict.Device("device1"))
    assert xp.from_dlpack(x).device == xp.Device("cpu")


@pytest.mark.works
def test_one_function_of_the_standard_for_both():
    """Code of the standard gives the same for its arrays and ours, up to the bit."""

    def deviation(x):
        namespace = x.__array_namespace__()
        return namespace.std(x * x, axis=1)

    x = ours()
    assert np.from_dlpack(deviation(x)).tolist() == (
        np.from_dlpack(deviation(strict.from_dlpack(x))).tolist()
    )


@pytest.mark.bug(None)
def test_answers_to_faulty_capsules():
    """NULL with six elements, and versions that were not announced, are taken."""
    wrong = answers_wrong(strict.from_dlpack, lambda y: np.asarray(y).ravel().tolist())
    assert wrong == {  # what NumPy does, on which it is built
        "data NULL with 6 elements",
        "announced (2, 0), capsule on (1, 0)",
        "announced (1, 0), capsule on (3, 0)",
    }
