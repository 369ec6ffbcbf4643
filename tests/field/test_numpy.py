"""The exchange with NumPy.

In CI: yes
"""

import numpy as np
import pytest
from arrays import DTYPES, numbers, ours, raw, read_only, reads
from exchange import Exchange, load

import refarray as xp
from refarray.testing import doubles

LIBRARY = "NumPy"


class TestExchange(Exchange):
    adapter = load("numpy")
    takes = DTYPES
    read_only = "kept"
    asks = {"max_version": (1, 0), "dl_device": None, "copy": None}
    asks_device = False
    gives_version = (1, 0)
    given_read_only = "kept"


@pytest.mark.works
def test_strides_of_zero():
    """Lends its views whose strides are 0, and refarray knows not to write there."""
    a = np.broadcast_to(np.arange(3.0), (4, 3))
    x = xp.from_dlpack(a)
    assert x._strides == (0, 1)
    assert memoryview(x).readonly
    assert reads(x).tolist() == [[0.0, 1.0, 2.0]] * 4


@pytest.mark.works
def test_the_buffer_protocol():
    """`np.asarray` takes our arrays as well, by the buffer protocol."""
    x = ours()
    a = np.asarray(x)
    assert a.ctypes.data == raw(x).first
    assert a.tolist() == numbers().tolist()
    assert not np.asarray(read_only()).flags.writeable


@pytest.mark.refuses
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: np.asarray(["2026"], dtype="datetime64[Y]"), "DLPack only supports"),
        (lambda: np.asarray([object()]), "DLPack only supports"),
        (lambda: np.asarray([1.0], dtype=">f8"), "native byte order"),
        (lambda: np.zeros(2, dtype="f4,f8")["f1"], "multiple of itemsize"),
        (lambda: np.ones(2, dtype=np.longdouble), "without padding"),
    ],
)
def test_what_dlpack_cannot_describe_is_refused_by_numpy(balance, make, words):
    """Dates, objects, extended precision, the other byte order, odd strides."""
    with balance, pytest.raises(BufferError, match=words):
        xp.from_dlpack(make())


@pytest.mark.refuses
def test_legacy_capsules_of_read_only_arrays():
    """A legacy capsule of a read-only array, as it cannot say so."""
    a = np.arange(3.0)
    a.flags.writeable = False
    with pytest.raises(BufferError, match="readonly"):
        a.__dlpack__()


@pytest.mark.bug(None)
@pytest.mark.parametrize("keywords", [{"copy": False}, {"device": "cpu"}])
def test_numpy_does_not_ask_old_producers_again(keywords):
    """With `copy` or `device`, producers without these keywords fail."""

    class Old:
        def __dlpack__(self, stream=None):
            return ours().__dlpack__()

        def __dlpack_device__(self):
            return ours().__dlpack_device__()

    assert np.from_dlpack(Old()).tolist() == numbers().tolist()
    with pytest.raises(TypeError, match="unexpected keyword"):
        np.from_dlpack(Old(), **keywords)


@pytest.mark.bug(None)
def test_numpy_takes_memory_at_null():
    """NULL with six elements becomes an array of whatever lies in new memory."""
    with doubles.producer("data NULL with 6 elements") as double:
        assert np.from_dlpack(double.array).size == 6
