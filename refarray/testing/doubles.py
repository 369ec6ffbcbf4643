"""Test doubles for DLPack: producers and consumers with one fault each, which count.

If you write a `from_dlpack`, hand it producers:

    from refarray.testing import doubles

    with doubles.producer("deleter NULL") as double:
        mine.from_dlpack(double.array)

If you write a `__dlpack__`, hand your arrays to consumers:

    with doubles.consumer("drops the capsule") as double:
        double.from_dlpack(my_array)

At the end of the block `assert_released` says what was leaked, freed twice or never
consumed, and where it was made. Nothing crashes: what producers hand out is never
freed, and consumers call a real deleter once at most. `producers()` and `consumers()`
list the doubles; `python -m refarray.testing.doubles` prints both lists. In pytest the
fixture `dlpack_doubles` of plugin.py hands them out and checks each after the test.

Next: faults.py, then doubles_producer.py and doubles_consumer.py.
"""

from __future__ import annotations

import sys

from refarray.testing.doubles_consumer import Consumer
from refarray.testing.doubles_producer import Producer
from refarray.testing.faults import Fault, find
from refarray.testing.forge import DTYPES, itemsize
from refarray.testing.misbehaving_consumers import CONSUMERS
from refarray.testing.misbehaving_producers import PRODUCERS

__all__ = [
    "producer",
    "consumer",
    "producers",
    "consumers",
    "Producer",
    "Consumer",
    "Fault",
    "Doubles",
]

RIGHT = "keeps every rule"


def producers() -> tuple[Fault, ...]:
    """Return the faults that a producer can have; the first is none."""
    return tuple(entry.fault for entry in PRODUCERS.values())


def consumers() -> tuple[Fault, ...]:
    """Return the faults that a consumer can have; the first is none."""
    return tuple(entry.fault for entry in CONSUMERS.values())


def producer(fault: str | Fault = RIGHT, *, dtype: str = "float64") -> Producer:
    """Make a producer with this fault.

    Its array has shape (2, 3), the values 1 to 6 and the data type of this name (one of
    4 bytes or more), unless the fault wants something else. ValueError for an unknown
    fault or data type.
    """
    name = find(str(fault), PRODUCERS, "producer")
    # In one or two bytes not every fault can be shown: 2**61 elements are possible.
    known = [known for known in DTYPES if itemsize(known) >= 4]
    if dtype not in known:
        raise ValueError(f"dtype {dtype!r} is none of {', '.join(known)}")
    entry = PRODUCERS[name]
    sample = entry.make(dtype)
    return Producer(
        entry.fault,
        sample.inner,
        sample.cases,
        sample.values,
        sample.shape,
        sample.has_table,
    )


def consumer(fault: str | Fault = RIGHT) -> Consumer:
    """Make a consumer with this fault; ValueError for an unknown one."""
    entry = CONSUMERS[find(str(fault), CONSUMERS, "consumer")]
    return Consumer(entry.fault, entry.library())


class Doubles:
    """Makes doubles, and checks all of them at once. The pytest fixture is one."""

    def __init__(self) -> None:
        self.made: list[Producer | Consumer] = []

    def producer(
        self, fault: str | Fault = RIGHT, *, dtype: str = "float64"
    ) -> Producer:
        """Make a producer with this fault."""
        made = producer(fault, dtype=dtype)
        self.made.append(made)
        return made

    def consumer(self, fault: str | Fault = RIGHT) -> Consumer:
        """Make a consumer with this fault."""
        made = consumer(fault)
        self.made.append(made)
        return made

    def assert_released(self) -> None:
        """Raise AssertionError with all that any of the doubles has to say."""
        __tracebackhide__ = True
        found = []
        for double in self.made:
            try:
                double.assert_released()
            except AssertionError as error:
                found.append(str(error))
        if found:
            raise AssertionError("\n".join(found))

    def close(self) -> None:
        """Give back what forgetful consumers have kept and nobody uses."""
        for double in self.made:
            if isinstance(double, Consumer):
                double.close()


HEAD = """\
# Doubles for DLPack

Producers and consumers with one fault each, for tests: `doubles.producer(name)` and
`doubles.consumer(name)` of `refarray.testing`.
[Test your DLPack](../howto/test-your-dlpack.md) shows how they are used. *Wrong* breaks
the rule; *unusual* is allowed, and by the rule the other side must cope. The answer is
that of a partner that keeps [the rules](rules.md).
Written by `python -m refarray.testing.doubles`; a test compares.
"""


def page() -> str:
    """Return both lists as Markdown."""
    lines = [HEAD]
    for title, faults in (("Producers", producers()), ("Consumers", consumers())):
        lines += [f"## {title}\n", "| Name | Rule | | Answer | Text |"]
        lines += ["| --- | ---: | --- | --- | --- |"]
        for fault in faults:
            kind = "wrong" if fault.is_wrong else "unusual"
            kind = "right" if fault.name.startswith(RIGHT) else kind
            cells = (f"`{fault.name}`", str(fault.rule), kind, fault.answer, fault.text)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page())
