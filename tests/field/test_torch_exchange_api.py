"""What the C exchange API gives, and only that, is what `__dlpack__` gives.

Library: torch
"""

import pytest
from exchange import library

import refarray as xp
from refarray._memory.native import import_object
from refarray.dlpack import from_capsule
from refarray.dlpack.shortcuts import ask, way_to, ways

torch = library("torch")


def tensors():
    """Return tensors by the state they are in."""
    plain = torch.arange(6.0).reshape(2, 3)
    with torch.inference_mode():
        inference = torch.ones(2)
    return {
        "plain": plain,
        "strided": plain.T[::2],
        "bfloat16": plain.to(torch.bfloat16),
        "empty": plain[:0],
        "0-d": plain[0, 0],
        "inference": inference,
        "requires grad": torch.ones(2, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "negative": torch.tensor([1 + 2j]).conj().imag,
        "zero": torch._efficientzerotensor(3),
        "sparse": torch.eye(2).to_sparse(),
        "meta": torch.empty(3, device="meta"),
    }


PLAIN = {"plain", "strided", "bfloat16", "empty", "0-d", "inference"}


def takes_the_shortcut(tensor):
    way = way_to(type(tensor))
    if not isinstance(way, tuple):
        return False
    api, is_plain = way
    try:
        return is_plain(tensor) and import_object(api, tensor) is not None
    except (BufferError, RuntimeError):
        return False  # refused there, so `__dlpack__` is asked


def outcome(call):
    try:
        x = call()
    except Exception as error:
        return type(error), str(error)
    return x.shape, x._strides, x.dtype, x._read_only, repr(x)


@pytest.mark.parametrize("state", tensors())
def test_both_ways_agree_in_every_state(state):
    tensor = tensors()[state]

    def ask():
        tensor.__dlpack_device__()
        return from_capsule(tensor.__dlpack__(max_version=(1, 3)))

    usual = outcome(ask)
    for _ in range(2):  # the first time a type is met, and later
        assert outcome(lambda: xp.from_dlpack(tensor)) == usual
    assert takes_the_shortcut(tensor) == (state in PLAIN)


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad])
def test_a_tensor_inside_a_transform_takes_the_usual_way(transform):
    seen = []

    def look(x):
        seen.append(takes_the_shortcut(x))
        return x.sum()

    transform(look)(torch.ones(3) if transform is torch.func.grad else torch.ones(3, 2))
    assert seen == [False]


def test_the_memory_is_shared_and_given_back():
    tensor = torch.arange(3.0)
    x = xp.from_dlpack(tensor)
    x[1] = 9.0
    assert tensor.tolist() == [0.0, 9.0, 2.0]
    del tensor
    assert float(x[1]) == 9.0


def test_types_made_on_the_fly_do_not_pile_up():
    for i in range(1000):
        kind = type(f"Producer{i}", (), {})
        assert way_to(kind) is ask
    assert len(ways) <= 256
