"""The shortcuts to tensors of PyTorch and Paddle, on stand-ins for these libraries.

A stand-in has the questions that refarray asks, and a table of the C exchange API whose
functions are called and counted. The libraries themselves are in tests/field.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import refarray as xp
from refarray.testing import exchange
from refarray.testing.forge import READ_ONLY, Tensor, forge
from refarray.testing.producers import Producer

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


def named(base: type, library: str, **attributes: Any) -> Any:
    """Return a new class that refarray takes for that library's tensor."""
    kind = type("Tensor", (base,), attributes)
    kind.__module__ = library
    return kind


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A torch for accelerators, which may pin memory."""
    version = SimpleNamespace(cuda="13.0", hip=None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(version=version))
    return named(TorchStub, "torch")


def came_through_the_table(x: Any) -> bool:
    """Import twice, for the type is known from then on; both go the same way."""
    both = [memoryview(xp.from_dlpack(x)) for _ in range(2)]
    assert [view.tolist() for view in both] == [[1.0, 2.0, 3.0]] * 2
    (through_table,) = {view.readonly for view in both}
    return through_table


def test_a_plain_tensor_comes_through_the_table(torch: Any) -> None:
    assert came_through_the_table(torch())
    assert came_through_the_table(named(PaddleStub, "paddle")())


@pytest.mark.parametrize("state", ["requires_grad", "is_conj", "is_neg", "is_pinned"])
def test_a_tensor_of_torch_that_is_not_plain_is_asked(torch: Any, state: str) -> None:
    x = torch(**{state: True})
    assert not came_through_the_table(x)
    assert torch().is_cpu and came_through_the_table(torch())


@pytest.mark.parametrize("state", ["stop_gradient", "is_dense", "on_cpu"])
def test_a_tensor_of_paddle_that_is_not_plain_is_asked(state: str) -> None:
    kind = named(PaddleStub, "paddle")
    assert not came_through_the_table(kind(**{state: False}))
    assert came_through_the_table(kind())


@pytest.mark.parametrize("kind", [BufferError, RuntimeError])
def test_what_the_table_refuses_is_asked_for(torch: Any, kind: type[Exception]) -> None:
    # The object then says itself what is wrong, if anything is.
    assert not came_through_the_table(torch(refusal=kind("sample")))


def test_another_error_of_the_table_arrives(torch: Any) -> None:
    error = KeyError("sample")
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            xp.from_dlpack(torch(refusal=error))
        assert caught.value is error


def test_a_library_that_is_not_listed_is_asked() -> None:
    assert not came_through_the_table(named(TorchStub, "another")())


@pytest.mark.parametrize("library", ["torch", "paddle"])
def test_a_table_on_a_subclass_is_not_used(torch: Any, library: str) -> None:
    # A subclass may give another meaning to its memory, and inherits the table.
    base = named({"torch": TorchStub, "paddle": PaddleStub}[library], library)
    assert not came_through_the_table(type("Mine", (base,), {})())


def test_a_release_of_torch_without_versions_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert not came_through_the_table(named(TorchStub, "torch")())


# Without a table, or where it is not used ---------------------------------------------


def asked(x: Producer) -> list[str]:
    """Return which methods of the protocol the last of three imports called."""
    for _ in range(3):
        x.calls.clear()
        assert memoryview(xp.from_dlpack(x)).tolist() == [1.0, 2.0, 3.0]
    return [name for name, _ in x.calls]


def test_a_tensor_that_says_it_is_on_the_host_is_not_asked_for_its_device() -> None:
    kind = named(TorchStub, "torch", __dlpack_c_exchange_api__=None)
    assert asked(kind()) == ["__dlpack__"]
    assert asked(type("Mine", (kind,), {})()) == ["__dlpack__"]


def test_pinned_memory_is_asked_for_its_device() -> None:
    # A GPU may be writing to it.
    kind = named(TorchStub, "torch", __dlpack_c_exchange_api__=None)
    assert asked(kind(is_pinned=True)) == ["__dlpack_device__", "__dlpack__"]


def test_a_subclass_with_a_device_of_its_own_is_asked_for_it() -> None:
    kind = named(TorchStub, "torch", __dlpack_c_exchange_api__=None)

    class Elsewhere(kind):
        def __dlpack_device__(self) -> tuple[int, int]:
            return super().__dlpack_device__()

    assert asked(Elsewhere()) == ["__dlpack_device__", "__dlpack__"]
