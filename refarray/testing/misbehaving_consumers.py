"""The list of consumers that misbehave or demand much, each by its name.

Those of rules 37 to 60 are the planted violators of violators_consumer.py. The others
ask for what a producer must refuse or seldom hears, or treat a capsule as few do, and
the rule is the one by which a producer must cope.

Two violators are missing: what 37 and 38 do wrong, no producer can see.

Next: simulated_driver_memory.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from refarray.testing import _forge
from refarray.testing.doubles_consumer import Held
from refarray.testing.faults import Answer, Fault
from refarray.testing.forge import Raw
from refarray.testing.library import Array, CudaLibrary, Library, Owner, RocmLibrary
from refarray.testing.violators import VIOLATORS
from refarray.testing.violators_consumer import ForgetfulOwner

# ---- What they ask -------------------------------------------------------------------


class Asks(Library):
    """It calls `__dlpack__` with keywords of its own."""

    asks: ClassVar[dict[str, Any]]

    def keywords(self, device: Any, copy: bool | None) -> dict[str, Any]:
        """Ask for something else."""
        return {**super().keywords(device, copy), **self.asks}

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Call `__dlpack__` once, and let every exception through."""
        return x.__dlpack__(**keywords), True


class AsksForLegacy(Asks):
    """It passes no `max_version`, and gets the legacy form."""

    def keywords(self, device: Any, copy: bool | None) -> dict[str, Any]:
        """Leave the version out."""
        keywords = Library.keywords(self, device, copy)
        del keywords["max_version"]
        return keywords


class AsksForVersion10(Asks):
    """It knows DLPack 1.0 and no later minor version."""

    asks: ClassVar = {"max_version": (1, 0)}


class AsksForVersion2(Asks):
    """It knows major version 2, which producers do not."""

    asks: ClassVar = {"max_version": (2, 0)}


class AsksForVersion0(Asks):
    """It knows major version 0 only, where everything is legacy."""

    asks: ClassVar = {"max_version": (0, 8)}


class AsksForNumber(Asks):
    """It passes a number for the pair `max_version`."""

    asks: ClassVar = {"max_version": 1}


class AsksForFarDevice(Asks):
    """It asks for a device that nobody has."""

    asks: ClassVar = {"dl_device": (2, 99)}


class AsksForDeviceByName(Asks):
    """It passes a string for the pair `dl_device`."""

    asks: ClassVar = {"dl_device": "cpu"}


class PassesStream0(Asks):
    """It passes stream 0, which is ambiguous on CUDA and no stream on the CPU."""

    asks: ClassVar = {"stream": 0}


class PassesStream1(Asks):
    """It passes stream 1, the default on CUDA, whatever the device."""

    asks: ClassVar = {"stream": 1}


class PassesStreamMinus2(Asks):
    """It passes stream -2."""

    asks: ClassVar = {"stream": -2}


class PassesStreamByName(Asks):
    """It passes a string for the stream."""

    asks: ClassVar = {"stream": "default"}


class PassesUnknownKeyword(Asks):
    """It passes a keyword that nobody has defined."""

    asks: ClassVar = {"colour": "green"}


class PassesPositions(Asks):
    """It passes the stream by position."""

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Call `__dlpack__` with one argument."""
        return x.__dlpack__(None), True


class AsksTwice(Library):
    """It asks for two capsules, holds both, and takes the second."""

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Look at the one and return the other."""
        first = self.raw_type(super().ask_capsule(x, keywords)[0])
        second = super().ask_capsule(x, keywords)
        del first
        return second


# ---- What they do with the capsule ---------------------------------------------------


class Drops(Library):
    """It asks for a capsule and takes nothing."""

    def load(self, x: Any, device: Any, copy: bool | None) -> Any:
        """Look, and let go."""
        _, capsule, knows_keywords = self.ask(x, device, copy)
        self.open(capsule, knows_keywords)
        return None


class DropsDuringException(Library):
    """It lets go of a capsule while an exception is pending."""

    def load(self, x: Any, device: Any, copy: bool | None) -> Any:
        """Look, and let go at a bad time."""
        _, capsule, knows_keywords = self.ask(x, device, copy)
        found = self.open(capsule, knows_keywords)
        found.capsule = None
        items = [capsule]
        del capsule
        if not _forge.drop_with_pending_error(items) and isinstance(found, Held):
            found.lost_error = True
        return None


class OwnerTwice(Owner):
    """It calls the deleter twice."""

    def __del__(self) -> None:
        self.taken.delete()
        self.taken.delete()


class DeletesTwice(Library):
    """It calls the deleter twice."""

    owner_type = OwnerTwice


class KeepsProducer(Library):
    """It frees too early, and keeps the producer so that it reads no ruins."""

    def take(self, found: Raw, x: Any) -> Array:
        """Hold on to the producer."""
        array = super().take(found, x)
        array.owner = (array.owner, x)
        return array


class NeverRenames(KeepsProducer):
    """It takes the tensor and leaves the capsule its name and its destructor."""

    def use_up(self, found: Raw) -> None:
        """Let go of the capsule as it is."""
        found.capsule = None


