"""Shortcuts: objects whose memory can be had through their library's C exchange API.

That API is one C call where `__dlpack__` may take microseconds. But it need not refuse
what `__dlpack__` refuses: torch's and Paddle's hand out tensors that require gradients,
torch's also those whose values are yet to be conjugated. So it is used for libraries
listed here, for objects of exactly the listed type, in a state in which both ways give
the same.

Next: `consumer.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class Shortcut:
    """The exchange API of a type, and whether an object may go that way."""

    __slots__ = ("api", "is_plain")

    def __init__(self, api: object, is_plain: Callable[[Any], bool]) -> None:
        self.api = api
        self.is_plain = is_plain


def _torch() -> Callable[[Any], bool]:
    torch = sys.modules["torch"]
    strided = torch.strided
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor

    def is_plain(x: Any) -> bool:
        # Of the host: a tensor elsewhere needs a stream, which only __dlpack__ is told.
        return not (
            x.requires_grad
            or not x.is_cpu
            or x.layout is not strided
            or x.is_conj()
            or x.is_neg()
            or x._is_zerotensor()
            or x.is_quantized
            or is_wrapped(x)
        )

    return is_plain


def _paddle() -> Callable[[Any], bool]:
    def is_plain(x: Any) -> bool:
        return bool(x.stop_gradient and x.is_dense() and x.place.is_cpu_place())

    return is_plain


_KNOWN = {("torch", "Tensor"): _torch, ("paddle", "Tensor"): _paddle}


class _Shortcuts(dict[type, Shortcut | None]):
    """Type to shortcut; None for the types that have none."""

    def __missing__(self, kind: type) -> Shortcut | None:
        found = None
        make = _KNOWN.get((kind.__module__, kind.__qualname__))
        api = getattr(kind, "__dlpack_c_exchange_api__", None)
        if make is not None and api is not None:
            try:
                found = Shortcut(api, make())
            except AttributeError:
                pass  # another release, without one of the questions: the usual way
        if len(self) >= 256:  # types made on the fly must not pile up
            self.clear()
        self[kind] = found
        return found


shortcuts = _Shortcuts()
