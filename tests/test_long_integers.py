"""Integers of any length: what they are refused with is what the docstrings promise.

Python writes no integer of more than some 4,300 digits (ValueError). A message that
shows what was given must not turn into that error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import dlpack
from refarray.dlpack import Tensor
from refarray.testing.forge import Raw

LONG = 10**5000
REALS = xp.arange(6.0)
INTEGERS = xp.arange(3)
MATRIX = xp.ones((2, 2))


def test_python_writes_no_such_integer() -> None:
    with pytest.raises(ValueError, match="digits"):
        str(LONG)


class Announces:
    """A producer on the host whose `__dlpack_device__` answers something else."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack_device__(self) -> Any:
        return self.answer

    def __dlpack__(self, *, max_version: Any = None, **other: Any) -> Any:
        return REALS.__dlpack__(max_version=max_version)


REFUSED: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: INTEGERS + LONG, OverflowError),
    (lambda: xp.add(INTEGERS, -LONG), OverflowError),
    (lambda: REALS * LONG, OverflowError),
    (lambda: xp.full(3, LONG), OverflowError),
    (lambda: xp.full(3, LONG, dtype=xp.float64), OverflowError),
    (lambda: xp.asarray([LONG, 1]), OverflowError),
    (lambda: xp.asarray([LONG, 1.0]), OverflowError),
    (lambda: xp.clip(INTEGERS, LONG, LONG), OverflowError),
    (lambda: xp.arange(0, LONG, LONG - 1), OverflowError),
    (lambda: REALS.__setitem__(0, LONG), OverflowError),
    (lambda: xp.isin(INTEGERS, LONG), OverflowError),
    (lambda: REALS[LONG], IndexError),
    (lambda: REALS.__setitem__(-LONG, 1.0), IndexError),
    (lambda: xp.sum(REALS, axis=LONG), IndexError),
    (lambda: xp.flip(REALS, axis=(0, LONG)), IndexError),
    (lambda: xp.vecdot(REALS, REALS, axis=-LONG), IndexError),
    (lambda: xp.zeros(LONG), ValueError),
    (lambda: xp.zeros(-LONG), ValueError),
    (lambda: xp.reshape(REALS, (LONG,)), ValueError),
    (lambda: xp.repeat(REALS, LONG), ValueError),
    (lambda: xp.repeat(REALS, -LONG), ValueError),
    (lambda: xp.tile(REALS, (-LONG,)), ValueError),
    (lambda: xp.diff(REALS, n=-LONG), ValueError),
    (lambda: xp.linspace(0, 1, -LONG), ValueError),
    (lambda: xp.tensordot(REALS, REALS, axes=LONG), ValueError),
    (lambda: xp.fft.rfft(REALS, n=LONG), ValueError),
    (lambda: xp.linspace(0, LONG, 3, dtype=xp.bool), TypeError),
    (lambda: xp.arange(1j, LONG), TypeError),
    (lambda: REALS.__dlpack__(dl_device=(LONG, 0)), BufferError),
    (lambda: REALS.__dlpack__(dl_device=(LONG, "a")), TypeError),
    (lambda: REALS.__dlpack__(copy=LONG), TypeError),
    (lambda: xp.from_dlpack(Announces((LONG, 0))), BufferError),
    (lambda: xp.from_dlpack(Announces((1, LONG))), BufferError),
    (lambda: Tensor.from_dlpack(Announces((LONG, 0))), BufferError),
    (lambda: Tensor(LONG, (2,), "int8"), ValueError),
    (lambda: Tensor(8, (2,), "int8", device=(1, LONG)), ValueError),
    (lambda: Tensor(8, (2,), (LONG, 8, 1)), ValueError),
    (lambda: Tensor(8, (2,), "int8", strides=(LONG,)).__dlpack__(), ValueError),
    (
        lambda: Tensor.from_array(REALS).__dlpack__(dl_device=(LONG, 0)),
        BufferError,
    ),
]


@pytest.mark.parametrize(("call", "error"), REFUSED)
def test_refused_as_any_other(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert caught.type is error
    assert "set_int_max_str_digits" not in str(caught.value)


def test_taken_where_the_standard_has_an_answer() -> None:
    """Limits that no element reaches, diagonals outside, and shifts modulo the size.

    A consumer of any later version is given the producer's own.
    """
    for version in ((LONG, 0), (1, LONG)):
        assert Raw(REALS.__dlpack__(max_version=version)).version == (1, 3)
    assert np.from_dlpack(xp.clip(INTEGERS, -LONG, LONG)).tolist() == [0, 1, 2]
    assert (
        np.from_dlpack(xp.roll(INTEGERS, LONG)).tolist()
        == np.roll([0, 1, 2], LONG % 3).tolist()
    )
    assert xp.linalg.diagonal(MATRIX, offset=LONG).shape == (0,)
    assert float(xp.sum(xp.eye(2, k=LONG))) == 0
    assert float(xp.sum(xp.tril(MATRIX, k=LONG))) == 4
    assert REALS[:LONG].shape == (6,)


class Unshown(tuple[Any, ...]):
    """A device pair without a text."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    "answer",
    [(LONG, 0), (2, LONG), Unshown((2, 0)), Unshown("ab"), ([1], 0), ({}, {}), "ab"],
)
def test_the_tools_show_any_answer(answer: Any) -> None:
    """A trace passes it on, and so the consumer says what it says without a trace."""
    with pytest.raises(Exception) as alone:
        xp.from_dlpack(Announces(answer))
    with pytest.raises(alone.type), dlpack.trace() as t:
        xp.from_dlpack(t.watch(Announces(answer)))
    assert [step.kind for step in t.steps][:2] == ["device asked", "device answered"]
    assert "device answered" not in str(t) and "returns" in str(t)
    broken = dlpack.inspect(Announces(answer)).broken
    assert {rule.rule for rule in broken} <= {2, 54} and broken
    assert alone.type in (TypeError, BufferError)
