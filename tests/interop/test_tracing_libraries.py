"""The trace between libraries of which neither need be refarray's."""

import gc

import numpy as np
import pytest

import refarray as xp
from refarray.dlpack import trace

LIBRARIES = {
    "torch": lambda torch: (torch.from_dlpack, torch.asarray),
    "jax": lambda jax: (jax.dlpack.from_dlpack, jax.numpy.asarray),
    "tvm_ffi": lambda tvm_ffi: (tvm_ffi.from_dlpack, None),
}
END = ["taken over", "deleter called"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    module = pytest.importorskip(
        request.param, reason=f"{request.param} is not installed"
    )
    return LIBRARIES[request.param](module)


def life(t):
    """Return the kinds of steps, without those that only some libraries take."""
    optional = ("device asked", "device answered", "capsule dropped", "block ended")
    return [step.kind for step in t.steps if step.kind not in optional]


def test_another_library_takes(library, balance):
    from_dlpack, _ = library
    with balance:
        with trace() as t:
            y = from_dlpack(t.watch(xp.ones(1000, dtype=xp.float32)))
        # Some take the destructor away: then no more is seen before the deleter runs.
        assert life(t)[:2] == ["capsule asked", "capsule made"]
        assert t.steps[-1].kind == "block ended" and t.unseen
        del y
        gc.collect()
    assert life(t) == ["capsule asked", "capsule made", *END]
    assert t.producer == "refarray.Array"


def test_another_library_makes(library):
    _, make = library
    if make is None:
        pytest.skip("it has no arrays of its own")
    x = make(np.arange(4, dtype=np.float32))
    with trace(consumer="NumPy") as t:
        y = np.from_dlpack(t.watch(x))
    assert y.tolist() == [0.0, 1.0, 2.0, 3.0]
    del y
    assert life(t) == ["capsule asked", "capsule made", *END]
    assert t.consumer == "NumPy" and t.producer != "producer"


def test_neither_is_refarray():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with trace() as t:
        y = torch.from_dlpack(t.watch(np.arange(3.0)))
    assert (t.producer, t.consumer) == ("numpy.ndarray", "torch")
    assert y.tolist() == [0.0, 1.0, 2.0]
    del y
    assert life(t)[-2:] == END
