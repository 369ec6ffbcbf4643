"""What is done with an array that came out of a capsule, beside a model in NumPy.

The model is made of the bytes that ctypes read, and shares nothing with the array.
Next: machine_model.py.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_input import DATA, Source
from fuzz_oracle import Seen

import refarray
from refarray import dlpack
from refarray.testing.forge import NAMES, Case, Raw

READ_ONLY, COPIED = 1, 2
VERSIONED = (1, 3)


class Both:
    """An array, and the same elements in NumPy; bfloat16 is two bytes there."""

    def __init__(self, x: Any, seen: Seen) -> None:
        self.x, self.seen = x, seen
        name = NAMES.get(seen.dtype, "float16" if seen.dtype[0] == 2 else "V2")
        self.is_standard = seen.dtype in NAMES
        values = np.frombuffer(bytearray(seen.elements()), name)
        self.model = values.reshape(seen.shape)
        self.views: list[Any] = []  # all that hold on to the tensor

    def same(self, x: Any, model: Any) -> None:
        """Compare all elements, by their bytes."""
        assert x.shape == model.shape, f"{x.shape} in place of {model.shape}"
        assert elements(x) == model.tobytes(), "other elements"


def elements(x: Any) -> bytes:
    """Return the bytes of all elements, in row-major order."""
    if str(x.dtype) != "bfloat16":
        return memoryview(x).tobytes()
    capsule = x.__dlpack__(max_version=VERSIONED)  # no buffer can say bfloat16
    raw = Raw(capsule)
    return Seen.at(raw.name, raw.address).elements()


def description(taken: Any, seen: Seen, case: Case) -> None:
    """Compare a description of memory with the tensor."""
    assert taken.shape == seen.shape
    assert taken.dtype == seen.dtype
    assert taken.device == seen.device
    assert taken.read_only == bool(seen.flags & READ_ONLY)
    if seen.size:
        assert taken.pointer == seen.first
        _same_steps(taken.strides, seen)
    assert case.deleter_calls == 0
    again = Raw(taken.__dlpack__(max_version=VERSIONED))
    assert again.shape == seen.shape
    assert again.dtype == seen.dtype


def array(
    held: list[Any], seen: Seen, case: Case, source: Source, *, copied: bool
) -> None:
    """Compare the array held with the tensor, and what is made of it; let go of all."""
    x = held[0]
    raw = Raw(x.__dlpack__(max_version=VERSIONED))
    assert raw.shape == x.shape == seen.shape
    assert raw.dtype == seen.dtype
    assert raw.device == (1, 0)
    assert raw.flags & READ_ONLY == (0 if copied else seen.flags & READ_ONLY)
    if seen.size and not copied:
        assert raw.first == seen.first
        _same_steps(raw.strides, seen)
    # A producer's own copy, nobody else's and writable, need not be copied again.
    is_other_memory = copied and seen.flags & (COPIED | READ_ONLY) != COPIED
    wanted = int(is_other_memory and case.tensor.deleter is not None)
    assert case.deleter_calls == wanted, f"{case.deleter_calls} calls of the deleter"
    del raw
    if not copied and seen.can_be_read(DATA.address, DATA.end):
        del x
        _act(Both(held.pop(), seen), source, case)
    elif copied and seen.size:
        assert elements(x) == seen.elements(), "another copy"


def _same_steps(steps: tuple[int, ...] | None, seen: Seen) -> None:
    for n, got, wanted in zip(seen.shape, steps or (), seen.strides, strict=True):
        assert got == wanted or n == 1, f"strides {steps} in place of {seen.strides}"


def _act(both: Both, source: Source, case: Case) -> None:
    both.same(both.x, both.model)
    if both.model.dtype.kind != "V":
        assert memoryview(both.x).readonly == bool(both.seen.flags & READ_ONLY)
    for _ in range(source.byte() % 8):
        ACTIONS[source.byte() % len(ACTIONS)](both, source)
    both.views.append(both.x)
    both.x = None
    while both.views:
        assert case.deleter_calls == 0, "the deleter was called too early"
        both.views.pop(source.byte() % len(both.views))


# ---- Actions -----------------------------------------------------------------------


def copy(both: Both, source: Source) -> None:
    """A copy has the elements, and its own memory."""
    out = refarray.asarray(both.x, copy=True)
    both.same(out, both.model)
    low, high = both.seen.reach()
    assert not low <= Raw(out.__dlpack__()).first < high


def write(both: Both, source: Source) -> None:
    """A write changes the elements, and no byte between or beside them."""
    if not both.is_standard:
        return
    before = bytearray(DATA.content())
    zero = refarray.zeros((), dtype=both.x.dtype)
    try:
        both.x[...] = zero
    except (TypeError, ValueError, BufferError):
        assert both.seen.flags & READ_ONLY
        return
    assert not both.seen.flags & READ_ONLY
    size = both.seen.itemsize
    for where in both.seen.addresses():
        at = where - DATA.address
        before[at : at + size] = bytes(size)
    assert DATA.content() == before, "bytes beside the elements were written"
    both.model[...] = 0


def index(both: Both, source: Source) -> None:
    """A part, by slices and integers."""
    key: list[Any] = []
    for n in both.seen.shape:
        kind = source.byte()
        if kind % 3 == 0:
            key.append(kind % n)
        else:
            start, step = source.byte() % (n + 1), source.byte() % 5 - 2 or 1
            key.append(slice(start if kind & 4 else None, None, step))
    try:
        wanted = both.model[tuple(key)]
        part = both.x[tuple(key)]
    except IndexError:  # the standard leaves some bounds open
        return
    both.same(part, np.asarray(wanted))
    both.views.append(part)


def reverse_axes(both: Both, source: Source) -> None:
    """The transposed array."""
    axes = tuple(reversed(range(both.model.ndim)))
    view = refarray.permute_dims(both.x, axes)
    both.same(view, both.model.transpose())
    both.views.append(view)


def flip(both: Both, source: Source) -> None:
    """All axes backwards."""
    view = refarray.flip(both.x)
    both.same(view, np.flip(both.model))
    both.views.append(view)


def flatten(both: Both, source: Source) -> None:
    """One axis, as a view where that is possible."""
    out = refarray.reshape(both.x, (-1,))
    both.same(out, both.model.reshape(-1))
    low, high = both.seen.reach()
    if low <= Raw(out.__dlpack__(max_version=VERSIONED)).first < high:
        both.views.append(out)


def pass_on(both: Both, source: Source) -> None:
    """Export it once more, and take that."""
    version = source.choose([(1, 0), None, (2, 0)])
    try:
        capsule = dlpack.to_capsule(both.x, max_version=version)
    except BufferError:
        assert version is None
        assert both.seen.flags & READ_ONLY
        return
    assert version or not both.seen.flags & READ_ONLY
    if source.byte() & 1:
        return  # dropped unused
    again = dlpack.from_capsule(capsule)
    both.same(again, both.model)
    both.views.append(again)


def to_numpy(both: Both, source: Source) -> None:
    """NumPy takes it."""
    if both.model.dtype.kind == "V":
        return
    a = np.from_dlpack(both.x)
    assert a.shape == both.model.shape
    assert a.tobytes() == both.model.tobytes()
    assert a.flags.writeable == (not both.seen.flags & READ_ONLY)
    both.views.append(a)


def compute(both: Both, source: Source) -> None:
    """Arithmetic and a reduction, on whatever layout and alignment."""
    if not both.is_standard:
        return
    if both.seen.dtype[0] == 6:
        both.same(both.x ^ both.x, both.model ^ both.model)
        return
    both.same(both.x + both.x, both.model + both.model)
    if both.seen.dtype[0] < 5:
        both.same(refarray.max(both.x), np.asarray(np.max(both.model)))


def save(both: Both, source: Source) -> None:
    """A pickle, old and new."""
    out = pickle.loads(pickle.dumps(both.x, protocol=2 + source.byte() % 4))
    both.same(out, both.model)


def look(both: Both, source: Source) -> None:
    """The inspector sees the same elements."""
    found = dlpack.inspect(both.x)
    assert found.tensor.first == both.seen.first
    assert found.unread is None
    str(both.x), repr(both.x)


ACTIONS: list[Callable[[Both, Source], None]] = [
    *(copy, write, index, reverse_axes, flip, flatten, pass_on, to_numpy),
    *(compute, save, look),
]
