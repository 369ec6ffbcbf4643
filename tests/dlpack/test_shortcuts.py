"""The shortcuts to tensors of PyTorch and Paddle, on stand-ins for these libraries.

A stand-in has the questions that refarray asks, and a table of the C exchange API whose
functions are called and counted. The libraries themselves are in tests/field.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import refarray as xp
from refarray.testing import exchange
from refarray.testing.forge import READ_ONLY, Tensor, forge
from refarray.testing.producers import Producer

pytestmark = pytest.mark.usefixtures("unguarded")

GOOD = Tensor.of([1.0, 2.0, 3.0], (3,))
TABLE = exchange.capsule(exchange.table())


class Stub(Producer):
    """A producer that counts the ways to its memory.

    Through the table it lends memory marked read-only, so that the result tells which
    way it came.
    """

    __dlpack_c_exchange_api__ = TABLE

    def __init__(self, *, refusal: Exception | None = None, **state: Any) -> None:
        super().__init__(GOOD)
        self.refusal, self.state = refusal, state

    def exchange_capsule(self) -> object:
        if self.refusal is not None:
            raise self.refusal
        return forge(GOOD.but(flags=READ_ONLY))[0]


class TorchStub(Stub):
    """The state of a tensor of torch: plain if nothing is said."""

    @property
    def is_cpu(self) -> bool:
        return self.state.get("is_cpu", True)

    @property
    def requires_grad(self) -> bool:
        return self.state.get("requires_grad", False)

    def is_conj(self) -> bool:
        return self.state.get("is_conj", False)

    def is_neg(self) -> bool:
        return self.state.get("is_neg", False)

    def is_pinned(self) -> bool:
        return self.state.get("is_pinned", False)


class PaddleStub(Stub):
    """The state of a tensor of Paddle: plain if nothing is said."""

    @property
    def stop_gradient(self) -> bool:
        return self.state.get("stop_gradient", True)

    def is_dense(self) -> bool:
        return self.state.get("is_dense", True)

    @property
    def place(self) -> Any:
        return SimpleNamespace(is_cpu_place=lambda: self.state.get("on_cpu", True))


#: What torch says of itself: it is built for accelerators, and may pin memory.
VERSION = SimpleNamespace(cuda="13.0", hip=None)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Put a stand-in for a library in its place, and return its new tensor type."""

    def install(name: str, *, version: Any = VERSION, **attributes: Any) -> Any:
        base = {"torch": TorchStub, "paddle": PaddleStub}[name]
        kind = type("Tensor", (base,), attributes)
        kind.__module__ = name
        module = SimpleNamespace(Tensor=kind, version=version)
        monkeypatch.setitem(sys.modules, name, module)
        return kind

    return install


def came_through_the_table(x: Any) -> bool:
    """Import twice, for the type is known from then on; both go the same way."""
    both = [memoryview(xp.from_dlpack(x)) for _ in range(2)]
    assert [view.tolist() for view in both] == [[1.0, 2.0, 3.0]] * 2
    (through_table,) = {view.readonly for view in both}
    return through_table


def test_a_plain_tensor_comes_through_the_table(library: Any) -> None:
    for name in ("torch", "paddle"):
        assert came_through_the_table(library(name)())


@pytest.mark.parametrize("state", ["requires_grad", "is_conj", "is_neg", "is_pinned"])
def test_a_tensor_of_torch_that_is_not_plain_is_asked(library: Any, state: str) -> None:
    kind = library("torch")
    assert not came_through_the_table(kind(**{state: True}))
    assert came_through_the_table(kind())


@pytest.mark.parametrize("state", ["stop_gradient", "is_dense", "on_cpu"])
def test_a_tensor_of_paddle_that_is_not_plain_is_asked(
    library: Any, state: str
) -> None:
    kind = library("paddle")
    assert not came_through_the_table(kind(**{state: False}))
    assert came_through_the_table(kind())


@pytest.mark.parametrize("kind", [BufferError, RuntimeError])
def test_what_the_table_refuses_is_asked_for(
    library: Any, kind: type[Exception]
) -> None:
    # The object then says itself what is wrong, if anything is.
    assert not came_through_the_table(library("torch")(refusal=kind("sample")))


def test_another_error_of_the_table_arrives(library: Any) -> None:
    kind, error = library("torch"), KeyError("sample")
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            xp.from_dlpack(kind(refusal=error))
        assert caught.value is error


@pytest.mark.parametrize("base", [TorchStub, PaddleStub, Stub])
def test_a_table_of_another_library_is_not_used(base: Any) -> None:
    assert not came_through_the_table(base())


@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_a_table_on_a_subclass_is_not_used(library: Any, name: str) -> None:
    # A subclass may give another meaning to its memory, and inherits the table.
    assert not came_through_the_table(type("Mine", (library(name),), {})())


def test_a_release_of_torch_without_versions_is_asked(library: Any) -> None:
    assert not came_through_the_table(library("torch", version=None)())


# Without a table, or where it is not used ---------------------------------------------


def asked(x: Producer) -> list[str]:
    """Return which methods of the protocol the last of three imports called."""
    for _ in range(3):
        x.calls.clear()
        assert memoryview(xp.from_dlpack(x)).tolist() == [1.0, 2.0, 3.0]
    return [name for name, _ in x.calls]


@pytest.fixture
def torch(library: Any) -> Any:
    """A release of torch that has no table."""
    return library("torch", __dlpack_c_exchange_api__=None)


def test_a_tensor_that_says_it_is_on_the_host_is_not_asked_for_its_device(
    torch: Any,
) -> None:
    assert asked(torch()) == ["__dlpack__"]
    assert asked(type("Mine", (torch,), {})()) == ["__dlpack__"]


def test_pinned_memory_is_asked_for_its_device(torch: Any) -> None:
    # A GPU may be writing to it.
    assert asked(torch(is_pinned=True)) == ["__dlpack_device__", "__dlpack__"]


def test_a_subclass_with_a_device_of_its_own_is_asked_for_it(torch: Any) -> None:
    class Elsewhere(torch):
        def __dlpack_device__(self) -> tuple[int, int]:
            return super().__dlpack_device__()

    assert asked(Elsewhere()) == ["__dlpack_device__", "__dlpack__"]
