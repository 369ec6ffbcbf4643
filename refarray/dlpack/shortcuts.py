"""Shortcuts: for each type of producer the shortest way to its memory on the host.

The ordinary way is two questions, `__dlpack_device__` and `__dlpack__`. The first is
spared where the answer is known: NumPy's arrays are always on the host, and torch's
tensors say in less time whether they are. Other libraries have the C exchange API too:
one call in C, where `__dlpack__` may take microseconds. But it need not refuse what
`__dlpack__` refuses: torch's and Paddle's hand out tensors that require gradients,
torch's also those whose values are yet to be conjugated. So it is used for libraries
listed here, for objects of exactly the listed type, in a state in which both ways give
the same.

Next: `consumer.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias
from weakref import ref

import numpy as np

# The version of DLPack's header that refarray writes tensors to, and reads.
VERSION = (1, 3)

HOST = (1, 0)  # kDLCPU, in integers, which compare faster

# A function that returns a capsule, or None if the memory is elsewhere; or an exchange
# API, and a function that tells whether an object may go that way.
Way: TypeAlias = Callable[[Any], Any] | tuple[object, Callable[[Any], bool]]


def ask(x: Any) -> Any:
    """Ask where the memory is, then for a capsule; None if it is not on the host."""
    if x.__dlpack_device__() == HOST:
        return x.__dlpack__(max_version=VERSION)
    return None


def _ask_numpy(x: Any) -> Any:
    return x.__dlpack__(max_version=VERSION)


def _ask_torch(x: Any) -> Any:
    try:
        # Pinned memory a GPU may be writing to: that needs the whole conversation.
        is_plain = x.is_cpu and not x.is_pinned()
    except AttributeError:
        return ask(x)  # a stand-in for torch, as test suites have
    return x.__dlpack__(max_version=VERSION) if is_plain else None


def _torch(torch: Any) -> Callable[[Any], bool]:
    version = torch.version
    # Only a torch for accelerators has such memory, and the question takes its time.
    pins = version.cuda or version.hip or getattr(version, "xpu", None)

    def is_plain(x: Any) -> bool:
        # The rest is refused both ways: sparse, quantized, without memory, wrapped by a
        # transform. One elsewhere needs a stream, which only __dlpack__ is told.
        return (
            x.is_cpu
            and not (x.requires_grad or x.is_conj() or x.is_neg())
            and not (pins and x.is_pinned())
        )

    return is_plain


def _paddle(paddle: Any) -> Callable[[Any], bool]:
    def is_plain(x: Any) -> bool:
        return bool(x.stop_gradient and x.is_dense() and x.place.is_cpu_place())

    return is_plain


_KNOWN = {"torch": _torch, "paddle": _paddle}


def _is_tensor_of(library: str, kind: type) -> bool:
    """Tell whether `kind` is the class `Tensor` of a library.

    A class can bear the name and be another. The module is asked last, because a lazy
    one would be loaded by the question.
    """
    named = kind.__qualname__ == "Tensor" and kind.__module__ == library
    return named and getattr(sys.modules.get(library), "Tensor", None) is kind


def _is_tensor_of_torch(kind: type) -> bool:
    """Tell whether `kind` is torch.Tensor, or a subclass that lies where it says."""
    where = "__dlpack_device__"
    return any(
        _is_tensor_of("torch", base)
        and getattr(kind, where, None) is getattr(base, where, None)
        for base in kind.__mro__
    )


# The way to the memory of each type that has been met. Weak references, because a type
# keeps its methods alive, and these the globals of their module.
ways: dict[ref[type], Way] = {}


def way_to(kind: type) -> Way:
    """Return the way to the memory of objects of a type, and remember it."""
    way: Way = ask
    if kind is np.ndarray:
        way = _ask_numpy
    elif _is_tensor_of_torch(kind):
        way = _ask_torch
    for library, make in _KNOWN.items():
        if _is_tensor_of(library, kind):
            api = getattr(kind, "__dlpack_c_exchange_api__", None)
            try:
                way = way if api is None else (api, make(sys.modules[library]))
            except AttributeError:
                pass  # another release, without one of the questions: the usual way
    if len(ways) >= 256:  # references to types made on the fly must not pile up
        ways.clear()
    try:
        ways[ref(kind)] = way
    except TypeError:
        pass  # its metaclass gave it no hash, so it is met anew each time
    return way
