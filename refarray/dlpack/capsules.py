"""Bare capsules, for libraries that pass these instead of objects.

TensorFlow, Taichi and MXNet have functions that return a capsule or take one. The
standard's `from_dlpack` takes objects only: a capsule can be consumed once, and cannot
be asked for its device.

Next: `memory.py`.
"""

from __future__ import annotations

from typing import Any

from refarray._memory.native import import_capsule


def from_capsule(capsule: Any, /) -> Any:
    """Return an array over the memory of a DLPack capsule, which this consumes.

    TypeError for what is no capsule, ValueError for one that was consumed or has
    another name, BufferError for data that refarray cannot hold. Memory of a legacy
    capsule is writable, for such a capsule has no way to say that it is not. Memory of
    a CUDA device has to be ready on the current stream.

    Source: DLPack 1.3, Python specification.
    """
    out = import_capsule(capsule)
    if out.device.memory in ("device", "pinned"):
        from refarray.dlpack import cuda  # with CUDA, and not without

        wrong = cuda.take_over(out)
        if wrong is not None:
            del out  # a traceback would keep it
            cuda.give_back()
            raise BufferError(wrong)
    return out


def to_capsule(x: Any, /, *, max_version: tuple[int, int] | None = None) -> Any:
    """Return a new DLPack capsule over the memory of `x`, to be consumed once.

    Legacy unless `max_version` is (1, 0) or higher. BufferError for a read-only array
    in a legacy capsule, which could not say so.

    Source: array API 2025.12, array.__dlpack__.
    """
    return x.__dlpack__(max_version=max_version)
