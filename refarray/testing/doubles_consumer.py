"""Consumers as test doubles: what was done with them. Next: misbehaving_consumers.py.

A double is a whole library with one fault. It watches the deleter of each capsule that
it is handed, and calls the deleter of a real producer once at most, whatever its fault:
further calls are counted and not made. So a double free is seen and not suffered.
"""

from __future__ import annotations

import gc
import traceback
import weakref
from types import TracebackType
from typing import Any

from refarray.testing import _forge
from refarray.testing.faults import Fault, fail, place
from refarray.testing.forge import FRESH_NAMES, Raw, ffi, lib
from refarray.testing.library import Library, Owner
from refarray.testing.violators_consumer import ForgetfulOwner

#: The deleters that only count, so that any number of calls is harmless.
FORGED = {
    int(ffi.cast("uintptr_t", ffi.addressof(lib, name)))
    for name in ("forge_delete_legacy", "forge_delete_versioned")
}


class Held(Raw):
    """A capsule that a double was handed, and what became of it."""

    def __init__(self, capsule: object) -> None:
        super().__init__(capsule)
        self.asked_at = place()
        self.first_name = self.name
        self.was_renamed = self.was_imported = self.lost_error = False
        #: Calls of the deleter by the double: those that it should make, and made.
        self.meant = self.made = 0
        self.is_forged = int(ffi.cast("uintptr_t", self.managed.deleter)) in FORGED
        self._watch: int | None = None
        if self.is_fresh and self.has_deleter and not self.is_forged:
            self._watch = _forge.watch_deleter(self.address, self.legacy)

    @property
    def is_fresh(self) -> bool:
        """Whether it was there to be taken."""
        return self.first_name in FRESH_NAMES

    @property
    def is_counted(self) -> bool:
        """Whether there is a deleter, and its calls are seen."""
        return self.is_fresh and (self.is_forged or self._watch is not None)

    @property
    def was_taken(self) -> bool:
        """Whether the double holds, or held, the tensor."""
        return self.was_renamed or self.was_imported

    @property
    def deleter_calls(self) -> int:
        """Calls of the deleter that happened, by the double or the producer."""
        if self.is_forged:
            case = ffi.cast("forge_case *", self.managed.manager_ctx)
            return int(case.deleter_calls)
        return 0 if self._watch is None else _forge.watched_calls(self._watch)

    def take(self) -> None:
        """Rename the capsule and let it go."""
        self.was_renamed = True
        super().take()

    def may_delete(self) -> bool:
        """Count a call of the deleter, and say whether it may really be made."""
        self.meant += 1
        if not self.is_counted or (self.deleter_calls and not self.is_forged):
            return False
        self.made += 1
        return True

    def delete(self) -> None:
        """Call the deleter, if that does no harm."""
        if self.may_delete():
            super().delete()

    def give_back(self) -> None:
        """Free what the double kept for itself."""
        if self.is_counted and not self.deleter_calls:
            super().delete()


class Consumer:
    """A consumer with one fault, or none, that sees what is done to its capsules.

    `from_dlpack` takes the array under test; `read` reads what it returned. Used in a
    `with` statement, it asserts at the end that the producer released everything.
    """

    def __init__(self, fault: Fault, library: Library) -> None:
        self.fault, self.made_at, self.calls = fault, place(), 0
        self._library, self._held = library, list[Held]()
        self._forgotten: list[Held] = []  # taken, never to be deleted, out of use
        self._forgets = library.owner_type is ForgetfulOwner
        library.raw_type = self._hold

    def __repr__(self) -> str:
        return f"<consumer {self.fault.name!r}, made at {self.made_at}>"

    def from_dlpack(self, x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
        """Import an array in the double's own way; None if it takes nothing."""
        self.calls += 1
        before = len(self._held)
        try:
            array = self._library.from_dlpack(x, device=device, copy=copy)
            if array is not None:
                self._note_import(array, self._held[-1])
        except BaseException as error:
            # The frames of the traceback would keep the capsule alive.
            traceback.clear_frames(error.__traceback__)
            raise
        finally:
            for held in self._held[before:]:
                held.capsule = None
        return array

    def read(self, array: Any) -> list[Any]:
        """Return the values of what `from_dlpack` returned, in row-major order."""
        return self._library.read(array)

    # ---- Counts ----------------------------------------------------------------------

    @property
    def capsules(self) -> int:
        """Capsules that it was handed."""
        return len(self._held)

    @property
    def capsules_taken(self) -> int:
        """Capsules whose tensor it took for its own."""
        return sum(held.was_taken for held in self._held)

    @property
    def deleter_calls(self) -> int:
        """Calls of the deleter that it made, or would have made if that were safe."""
        return sum(held.meant for held in self._held)

    @property
    def deleter_calls_of_producer(self) -> int:
        """Calls of the deleter by the producer itself: by a capsule's destructor."""
        return sum(held.deleter_calls - held.made for held in self._held)

    # ---- Judgement -------------------------------------------------------------------

    def assert_released(self) -> None:
        """Raise AssertionError unless the producer released each capsule once.

        Garbage is collected first, if it matters. The message says what was leaked,
        freed twice or never consumed, and where it was made. Only the producer is
        blamed, not the fault of the double.
        """
        __tracebackhide__ = True
        headline = (
            f"consumer {self.fault.name!r} (rule {self.fault.rule}), made at "
            f"{self.made_at}:"
        )
        if self._problems():
            gc.collect()
        fail(headline, self._problems())

    def _problems(self) -> list[str]:
        found = [] if self.calls else ["never consumed: from_dlpack was not called"]
        for number, held in enumerate(self._held, 1):
            problem = self._problem(held)
            if problem:
                found.append(
                    f"capsule {number}, asked for at {held.asked_at}: {problem}"
                )
        return found

    def close(self) -> None:
        """Give back what a forgetful double has kept, unless it is still in use."""
        for held in self._forgotten:
            held.give_back()

    def __enter__(self) -> Consumer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        try:
            if error is None:
                self.assert_released()
        finally:
            self.close()

    def _note_import(self, array: Any, held: Held) -> None:
        held.was_imported = True
        if self._forgets and isinstance(array.owner, Owner):
            weakref.finalize(array.owner, self._forgotten.append, held)
        elif self._forgets:  # a copy: what was imported is out of use already
            self._forgotten.append(held)

    def _hold(self, capsule: object) -> Held:
        held = Held(capsule)
        self._held.append(held)
        return held

    def _problem(self, held: Held) -> str | None:
        """Say what the producer, or the test, did wrong with a capsule."""
        if not held.is_fresh:
            return f"not fresh: a capsule named {held.first_name!r} was handed out"
        if held.lost_error:
            return "its destructor or deleter lost a pending exception (rule 32)"
        if not held.is_counted:
            return None
        by_producer = held.deleter_calls - held.made
        if held.was_renamed and by_producer:
            return (
                "freed twice: it was taken, and its destructor called the deleter all "
                "the same; it must look at the capsule's name (rule 30)"
            )
        if not held.was_taken and not held.deleter_calls:
            return (
                "leaked: nobody took it, and its destructor did not call the deleter "
                "(rule 31), or the producer still holds it (rule 36)"
            )
        if held.was_taken and not held.meant and not self._forgets:
            return "still in use: what from_dlpack returned is alive; delete it first"
        return None
