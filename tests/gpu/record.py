"""What a check of `check_gpu.py` writes down, and how it says what it cannot do here.

Every check runs in a process of its own and is given a `Record`. What it finds goes
into a file at once, so that it is known even if the process ends badly.

Next: `libraries.py`.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

Target = Literal["driver", "fake", "simulation"]


class NotHere(Exception):
    """A check, or a part of one, that this machine cannot do; the reason in words."""


class Record:
    """The findings of one check.

    `target` says whether the driver is the machine's, the fake of tests/cuda/fake, or
    the simulation. `suite` is the folder of array-api-tests, if there is one. `limit`
    is the number of seconds after which the process will be stopped.
    """

    def __init__(
        self,
        path: Path,
        target: Target,
        suite: Path | None = None,
        limit: float = float("inf"),
    ) -> None:
        self.path = path
        self.target = target
        self.suite = suite
        self._end = time.monotonic() + limit

    @property
    def seconds_left(self) -> float:
        """The seconds until the process will be stopped."""
        return self._end - time.monotonic()

    def write(self, kind: str, name: str, value: Any = True) -> None:
        """Write one finding; the kinds are those of `merge`."""
        with self.path.open("a") as file:
            file.write(json.dumps([kind, name, value]) + "\n")

    def measure(self, name: str, value: Any) -> None:
        """Note a number, or whatever else JSON can hold."""
        self.write("measured", name, value)

    def expect(self, right: object, what: str) -> None:
        """Note what has to be true, and whether it is; the check goes on either way."""
        self.write("held" if right else "broken", what)

    def equal(self, seen: object, right: object, what: str) -> None:
        """Expect two things to be equal, and show them if they are not."""
        said = "" if seen == right else f": {seen!r} is not {right!r}"
        self.expect(seen == right, what + said)

    def refuses(
        self, errors: type[Exception], action: Callable[[], object], what: str
    ) -> str:
        """Expect an exception, and return its message."""
        try:
            action()
        except errors as error:
            self.expect(True, what)
            return str(error)
        self.expect(False, f"{what}: no {errors.__name__} was raised")
        return ""

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Do a part on its own: what it raises is a failure, and the next one runs."""
        try:
            yield
        except NotHere as reason:
            self.write("left out", name, str(reason))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            said = f"{name}: {type(error).__name__}: {str(error)[:500]} ({where})"
            self.expect(False, said)

    def only(self, *targets: Target) -> None:
        """Leave the rest out for any other target."""
        if self.target not in targets:
            reasons = {
                "driver": "needs a simulated driver",
                "fake": "the fake driver runs no kernels and no other libraries",
                "simulation": "simulated devices are refarray's alone",
            }
            raise NotHere(reasons[self.target])


def merge(path: Path) -> dict[str, Any]:
    """Return the status of a check, and all that it wrote.

    "ok" if something was expected and nothing was otherwise; "skipped" if nothing could
    be expected.
    """
    measured: dict[str, Any] = {}
    broken: list[str] = []
    left_out: dict[str, str] = {}
    held = 0
    for line in path.read_text().splitlines() if path.exists() else ():
        kind, name, value = json.loads(line)
        if kind == "measured":
            measured[name] = value
        elif kind == "broken":
            broken.append(name)
        elif kind == "left out":
            left_out[name] = value
        elif kind == "held":
            held += 1
    status = "failed" if broken else "ok" if held else "skipped"
    reason = "; ".join(broken)
    if status == "skipped":
        reason = "; ".join(dict.fromkeys(left_out.values()))
    return {
        "status": status,
        "reason": reason,
        "held": held,
        "broken": broken,
        "measured": measured,
        "left_out": left_out,
    }


def fastest(action: Callable[[], object], times: int, repeats: int = 5) -> float:
    """Return the nanoseconds that an action takes, by the fastest of some loops."""
    action()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter_ns()
        for _ in range(times):
            action()
        best = min(best, (time.perf_counter_ns() - start) / times)
    return round(best, 1)
