"""Sizes that the program must not know."""

from __future__ import annotations

import pytest

from refarray._base.layout import (
    Shape,
    Unknown,
    broadcast_shapes,
    check_shape,
    from_sizes,
    size_of,
)


def test_what_is_computed_from_an_unknown_size_is_unknown() -> None:
    n = Unknown(6)
    results = [n + 1, 1 + n, n - 1, 10 - n, n * 2, 2 * n, n // 4, n + n, sum([1, n])]
    assert [type(m) for m in results] == [Unknown] * len(results)
    assert [int(m) for m in results] == [7, 7, 5, 4, 12, 12, 1, 12, 7]
    assert type(size_of((2, n))) is Unknown
    assert type(n - 0.5) is float


def test_an_unknown_size_equals_its_like_alone() -> None:
    n = Unknown(3)
    assert n == Unknown(3)
    assert n != Unknown(4)
    assert n != 3
    assert not n == 3
    assert (3,) != (n,)
    assert hash(n) == hash(Unknown(3))
    assert not Unknown(0)


def test_an_unknown_size_is_not_shown() -> None:
    n = Unknown(3)
    assert repr(n) == str(n) == f"{n}" == "None"
    assert str((n, 3)) == "(None, 3)"


def test_from_sizes() -> None:
    assert type(from_sizes(2, 2, 3)) is int
    assert type(from_sizes(2, 2, Unknown(3))) is Unknown


@pytest.mark.parametrize(
    ("shapes", "wanted"),
    [
        ([(Unknown(3),), (1,)], (Unknown(3),)),
        ([(1,), (Unknown(3),)], (Unknown(3),)),
        ([(Unknown(1),), (1,)], (Unknown(1),)),
        ([(Unknown(3),), ()], (Unknown(3),)),
        ([(Unknown(3),), (Unknown(3),)], (Unknown(3),)),
        ([(Unknown(1),), (Unknown(3),)], (Unknown(3),)),
        ([(Unknown(3),), (Unknown(1),)], (Unknown(3),)),
        ([(Unknown(0),), (1,)], (Unknown(0),)),
        ([(2, Unknown(3)), (2, 1)], (2, Unknown(3))),
        ([(Unknown(4), 1), (Unknown(3),)], (Unknown(4), Unknown(3))),
    ],
)
def test_unknown_sizes_broadcast(shapes: list[Shape], wanted: Shape) -> None:
    assert broadcast_shapes(*shapes) == wanted


@pytest.mark.parametrize(
    "shapes",
    [
        [(Unknown(3),), (3,)],
        [(3,), (Unknown(3),)],
        [(Unknown(1),), (3,)],
        [(3,), (Unknown(1),)],
        [(Unknown(2),), (Unknown(3),)],
    ],
)
def test_unknown_sizes_do_not_meet_others(shapes: list[Shape]) -> None:
    with pytest.raises(ValueError, match=r"do not broadcast: sizes .*None"):
        broadcast_shapes(*shapes)


def test_check_shape_keeps_an_unknown_size() -> None:
    assert check_shape((2, Unknown(3))) == (2, Unknown(3))
