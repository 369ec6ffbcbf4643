"""Arrays in any order of exports, imports, views, writes and drops, beside a model.

    python tests/stress/machine.py --minutes MINUTES [SEED]
    python tests/stress/machine.py --runs RUNS [SEED]

Each array of refarray or NumPy that a rule makes goes with a NumPy array that shares
memory with the models as the array does with the arrays, and is never exchanged. After
each rule all are compared; at the end of a run, nothing may be left. Any rule may be
carried out on another thread. test_fuzz.py tries a few runs. Next: long_run.py.
"""

from __future__ import annotations

import gc
import pickle
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import ref

import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run
from machine_model import Holder, Owner, Pair, library, part_of, passed_on

import refarray as xp
from refarray import dlpack
from refarray.memory import statistics

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
DTYPES = [*DTYPES.split(), "complex64", "complex128"]
MOST = 10  # arrays at a time
numbers = st.integers(0, 15)
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
keys = st.lists(st.tuples(numbers, numbers, st.integers(-2, 2)), max_size=3)


class Machine(RuleBasedStateMachine):
    """The rules."""

    def __init__(self) -> None:
        super().__init__()
        gc.collect()
        self.before = statistics()
        self.pairs: list[Pair] = []
        self.capsules: list[tuple[Any, Any]] = []
        self.owners: list[ref[Owner]] = []
        self.other: ThreadPoolExecutor | None = None

    def do(self, function: Callable[[], Any]) -> Any:
        """Call it, here or on the other thread, without NumPy's warnings."""

        def quietly() -> Any:
            with np.errstate(all="ignore"):
                return function()

        return self.other.submit(quietly).result() if self.other else quietly()

    def at(self, number: int) -> Pair:
        """Return one of the arrays."""
        return self.pairs[number % len(self.pairs)]

    def add(self, x: Any, model: Any) -> None:
        """Keep an array, in place of another when there are many."""
        if len(self.pairs) >= MOST:
            self.pairs.pop(0)
        if isinstance(x, np.ndarray) and not x.size:
            model = x.copy()  # which shares as little, and has the same flag
            model.flags.writeable = x.flags.writeable
        self.pairs.append(Pair(x, model))

    # ---- Making and dropping ---------------------------------------------------------

    @rule(shape=shapes, dtype=st.sampled_from(DTYPES), n=numbers, ours=st.booleans())
    def make(self, shape: Any, dtype: str, n: int, ours: bool) -> None:
        """A new array of small numbers."""
        model = ((np.arange(np.prod(shape, dtype=int)) + n) % 7).astype(dtype)
        model = model.reshape(shape)
        source = model.copy()
        self.add(
            self.do(lambda: xp.asarray(source, copy=True)) if ours else source, model
        )

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def drop(self, number: int) -> None:
        """One array goes."""
        gone = [self.pairs.pop(number % len(self.pairs))]
        self.do(gone.clear)

    @rule()
    def change_thread(self) -> None:
        """All further rules are for the other thread, or for this one again."""
        if self.other:
            self.other.shutdown()
        self.other = None if self.other else ThreadPoolExecutor(1)

    # ---- Views and copies ------------------------------------------------------------

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, key=keys)
    def part(self, number: int, key: Any) -> None:
        """Some of the elements."""
        pair = self.at(number)
        key = part_of(key, pair.model.shape)
        self.add(self.do(lambda: pair.x[key]), pair.model[key])

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def transpose(self, number: int) -> None:
        """All axes the other way round."""
        pair = self.at(number)
        axes = tuple(range(pair.model.ndim))[::-1]
        x = self.do(lambda: library(pair).permute_dims(pair.x, axes))
        self.add(x, pair.model.transpose(axes))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def flip(self, number: int) -> None:
        """All axes backwards."""
        pair = self.at(number)
        if pair.model.ndim:  # NumPy makes a scalar of a single element
            x = self.do(lambda: library(pair).flip(pair.x))
            self.add(x, np.flip(pair.model))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def broadcast(self, number: int) -> None:
        """One axis more, which is nowhere in memory: read-only."""
        pair = self.at(number)
        shape = (2, *pair.model.shape)
        if pair.model.ndim < 6:
            x = self.do(lambda: library(pair).broadcast_to(pair.x, shape))
            self.add(x, np.broadcast_to(pair.model, shape))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, copy=st.sampled_from([None, True, False]))
    def flatten(self, number: int, copy: bool | None) -> None:
        """One axis: a view where that is possible and nothing else is asked for."""
        pair = self.at(number)
        try:
            model = np.reshape(pair.model, (-1,), copy=copy)
        except ValueError:
            self.refused(
                ValueError, lambda: library(pair).reshape(pair.x, (-1,), copy=copy)
            )
            return
        x = self.do(lambda: library(pair).reshape(pair.x, (-1,), copy=copy))
        self.add(x, model)

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def copy(self, number: int) -> None:
        """A copy, in memory of its own."""
        pair = self.at(number)
        if pair.is_ours:
            x = self.do(lambda: xp.asarray(pair.x, copy=True))
            self.add(x, pair.model.copy(order="C"))
        else:  # the producer makes it, and NumPy keeps the order of the axes in memory
            x = self.do(lambda: xp.from_dlpack(pair.x, copy=True))
            self.add(x, pair.model.copy(order="K"))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, protocol=st.integers(2, 5))
    def save(self, number: int, protocol: int) -> None:
        """Into a pickle and out again."""
        pair = self.at(number)
        if pair.is_ours:
            x = self.do(lambda: pickle.loads(pickle.dumps(pair.x, protocol)))
            self.add(x, pair.model.copy(order="C"))

    # ---- The exchange ----------------------------------------------------------------

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, way=st.sampled_from(["DLPack", "buffer"]))
    def exchange(self, number: int, way: str) -> None:
        """The other library takes the memory; both write to it from now on."""
        pair = self.at(number)
        if not pair.is_ours:
            x = self.do(lambda: xp.from_dlpack(pair.x))
        elif way == "DLPack":
            x = self.do(lambda: np.from_dlpack(pair.x))
        else:
            x = self.do(lambda: np.asarray(memoryview(pair.x)))
        self.add(x, pair.model)

    @precondition(lambda self: self.pairs and len(self.capsules) < 4)
    @rule(number=numbers, version=st.sampled_from([None, (1, 0), (1, 3)]))
    def make_capsule(self, number: int, version: Any) -> None:
        """A capsule, for later."""
        pair = self.at(number)
        if version is None and not pair.model.flags.writeable:
            self.refused(BufferError, lambda: pair.x.__dlpack__(max_version=version))
            return
        capsule = self.do(lambda: pair.x.__dlpack__(max_version=version))
        self.capsules.append((capsule, pair.model))

    @precondition(lambda self: self.capsules)
    @rule(number=numbers, how=st.sampled_from(["drop", "ours", "NumPy", "twice"]))
    def use_capsule(self, number: int, how: str) -> None:
        """A capsule is dropped, or taken."""
        capsule, model = self.capsules.pop(number % len(self.capsules))
        if how == "NumPy":
            if dlpack.inspect(capsule).version is None:
                model = model.view()  # NumPy writes to no memory of a legacy capsule
                model.flags.writeable = False
            self.add(self.do(lambda: np.from_dlpack(Holder(capsule))), model)
        elif how != "drop":
            self.add(self.do(lambda: dlpack.from_capsule(capsule)), model)
        if how == "twice":
            self.refused(ValueError, lambda: dlpack.from_capsule(capsule))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def on_four_threads(self, number: int) -> None:
        """Four threads export, import, look, compute and drop at the same time."""
        pair = self.at(number)

        def work(_: int) -> None:
            x = xp.from_dlpack(np.from_dlpack(pair.x) if pair.is_ours else pair.x)
            capsules = [x.__dlpack__(max_version=(1, 3)) for _ in range(4)]
            part = x[..., None]
            del x
            again = dlpack.from_capsule(capsules.pop())
            Pair(again, pair.model).check()
            assert not xp.any(xp.not_equal(part, part + xp.zeros_like(part))) or (
                pair.model.dtype.kind in "fc"
            )

        if pair.model.dtype != bool:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(work, range(4)))

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, links=st.integers(1, 200))
    def pass_on(self, number: int, links: int) -> None:
        """The memory goes to NumPy and back many times."""
        pair = self.at(number)
        if not pair.model.size:
            return  # NumPy forgets that it may not be written
        self.add(self.do(lambda: passed_on(pair.x, links)), pair.model)

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, closed=st.booleans(), lends=st.booleans())
    def own(self, number: int, closed: bool, lends: bool) -> None:
        """An object owns the memory, and keeps an array over it: a cycle."""
        pair = self.at(number)
        if pair.is_ours and pair.model.size:
            owner = Owner(pair.x)
            self.owners.append(ref(owner))
            self.add(self.do(lambda: owner.lend(lends, closed)), pair.model)

    @rule()
    def collect(self) -> None:
        """The garbage collector runs."""
        self.do(gc.collect)

    # ---- Computing and writing -------------------------------------------------------

    @precondition(lambda self: self.pairs)
    @rule(number=numbers, key=keys, value=st.integers(0, 1))
    def write(self, number: int, key: Any, value: int) -> None:
        """One value into some of the elements, seen by all who share them."""
        pair = self.at(number)
        key = part_of(key, pair.model.shape)
        plain: Any = pair.model.dtype.type(value).item()
        if not pair.model.flags.writeable:
            self.refused(
                (ValueError, TypeError, BufferError),
                lambda: pair.x.__setitem__(key, plain),
            )
            return
        self.do(lambda: pair.x.__setitem__(key, plain))
        pair.model[key] = plain

    @precondition(lambda self: self.pairs)
    @rule(one=numbers, two=numbers, name=st.sampled_from(["add", "multiply", "equal"]))
    def compute(self, one: int, two: int, name: str) -> None:
        """A function of two arrays."""
        a, b = self.at(one), self.at(two)
        if not (a.is_ours and b.is_ours) or a.model.dtype != b.model.dtype:
            return
        if a.model.dtype == bool and name != "equal":
            name = "logical_xor"
        try:
            with np.errstate(all="ignore"):
                model = np.asarray(getattr(np, name)(a.model, b.model), order="C")
        except ValueError:
            self.refused(ValueError, lambda: getattr(xp, name)(a.x, b.x))
            return
        if model.size < 1000:
            self.add(self.do(lambda: getattr(xp, name)(a.x, b.x)), model)

    @precondition(lambda self: self.pairs)
    @rule(one=numbers, two=numbers)
    def compute_in_place(self, one: int, two: int) -> None:
        """An operator that writes into its first operand, overlapping or not."""
        a, b = self.at(one), self.at(two)
        if not (a.is_ours and b.is_ours) or a.model.dtype != b.model.dtype:
            return
        operator = "__ixor__" if a.model.dtype == bool else "__iadd__"
        try:
            with np.errstate(all="ignore"):
                getattr(a.model, operator)(b.model)
        except ValueError:
            wrong = (ValueError, TypeError, BufferError)
            self.refused(wrong, lambda: getattr(a.x, operator)(b.x))
            return
        assert self.do(lambda: getattr(a.x, operator)(b.x)) is a.x

    @precondition(lambda self: self.pairs)
    @rule(number=numbers)
    def reduce(self, number: int) -> None:
        """The largest along the last axis."""
        pair = self.at(number)
        if pair.is_ours and pair.model.dtype.kind in "iuf" and pair.model.ndim:
            if pair.model.shape[-1]:
                model = np.asarray(np.max(pair.model, axis=-1), order="C")
                self.add(self.do(lambda: xp.max(pair.x, axis=-1)), model)

    # ---- What holds always -----------------------------------------------------------

    def refused(self, kind: Any, function: Callable[[], Any]) -> None:
        """Call what must be refused."""
        try:
            self.do(function)
        except kind:
            return
        raise AssertionError(f"nothing was raised in place of {kind}")

    @invariant()
    def all_are_as_their_models(self) -> None:
        """Compare all arrays."""
        for pair in self.pairs:
            pair.check()

    def teardown(self) -> None:
        """Drop what is left; all counters must be as before."""
        if self.other:
            self.other.shutdown()
        self.pairs.clear()
        self.capsules.clear()
        gc.collect()
        now = statistics()
        if sys.exc_info()[0]:
            return  # which holds on to arrays
        for made, deleted in (
            ("exported", "exports_deleted"),
            ("imported", "imports_deleted"),
        ):
            left = getattr(now, made) - getattr(now, deleted)
            assert left == getattr(self.before, made) - getattr(self.before, deleted)
        assert now.live_bytes == self.before.live_bytes
        assert now.live_buffers == self.before.live_buffers
        assert not any(owner() for owner in self.owners), "an owner was not collected"


ROUND = 100  # runs
SETTINGS = settings(
    stateful_step_count=60,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
    report_multiple_bugs=False,
)


def try_runs(runs: int, start: int) -> None:
    """Try some runs, which the seed decides."""
    machine = seed(start)(type("Machine", (Machine,), {}))
    run(machine, settings=settings(SETTINGS, max_examples=runs))


def main() -> None:
    """Run for some minutes; say how many runs of how many rules that were."""
    option, amount, *start = sys.argv[1:]
    first = int(start[0]) if start else random.randrange(2**32)
    if option == "--runs":
        runs = int(amount)
        try_runs(runs, first)
    else:
        runs, until = 0, time.monotonic() + 60 * float(amount)
        while time.monotonic() < until:
            try_runs(ROUND, first + runs)
            runs += ROUND
    print(f"{runs} runs of up to {SETTINGS.stateful_step_count} rules, seed {first}")


if __name__ == "__main__":
    main()
