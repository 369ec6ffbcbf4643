"""Judge one input of the fuzzer: a forged capsule, taken on one of the ways in.

`check(data)`: it is refused as documented, and the deleter runs as often as the rules
say; or it is an array that has the elements which ctypes reads, and so have all that is
made of it, down to the last one that lets go. All memory lies between pages that cannot
be touched, cannot be read while it is imported, and not be written where it is
read-only. Next: fuzz_actions.py.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import changes
import fuzz_actions
import fuzz_input
import guarded
from fuzz_input import DATA, Reused, Source
from fuzz_oracle import Seen

import refarray
from refarray import dlpack
from refarray.memory import Statistics, statistics
from refarray.testing.exchange import Table
from refarray.testing.forge import Raw, ffi, keep

# Cases are reused in turn: a deleter that is called too late is still counted.
_structs = [keep(ffi.new("forge_case *")) for _ in range(16)]
_places = count()
_before: dict[int, tuple[Reused, int]] = {}

ANNOUNCED = ["truth"] * 10 + [(1, 0), (2, 0), None, 1, (1,), (1, 2**70), ("cpu", 0)]
DEVICES = [None, None, None, refarray.Device("cpu"), "cpu", 1]
COPIES = [None, None, None, True, False, 1, "yes"]
#: Addresses at which nothing, or not enough, can be read.
NOWHERE = [
    *(0, 1, DATA.address - 8, DATA.end - 8, DATA.end - 1, DATA.end, 2**47 - 8, 2**63),
    *(2**64 - 8, 2**64 - 1, "bytes"),
]


class Offer:
    """A producer of one capsule, and of an announcement that may not be true."""

    def __init__(self, case: Reused, source: Source) -> None:
        self.case, self.capsule = case, case.capsule()
        self.announced = source.choose(ANNOUNCED)
        if self.announced == "truth":
            self.announced = case.tensor.device
        self.device, self.copy = source.choose(DEVICES), source.choose(COPIES)

    def __dlpack_device__(self) -> Any:
        return self.announced

    def __dlpack__(self, **keywords: Any) -> object:
        return self.capsule


def by_from_dlpack(offer: Offer) -> Any:
    """Take it by the standard's way."""
    return refarray.from_dlpack(offer, device=offer.device, copy=offer.copy)


def by_plain_from_dlpack(offer: Offer) -> Any:
    """Take it by the short way that begins in C."""
    return refarray.from_dlpack(offer)


def by_capsule(offer: Offer) -> Any:
    """Take the bare capsule."""
    return dlpack.from_capsule(offer.capsule)


def by_description(offer: Offer) -> Any:
    """Take it as memory of any kind."""
    return dlpack.Tensor.from_dlpack(offer)


def by_table(offer: Offer) -> Any:
    """Take the tensor without a capsule, by the C exchange API."""
    Raw(offer.capsule).take()
    capsule = refarray.zeros(0).__dlpack_c_exchange_api__
    answer = Table(Raw(capsule).address).to_object(offer.case.address)
    if answer.error is not None:
        # A tensor that was refused stays with the caller, who deletes it.
        Raw.at(offer.case.address).delete()
        raise answer.error
    return answer.result


WAYS = [by_capsule, by_plain_from_dlpack, by_from_dlpack, by_description, by_table]


def check(data: bytes) -> None:
    """Judge one input; AssertionError if anything is not as it should be."""
    source = Source(data)
    if source.data[:1] == b"\xff":  # a tensor that changes while it is imported
        source.byte()
        moment = changes.in_collection(1 + source.byte() % 30)
        changes.check(*source.choose(changes.CASES), moment)
        return
    number = next(_places) % len(_structs)
    if number in _before:
        old, calls = _before.pop(number)
        assert old.deleter_calls == calls, "a deleter was called too late"
    start = statistics()
    case = Reused(fuzz_input.tensor(source), _structs[number])
    is_bool = case.tensor.dtype[0] == 6
    DATA.open(guarded.WRITE)
    DATA.fill(fuzz_input.BITS if is_bool else fuzz_input.PATTERN)
    _exchange(case, source)
    DATA.open(guarded.NONE)
    _before[number] = case, case.deleter_calls
    _balanced(start, statistics())


def _exchange(case: Reused, source: Source) -> None:
    offer = Offer(case, source)
    seen = Seen.at(Raw(offer.capsule).name, case.address)
    if source.byte() & 3 == 3:
        DATA.open(source.choose([guarded.WRITE, guarded.NONE]))
        _inspect(offer, seen)
        if source.byte() & 1:
            _inspect_nowhere(case, source)
    way = WAYS[source.byte() % len(WAYS)]
    if way is by_table and seen.name != "dltensor_versioned":
        way = by_capsule
    _take(way, offer, seen, source)


