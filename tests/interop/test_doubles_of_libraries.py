"""The producers of refarray.testing.doubles, handed to other libraries.

Where a library does not answer as the fault says, the name stands here, so that a
repair is noticed. NumPy is in tests/testing/test_doubles.py.
"""

import numpy as np
import pytest

from refarray.testing import doubles


def answers_wrong(from_dlpack, read, deadly=()):
    """The faults to which a library has another answer than it should."""
    wrong = set()
    for fault in doubles.producers():
        if fault.name in deadly:
            continue
        double = doubles.producer(fault)
        try:
            y = from_dlpack(double.array)
        except Exception:
            answer = "refuses"
        else:
            answer = "accepts"
            if double.values is not None:
                assert read(y) == double.values, fault.name
            del y
        if fault.answer not in (answer, "either"):
            wrong.add(fault.name)
        double.assert_released()
    return wrong


def test_torch():
    torch = pytest.importorskip(
        "torch", reason="torch is not installed; `make interop` installs it"
    )
    deadly = {  # torch ends the process: rules 48 and 51
        "negative strides",
        "ndim -1",
        "shape (2**40, 2**40)",
        "shape (2**61,)",
    }
    wrong = answers_wrong(torch.from_dlpack, lambda y: y.flatten().tolist(), deadly)
    assert wrong == {"data NULL with 6 elements"}


def test_tvm_takes_the_exchange_table():
    tvm_ffi = pytest.importorskip(
        "tvm_ffi", reason="TVM FFI is not installed; `make interop` installs it"
    )
    for fault in doubles.producers():
        if fault.rule > 60 and fault.answer == "accepts":
            with doubles.producer(fault) as double:
                y = tvm_ffi.from_dlpack(double.array)
                # It takes a table of version (2, 0) too, and that of an instance.
                assert (double.table_calls, double.keywords) == (1, [])
                assert np.from_dlpack(y).ravel().tolist() == double.values
                del y
    with doubles.producer("exchange table raises RuntimeError") as double:
        with pytest.raises(RuntimeError, match="is not exported"):
            tvm_ffi.from_dlpack(double.array)


def test_array_api_strict():
    strict = pytest.importorskip(
        "array_api_strict", reason="array-api-strict is not installed"
    )
    wrong = answers_wrong(strict.from_dlpack, lambda y: np.asarray(y).ravel().tolist())
    assert wrong == {  # what NumPy does, on which it is built
        "data NULL with 6 elements",
        "announced (2, 0), capsule on (1, 0)",
        "announced (1, 0), capsule on (3, 0)",
    }
