"""Capsules whose sizes and strides say more than there is: what is done stays inside.

The elements lie between pages that cannot be touched, in a child process, which would
end there. The fuzzer (fuzz.py) does the same with any numbers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import refarray
from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

HERE = Path(__file__).parent

#: Shape, strides in elements: what lies at the start of the pages, or at their end.
LAYOUTS = {
    "compact": ((5, 7), (7, 1)),
    "reversed": ((5, 7), (-7, -1)),
    "columns": ((5, 7), (1, 5)),
    "one backwards": ((5, 7), (7, -1)),
    "with gaps": ((5, 7), (31, 4)),
    "overlapping": ((5, 7), (1, 1)),
    "one element": ((1, 1, 1), (2**60, -(2**60), 5)),
    "one element, many times": ((4, 5), (0, 0)),
}
PROGRAM = """
import sys
sys.path[:0] = {path!r}
import guarded, numpy as np, pickle
import refarray as xp
from refarray import dlpack
from refarray.testing.forge import DTYPES, Tensor
from refarray.testing.producers import Producer

pages = guarded.Guarded(1)
shape, strides = {layout!r}
ends = [(n - 1) * step for n, step in zip(shape, strides)]
low = sum(end for end in ends if end < 0)
high = sum(end for end in ends if end > 0)
for name, (dtype, letters) in DTYPES.items():
    size = dtype[1] // 8
    places = pages.address - size * low, pages.end - size * (high + 1)
    for place in places:
        pages.open(guarded.NONE)
        x = xp.from_dlpack(Producer(Tensor(place, shape, strides, dtype)))
        pages.open(guarded.WRITE)
        y = xp.ones(x.shape, dtype=x.dtype)
        x[...] = y
        same = [
            xp.asarray(x, copy=True), xp.reshape(x, (-1,)), xp.flip(x), x[..., ::-1],
            xp.from_dlpack(x), xp.from_dlpack(x, copy=True), xp.concat([x, x]),
            dlpack.from_capsule(dlpack.to_capsule(x)), xp.astype(x, x.dtype),
            pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x, 2)),
            xp.sort(x) if dtype[0] in (0, 1, 2) else x, xp.roll(x, 1),
            xp.where(xp.equal(x, y), x, y), xp.unique_values(x), xp.tril(xp.stack([x])),
        ]
        for z in same[:-1]:
            assert bool(xp.all(xp.astype(z, xp.bool)))
        a = np.from_dlpack(x)
        assert a.tolist() == np.ones(shape, name).tolist() == np.asarray(x).tolist()
        str(x), dlpack.inspect(x).svg()
        del x, z, a, same
print("inside")
"""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.needs("mprotect")
def test_nothing_outside_of_the_extent_is_touched(layout):
    path = [str(HERE), str(HERE.parents[1])]
    program = PROGRAM.format(path=path, layout=LAYOUTS[layout])
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == "inside\n", ended.stderr


def test_very_many_elements_over_one():
    # A stride of 0: the extent is one element, however many there are said to be.
    one = Tensor.of([3.0], (1,))
    x = refarray.from_dlpack(Producer(one.but(shape=(2**59,), strides=(0,))))
    assert x.size == 2**59
    assert float(x[2**58]) == 3.0
    assert refarray.sum(x[:: 2**57]) == 12.0
    with pytest.raises(MemoryError):
        refarray.asarray(x, copy=True)
    with pytest.raises(MemoryError):
        refarray.from_dlpack(x, copy=True)
    with pytest.raises(MemoryError):
        x + x
    with pytest.raises(IndexError):
        x[2**59]


@pytest.mark.parametrize(
    "shape, strides",
    [
        ((2**60, 8), (8, 1)),
        ((2**31, 2**31, 2), (0, 0, 0)),
        ((2,), (2**60,)),
        ((2,), (-(2**60),)),
        ((3, 3), (2**62, -(2**62))),
        ((2**32, 2**32), (1, 2**32)),
    ],
)
def test_what_no_extent_can_be_given_for_is_refused(shape, strides):
    x = Producer(Tensor.of([1.0], (1,)).but(shape=shape, strides=strides))
    with pytest.raises(BufferError, match="describe an array"):
        refarray.from_dlpack(x)
    assert x.deleter_calls == [1]