def _inspect(offer: Offer, seen: Seen) -> None:
    """Look at it, which changes nothing and never fails, whatever is in it."""
    if seen.wrong_name() and seen.name not in (
        "used_dltensor",
        "used_dltensor_versioned",
    ):
        _raises(ValueError, dlpack.inspect, offer.capsule)
        return
    found = dlpack.inspect(offer.capsule)
    assert found.name == seen.name
    if not found.consumed:
        assert found.version == seen.version
        if not seen.is_other_version:
            assert found.tensor.ndim == seen.ndim
            assert found.tensor.dtype == seen.dtype
            assert found.tensor.shape == seen.shape
    json.dumps(found.to_dict(), allow_nan=False)
    for text in (str(found), found._repr_html_(), found.svg()):
        assert len(text) < 200_000
    assert offer.case.deleter_calls == 0


def _inspect_nowhere(case: Reused, source: Source) -> None:
    """Look at a tensor whose pointers point to where nothing can be read."""
    managed = (
        case.struct.legacy if case.tensor.version is None else case.struct.versioned
    )
    tensor = managed.dl_tensor
    true = tensor.shape, tensor.strides
    tensor.shape = ffi.cast("int64_t *", source.choose(NOWHERE) % 2**64)
    tensor.strides = ffi.cast("int64_t *", source.choose(NOWHERE) % 2**64)
    str(dlpack.inspect(case.capsule_at(case.address)))
    tensor.shape, tensor.strides = true
    found = dlpack.inspect(case.capsule_at(source.choose(NOWHERE[1:-1])))
    assert found.fields == () or found.tensor is None
    assert case.deleter_calls == 0


def _take(way: Any, offer: Offer, seen: Seen, source: Source) -> None:
    """Take it; judge the exception, or the array."""
    case, wanted = offer.case, _wanted(way, offer, seen)
    copied = way is by_from_dlpack and offer.copy is True and not wanted
    if copied and seen.size and not seen.can_be_read(DATA.address, DATA.end):
        return  # a copy would read what is not there
    DATA.open(guarded.READ if copied else guarded.NONE)
    try:
        held = [way(offer)]
    except (BufferError, ValueError, TypeError) as error:
        may_be = seen.verdict(way is by_description) is None
        assert wanted or (may_be and type(error) is BufferError), f"refused: {error!r}"
        assert isinstance(error, tuple(wanted or [BufferError])), repr(error)
        assert str(error)
        _refused(offer, seen, error)
        return
    assert not wanted, f"not refused, though {wanted}"
    assert _is_used(offer.capsule)
    DATA.open(guarded.READ if seen.flags & 1 else guarded.WRITE)
    if way is by_description:
        fuzz_actions.description(held[0], seen, case)
    else:
        fuzz_actions.array(held, seen, case, source, copied=copied)
    held.clear()
    deletions = int(case.tensor.deleter is not None)
    assert case.deleter_calls == deletions, f"{case.deleter_calls} calls of the deleter"
    offer.capsule = None  # used, so that its destructor has nothing to do
    assert case.deleter_calls == deletions, "the destructor called it again"


def _is_used(capsule: object) -> bool:
    return (Raw(capsule).name or "").startswith("used_")


def _wanted(way: Any, offer: Offer, seen: Seen) -> set[type[Exception]]:
    """Return the exceptions for all that is wrong, of which one must come."""
    wanted: set[type[Exception]] = set()
    if seen.wrong_name() and way is not by_table:
        wanted.add(ValueError)
    if seen.verdict(way is by_description) is False:
        wanted.add(BufferError)
    device = copy = None
    if way is by_from_dlpack:
        device, copy = offer.device, offer.copy
    if isinstance(device, str | int) or not (copy is None or isinstance(copy, bool)):
        wanted.add(TypeError)
    if copy is False and seen.flags & 2:
        wanted.add(BufferError)
    if way not in (by_capsule, by_table):
        announced = offer.announced if device is None else (1, 0)
        if announced != seen.device:
            wanted.add(BufferError if _is_pair(announced) else TypeError)
    return wanted


def _is_pair(announced: Any) -> bool:
    return announced in ((1, 0), (2, 0), (1, 2**70))


def _refused(offer: Offer, seen: Seen, error: Exception) -> None:
    """After a refusal the capsule is as it was, but where the consumer had to act."""
    case, name = offer.case, Raw(offer.capsule).name
    error.__traceback__ = None
    has_deleter = int(case.tensor.deleter is not None)
    if name != seen.name:
        # Taken over and given back: another version, or a copy that was forbidden.
        assert _is_used(offer.capsule)
        assert case.deleter_calls == has_deleter, f"{case.deleter_calls} calls"
    else:
        assert case.deleter_calls == 0, "the deleter belongs to the capsule"
        if case.tensor.destructor is None or seen.wrong_name():
            has_deleter = 0
    offer.capsule = None
    assert case.deleter_calls == has_deleter, f"{case.deleter_calls} calls at the end"


def _raises(kind: type[Exception], function: Any, *arguments: Any) -> None:
    try:
        function(*arguments)
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def _balanced(start: Statistics, end: Statistics) -> None:
    for made, deleted in (
        ("imported", "imports_deleted"),
        ("exported", "exports_deleted"),
    ):
        open_before = getattr(start, made) - getattr(start, deleted)
        open_now = getattr(end, made) - getattr(end, deleted)
        assert open_now == open_before, f"{made}: {open_now - open_before} are left"
    assert end.live_buffers == start.live_buffers, "memory is left"
