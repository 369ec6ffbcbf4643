"""The consumer: `from_dlpack`, and the question it asks a producer.

What comes back is checked and taken over in C (`_cffi_build/import.c`): name, version,
dtype, device, layout. What is written here is the conversation before, and the promises
about copies after; but for the shortest of conversations, which `shortcuts.py` has.
`from_dlpack` itself begins in C (`_cffi_build/consumer.c`) and comes here for the rest.

Next: `cuda.py`; without CUDA, `capsules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from refarray._base import profile
from refarray._base.devices import CPU, CUDA_TYPES, Device, DeviceType, as_device
from refarray._base.layout import shown
from refarray._memory import host
from refarray._memory.native import (
    ArrayBase,
    from_dlpack,
    import_capsule,
    import_object,
    register_consumer,
)
from refarray.dlpack.producer import plain_pair
from refarray.dlpack.shortcuts import HOST, VERSION, way_to, ways

__all__ = ["VERSION", "CopyError", "from_dlpack"]


class CopyError(BufferError, ValueError):
    """A copy would be needed, and copy=False forbids it.

    Both, since the standard names BufferError in one place and ValueError in another.
    Source: array API 2025.12, from_dlpack, `copy` and Raises.
    """


def _consume(
    x: Any, device: Device | None, copy: bool | None, refused: BaseException | None
) -> Any:
    """Do all of `from_dlpack` that one question does not settle, of a type met before.

    `refused` is the TypeError or AttributeError that this question was answered with.
    """
    if refused is not None:
        try:
            if isinstance(refused, AttributeError):
                require_protocol(x)
                raise refused
            announced = device_of(x)
            # The question asked for max_version, and only of memory on the host.
            if announced == HOST:
                return import_capsule(request(x.__dlpack__, {}, refused), announced)
        finally:
            del refused  # its traceback has this frame, and would keep `x` alive
    elif profile.guarded or device is not None or copy is not None:
        return _unusual(x, device, copy)
    else:
        way = way_to(type(x))
        if isinstance(way, tuple):
            api, is_plain = way
            if is_plain(x):
                try:
                    return import_object(api, x)
                except (BufferError, RuntimeError):
                    pass  # `__dlpack__` refuses it too, and says why
    return _negotiate(x, None, None)


register_consumer(_consume, ways)


def _unusual(x: Any, device: Device | None, copy: bool | None) -> Any:
    out = _between_devices(x, device, copy)
    if profile.guarded:
        # Under a seed: what is possible without a copy is for the library to say.
        nbytes = out._size * out.dtype.bits // 8
        return host.copy(out) if copy is None and profile.coin(nbytes) else out
    return out


def _between_devices(x: Any, device: Device | None, copy: bool | None) -> Any:
    """Copy to devices that the producer may not know."""
    target = None if device is None else as_device(device)
    if isinstance(x, ArrayBase) and x.device.pretend:
        # Nobody is given this memory who does not ask for it by its device.
        target = target or x.device
    if target is None or target is CPU:
        return _negotiate(x, target, copy)
    require_protocol(x)
    announced = device_of(x)
    if announced == target.dlpack:
        return _negotiate(x, target, copy)
    if copy is False:
        raise CopyError(
            f"copy=False, but the memory of this {type(x).__name__} must be copied to "
            f"{target!r} (array API, from_dlpack)"
        )
    # Among CUDA devices without a detour over the host.
    place = None if _is_cuda(announced) and _is_cuda(target.dlpack) else CPU
    return _negotiate(x, place, None).to_device(target)


def _negotiate(x: Any, device: Device | None, copy: bool | None) -> Any:
    """Ask for what is wanted, check what is given, and copy where that is needed."""
    require_protocol(x)
    announced = device_of(x)
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(
            f"copy must be True, False or None, not {shown(copy)} "
            "(array API, from_dlpack)"
        )
    question: dict[str, Any] = {"max_version": VERSION}
    # Where it lies already is what no dl_device means, and what every library knows. An
    # array of ours may only pretend to lie elsewhere.
    if device is not None and (announced != device.dlpack or isinstance(x, ArrayBase)):
        announced = question["dl_device"] = device.dlpack
    if copy is not None:
        question["copy"] = copy
    if announced != HOST and _is_cuda(announced):
        from refarray.dlpack import cuda  # with CUDA, and not without

        question |= cuda.stream_to_name(announced)
        wrong = None
        if announced[0] == DeviceType.kDLCUDAHost:
            # torch announces pinned memory, and exports it as the host's: it is both.
            out = import_capsule(request(x.__dlpack__, question))
            wrong = cuda.wrong_place(out, announced, HOST)
        else:
            out = import_capsule(request(x.__dlpack__, question), announced)
        wrong = wrong or cuda.take_over(out)
        if wrong is not None:
            del out  # a traceback would keep it
            cuda.give_back()
            raise BufferError(wrong)
    else:
        # The capsule goes straight into C: a name for it here would keep it, and the
        # memory behind it, alive in the traceback of a refusal.
        out = import_capsule(request(x.__dlpack__, question), announced)

    if copy is False and out._is_copied:
        raise CopyError(
            f"copy=False, but {type(x).__name__}.__dlpack__(copy=False) made a copy "
            "(array API, from_dlpack)"
        )
    # Producers older than the keyword ignore it, and some newer ones do too. Only the
    # flag proves that nobody else reaches this memory.
    if copy is True and not (out._is_copied and not out._read_only):
        return host.copy(out)
    return out


def device_of(x: Any) -> Any:
    """Return what `__dlpack_device__` says, as `plain_pair` has it."""
    return plain_pair(x.__dlpack_device__())


def require_protocol(x: object) -> None:
    """Raise AttributeError for what is no producer, and say what would make it one."""
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return
    name = type(x).__name__
    hint = ""
    if name == "PyCapsule":
        hint = "; for a bare capsule use refarray.dlpack.from_capsule"
    elif isinstance(x, list | tuple | int | float | complex):
        hint = "; for Python values use refarray.asarray"
    raise AttributeError(
        "from_dlpack takes an object with __dlpack__ and __dlpack_device__, and "
        f"{name} lacks them{hint} (array API, from_dlpack)"
    )


def _is_cuda(announced: Any) -> bool:
    return (
        isinstance(announced, tuple)
        and len(announced) == 2
        and announced[0] in CUDA_TYPES
    )


def request(
    export: Callable[..., Any],
    question: dict[str, Any],
    refused: BaseException | None = None,
) -> Any:
    """Return the capsule that a producer's `__dlpack__` makes.

    Older producers know fewer keywords, and a TypeError is how they say so. The words
    of it depend on the language and the binding generator, so any TypeError counts, and
    the producer is asked again without the newer keywords. If all questions end in a
    TypeError, the first one arrives; `refused` is the first one if the caller has asked
    before. Every other exception of the producer arrives at once.

    Source: array API 2025.12, array.__dlpack__, max_version.
    """
    first = refused
    try:
        for keywords in _questions(question):
            try:
                return export(**keywords)
            except TypeError as error:
                first = error if first is None else first
            except Warning:  # of an old form, where warnings are errors: no answer
                if first is None:
                    raise
        assert first is not None
        raise first
    finally:
        # Its traceback has this frame, and would keep the producer alive.
        del first, refused


# The keywords of earlier versions of the array API, the later version first.
_EARLIER = ({"stream", "max_version"}, {"stream"})


def _questions(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the question, and after it what is left for earlier producers.

    The stream always stays: without it, the memory could be used too early. What is not
    asked of the producer is checked, or done, by `from_dlpack` itself.
    """
    yield question
    for known in _EARLIER:
        if not question.keys() <= known:
            question = {name: question[name] for name in question if name in known}
            yield question
