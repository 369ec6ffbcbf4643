"""Computing: how a function of the standard becomes a kernel on memory.

Read in this order:

1. `engine.py`: NumPy's kernels, called on views of our memory and kept silent.
2. `repairs.py`: the kernels that disagree with the standard, put right.
3. `freedom.py`: what the standard leaves open, decided by a seed; `pedantic.py`,
   `pedantic_sums.py` and `pedantic_keys.py`: the same as errors.
4. `pipeline.py`: what happens between an elementwise function's operands and a kernel.
5. `clip.py`: the one of them with three operands. `arguments.py`: the checks that all
   other functions share.
6. `indexing.py`: `x[key]` and `x[key] = value`. `text.py`: how an array is shown.
7. `operators.py`, `array.py`: the Array itself.
8. `casting.py`, `conversion.py`: elements in another dtype, and how Python objects and
   buffers become arrays.
9. `summation.py`: sums with a small error. `reductions.py`, `ordering.py`,
   `movement.py`: the other kinds of kernel.

Next folder: `_standard/`, the functions by the names of the specification.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refarray._compute import (
        casting,
        clip,
        conversion,
        freedom,
        movement,
        ordering,
        pedantic,
        pedantic_keys,
        pedantic_sums,
        reductions,
        repairs,
        text,
    )


class _OnRequest:
    """A module of this folder, loaded when a function of it is first called."""

    def __init__(self, name: str) -> None:
        self._path = f"{__name__}.{name}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def _load(self) -> Any:
        module = import_module(self._path)
        # From now on as fast as the module itself.
        vars(self).update(vars(module))
        return module


# A program needs few of these, and one that only exchanges arrays none of them.
if not TYPE_CHECKING:
    casting = _OnRequest("casting")
    clip = _OnRequest("clip")
    conversion = _OnRequest("conversion")
    freedom = _OnRequest("freedom")
    movement = _OnRequest("movement")
    ordering = _OnRequest("ordering")
    pedantic = _OnRequest("pedantic")
    pedantic_keys = _OnRequest("pedantic_keys")
    pedantic_sums = _OnRequest("pedantic_sums")
    reductions = _OnRequest("reductions")
    repairs = _OnRequest("repairs")
    text = _OnRequest("text")


def _load_all() -> None:
    for module in list(globals().values()):
        if isinstance(module, _OnRequest):
            module._load()


# A child that is forked while another thread imports a module finds it locked for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_load_all)