class DeletesAtOnce(KeepsProducer):
    """It calls the deleter while it still uses the memory."""

    owner_type = ForgetfulOwner

    def use_up(self, found: Raw) -> None:
        """Take, and delete."""
        super().use_up(found)
        found.delete()


class OwnerElsewhere(Owner):
    """It calls the deleter on a thread that Python does not know."""

    def __del__(self) -> None:
        if isinstance(self.taken, Held) and self.taken.may_delete():
            _forge.call_deleter_on_foreign_thread(self.taken.address, self.taken.legacy)


class DeletesElsewhere(Library):
    """It calls the deleter on a thread that Python does not know, without the GIL."""

    owner_type = OwnerElsewhere


class OwnerDuringException(Owner):
    """It calls the deleter while an exception is pending."""

    def __del__(self) -> None:
        if isinstance(self.taken, Held) and self.taken.may_delete():
            address, legacy = self.taken.address, self.taken.legacy
            if not _forge.call_deleter_with_pending_error(address, legacy):
                self.taken.lost_error = True


class DeletesDuringException(Library):
    """It calls the deleter while an exception is pending."""

    owner_type = OwnerDuringException


# ---- The list ------------------------------------------------------------------------

#: (rule for the producer, name, what a right producer does, consumer).
DEMANDING: tuple[tuple[int, str, Answer, type[Library]], ...] = (
    (4, "passes positional arguments", "refuses", PassesPositions),
    (5, "asks for the legacy form", "accepts", AsksForLegacy),
    (6, "knows version (1, 0)", "accepts", AsksForVersion10),
    (7, "knows version (2, 0)", "accepts", AsksForVersion2),
    (8, "knows version (0, 8)", "accepts", AsksForVersion0),
    (9, "passes a malformed max_version", "refuses", AsksForNumber),
    (10, "asks for a device that nobody has", "refuses", AsksForFarDevice),
    (16, "passes stream 0", "refuses", PassesStream0),
    (16, "passes stream 1", "refuses", PassesStream1),
    (20, "passes stream -2", "refuses", PassesStreamMinus2),
    (20, "passes a stream that is no integer", "refuses", PassesStreamByName),
    (22, "passes an unknown keyword", "refuses", PassesUnknownKeyword),
    (22, "passes a malformed dl_device", "refuses", AsksForDeviceByName),
    (31, "drops the capsule", "accepts", Drops),
    (32, "drops the capsule during an exception", "accepts", DropsDuringException),
    (32, "calls the deleter during an exception", "accepts", DeletesDuringException),
    (33, "calls the deleter without the GIL", "accepts", DeletesElsewhere),
    (36, "asks twice", "accepts", AsksTwice),
    (44, "never renames the capsule", "accepts", NeverRenames),
    (45, "calls the deleter twice", "accepts", DeletesTwice),
    (45, "calls the deleter too early", "accepts", DeletesAtOnce),
)

#: (rule, name) of the planted violators.
PLANTED: tuple[tuple[int, str], ...] = (
    (39, "replaces exceptions that it does not know"),
    (40, "asks for the device last"),
    (41, "replaces TypeErrors of the producer"),
    (42, "never looks at the version"),
    (43, "takes only legacy from old producers"),
    (44, "removes the destructor in place of renaming"),
    (45, "never calls the deleter"),
    (46, "ignores the byte offset"),
    (47, "refuses strides that are NULL"),
    (48, "ignores strides"),
    (49, "refuses a shape that is NULL"),
    (50, "takes vectors for numbers"),
    (51, "takes elements that lie nowhere"),
    (52, "refuses read-only memory"),
    (53, "refuses unknown flags"),
    (54, "believes the announced device"),
    (55, "does not pass the device on"),
    (56, "trusts that copy=True was obeyed"),
    (57, "copies for copy=False"),
    (58, "on CUDA, does not tell its stream"),
    (59, "refuses misaligned memory"),
    (60, "keeps the producer alive"),
)


class Entry(NamedTuple):
    """A fault, and the library that has it."""

    fault: Fault
    library: type[Library]


def _entries() -> Iterator[Entry]:
    for library, where in (
        (Library, ""),
        (CudaLibrary, ", on CUDA"),
        (RocmLibrary, ", on ROCm"),
    ):
        answer: Answer = "either" if where else "accepts"
        text = "A correct consumer."
        name = f"keeps every rule{where}"
        yield Entry(Fault(name, 45, text, answer, False, library.device), library)
    for rule, name, answer, kind in DEMANDING:
        is_wrong = rule not in (5, 6, 7, 8, 31, 32, 33, 36)
        yield Entry(Fault(name, rule, kind.__doc__ or "", answer, is_wrong), kind)
    for rule, name in PLANTED:
        kind = VIOLATORS[rule]
        answer = "either" if kind.device != Library.device else "accepts"
        text = kind.__doc__ or ""
        yield Entry(Fault(name, rule, text, answer, True, kind.device), kind)


#: name -> the fault and the library that has it.
CONSUMERS: dict[str, Entry] = {entry.fault.name: entry for entry in _entries()}
