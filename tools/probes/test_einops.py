"""einops: rearranging axes by name."""

import einops.array_api as einops

import refarray as xp


def values(x):
    assert isinstance(x, xp.Array)
    return memoryview(x).tolist()


def test_rearrange():
    x = xp.reshape(xp.arange(6), (1, 2, 3))
    assert values(einops.rearrange(x, "a b c -> c (a b)")) == [[0, 3], [1, 4], [2, 5]]
    assert values(einops.rearrange(x, "1 b c -> (b c)")) == [0, 1, 2, 3, 4, 5]


def test_reduce():
    x = xp.reshape(xp.arange(6, dtype=xp.float32), (2, 3))
    assert values(einops.reduce(x, "a b -> b", "sum")) == [3, 5, 7]
    assert values(einops.reduce(x, "a b -> a", "max")) == [2, 5]
    assert values(einops.reduce(x, "a b -> ", "mean")) == 2.5


def test_repeat():
    x = xp.asarray([1, 2])
    assert values(einops.repeat(x, "a -> a n", n=2)) == [[1, 1], [2, 2]]


def test_pack():
    parts = [xp.zeros((2, 3)), xp.ones((2,))]
    packed, shapes = einops.pack(parts, "n *")
    assert values(packed) == [[0, 0, 0, 1]] * 2
    for part, back in zip(parts, einops.unpack(packed, shapes, "n *"), strict=True):
        assert values(back) == values(part)
