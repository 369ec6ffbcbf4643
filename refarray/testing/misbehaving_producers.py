"""The list of producers that misbehave or surprise, each by its name.

Those of rules 1 to 36 and from 61 on are the planted violators of
violators_producer.py and violators_exchange.py. The others
hand out the tensors of odd.py or keep to an old or strange form of the protocol, and
the rule is the one by which a consumer must cope. Next: doubles_consumer.py.

Some violators are missing. 27 shows only when the array itself dies; 33 and 34 end the
process; 35 shows only to a consumer that breaks another rule; 65, 66 and 69 do not show
to whoever takes an array.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from refarray.testing import producers
from refarray.testing.faults import Answer, Fault
from refarray.testing.findings import MUST
from refarray.testing.forge import Case, Tensor
from refarray.testing.library import CudaLibrary, Library, RocmLibrary
from refarray.testing.odd import Odd, odd
from refarray.testing.rules import RULES
from refarray.testing.rules_consumer import SampleError
from refarray.testing.samples import VALUES
from refarray.testing.violators import VIOLATORS

SHAPE = (2, 3)
NUMBERS = [int(value) for value in VALUES]  # for every dtype but bool


class Sample(NamedTuple):
    """What a producer double is made from."""

    inner: Any
    cases: list[Case]
    values: list[Any] | None = NUMBERS
    shape: tuple[int, ...] = SHAPE
    has_table: bool = False


Maker = Callable[[Library, str], Sample]


def plain(library: Library, dtype: str) -> Sample:
    """Make the array that most faults show with."""
    return Sample(library.make(NUMBERS, SHAPE, dtype), library.cases)


def unexportable(library: Library, dtype: str) -> Sample:
    """Make one of a data type that DLPack cannot describe."""
    return Sample(library.unexportable(), library.cases, None)


def read_only(library: Library, dtype: str) -> Sample:
    """Make one that must not be written."""
    array = library.make(NUMBERS, SHAPE, dtype)
    return Sample(library.read_only(array), library.cases)


def one_column(library: Library, dtype: str) -> Sample:
    """Make one with an axis of a single element."""
    array = library.make(NUMBERS, SHAPE, dtype)
    column = library.view(array, (slice(None), slice(0, 1)))
    return Sample(column, library.cases, [1, 4], (2, 1))


def booleans(library: Library, dtype: str) -> Sample:
    """Make one of bool."""
    array = library.make([True, False], (2,), "bool")
    return Sample(array, library.cases, [1, 0], (2,))


#: (rule, name, what a right consumer does, what it is shown with).
PLANTED: tuple[tuple[int, str, Answer, Maker], ...] = (
    (1, "__dlpack_device__ wants an argument", "either", plain),
    (2, "device id is None", "either", plain),
    (3, "__dlpack_device__ raises RuntimeError", "refuses", unexportable),
    (4, "__dlpack__ takes positional arguments", "accepts", plain),
    (5, "versioned although unasked", "accepts", plain),
    (6, "versioned only for (1, 3) and later", "accepts", plain),
    (7, "refuses consumers of a later major version", "either", plain),
    (8, "versioned for major version 0", "accepts", plain),
    (9, "malformed max_version is ignored", "accepts", plain),
    (10, "dl_device out of reach is ignored", "accepts", plain),
    (11, "on CUDA, no way to the CPU", "either", plain),
    (12, "copy=True is ignored", "accepts", plain),
    (13, "copy=False copies", "accepts", plain),
    (14, "copies unasked", "accepts", plain),
    (15, "on CUDA, copies on the default stream", "either", plain),
    (16, "on the CPU, takes streams", "accepts", plain),
    (17, "on CUDA, None is the per-thread stream", "either", plain),
    (18, "on ROCm, takes streams 1 and 2", "either", plain),
    (19, "on CUDA, nobody waits for the host", "either", plain),
    (20, "on CUDA, takes stream -2", "either", plain),
    (21, "__dlpack__ raises RuntimeError", "refuses", unexportable),
    (22, "unknown keywords are ignored", "accepts", plain),
    (23, "read-only without the flag", "either", read_only),
    (24, "strides are NULL", "either", plain),
    (25, "stride of one element is anything", "either", one_column),
    (26, "bool as uint8", "accepts", booleans),
    (28, "version was never released", "accepts", plain),
    (29, "capsule has its own copy of the name", "accepts", plain),
    (30, "destructor ignores the name", "accepts", plain),
    (31, "destructor leaks", "accepts", plain),
    (32, "destructor loses a pending exception", "accepts", plain),
    (36, "the same capsule again", "accepts", plain),
)

#: The same for the C exchange table; besides it they have a right `__dlpack__`.
TABLES: tuple[tuple[int, str, Answer, Maker], ...] = (
    (61, "exchange table hangs on the instance", "accepts", plain),
    (62, "exchange table of version (2, 0)", "accepts", plain),
    (63, "exchange table without current_work_stream", "accepts", plain),
    (64, "exchange table raises RuntimeError", "refuses", unexportable),
    (67, "exchange table lends strides that are NULL", "accepts", plain),
    (68, "exchange table is silent on the CPU's stream", "accepts", plain),
    (70, "exchange table exports what cannot be", "either", unexportable),
)


class Entry(NamedTuple):
    """A fault, and how to make a producer that has it, of a dtype."""

    fault: Fault
    make: Callable[[str], Sample]


def _right(
    kind: type[Library], where: str, answer: Answer, has_table: bool = False
) -> Entry:
    name, text = f"keeps every rule{where}", "A correct producer."
    fault = Fault(name, 45, text, answer, False, kind.device)

    def make(dtype: str) -> Sample:
        return plain(kind(), dtype)._replace(has_table=has_table)

    return Entry(fault, make)


def _table(rule: int, name: str, answer: Answer, maker: Maker) -> Entry:
    kind = VIOLATORS[rule]
    fault = Fault(name, rule, kind.__doc__ or "", answer)
    return Entry(fault, lambda dtype: maker(kind(), dtype)._replace(has_table=True))


def _planted(rule: int, name: str, answer: Answer, maker: Maker) -> Entry:
    kind = VIOLATORS[rule]
    fault = Fault(name, rule, kind.__doc__ or "", answer, True, kind.device)
    return Entry(fault, lambda dtype: maker(kind(), dtype))


def _odd(position: int, case: Odd) -> Entry:
    def make(dtype: str) -> Sample:
        tensor = Tensor.of(NUMBERS, SHAPE, dtype)
        found = next(itertools.islice(odd(tensor), position, None))
        x = producers.Producer(
            found.tensor,
            announce=found.announce,
            legacy_only=found.tensor.version is None,
            versioned_always=found.always_versioned,
        )
        return Sample(x, x.cases, found.values, found.shape)

    rule = RULES[case.rule]
    is_free = case.may_refuse or rule.level != MUST
    answer: Answer = "either" if is_free else "accepts"
    if case.values is None:
        answer = "refuses"
    is_wrong = case.rule in (50, 51, 54)
    return Entry(Fault(case.name, case.rule, rule.text, answer, is_wrong), make)


def failing(error: Exception, in_device: bool = False) -> Sample:
    """Make a producer whose methods raise."""
    return Sample(producers.Failing(error, in_device), [], None)


def modern(tensor: Tensor, **options: Any) -> Sample:
    """Make a producer that knows every keyword."""
    x = producers.Producer(tensor, **options)
    return Sample(x, x.cases)


def old(tensor: Tensor, **options: Any) -> Sample:
    """Make a producer from before DLPack 1.0."""
    x = producers.Producer(tensor, **options)
    return Sample(producers.Old(x), x.cases)


def returning(tensor: Tensor, name: str | None) -> Sample:
    """Make a producer whose only capsule has this name."""
    case = Case(tensor.but(name=name))
    return Sample(producers.Returning(case.capsule()), [case], None)


#: (rule for the consumer, name, what a right consumer does, how to make it).
FORMS: tuple[tuple[int, str, Answer, Callable[[Tensor], Sample]], ...] = (
    (
        *(39, "__dlpack__ raises BufferError", "refuses"),
        lambda tensor: failing(BufferError("sample")),
    ),
    (
        *(39, "__dlpack__ raises an exception of its own", "refuses"),
        lambda tensor: failing(SampleError("sample")),
    ),
    (
        *(39, "__dlpack_device__ raises BufferError", "refuses"),
        lambda tensor: failing(BufferError("sample"), in_device=True),
    ),
    (
        *(41, "__dlpack__ raises TypeError about the data", "refuses"),
        lambda tensor: failing(TypeError("sample: this element type has no name")),
    ),
    (41, "__dlpack__ knows no max_version", "either", old),
    (
        *(43, "legacy although versioned was asked for", "accepts"),
        lambda tensor: modern(tensor, legacy_only=True),
    ),
    (
        *(43, "versioned, from a method without max_version", "either"),
        lambda tensor: old(tensor, versioned_always=True),
    ),
    (
        *(44, "the capsule is used already", "refuses"),
        lambda tensor: returning(tensor, "used_dltensor_versioned"),
    ),
    (
        *(44, "the legacy capsule is used already", "refuses"),
        lambda tensor: returning(tensor.but(version=None), "used_dltensor"),
    ),
    (
        *(44, "the capsule has a foreign name", "refuses"),
        lambda tensor: returning(tensor, "another_name"),
    ),
    (
        *(44, "the capsule has no name", "refuses"),
        lambda tensor: returning(tensor, None),
    ),
    (
        *(44, "42 for a capsule", "refuses"),
        lambda tensor: Sample(producers.Returning(42), [], None),
    ),
)


def _form(
    rule: int, name: str, answer: Answer, make: Callable[[Tensor], Sample]
) -> Entry:
    fault = Fault(name, rule, RULES[rule].text, answer, is_wrong=rule == 44)
    return Entry(fault, lambda dtype: make(Tensor.of(NUMBERS, SHAPE, dtype)))


def _entries() -> Iterator[Entry]:
    yield _right(Library, "", "accepts")
    yield _right(Library, ", with an exchange table", "accepts", has_table=True)
    yield _right(CudaLibrary, ", on CUDA", "either")
    yield _right(RocmLibrary, ", on ROCm", "either")
    for planted in PLANTED:
        yield _planted(*planted)
    for table in TABLES:
        yield _table(*table)
    for form in FORMS:
        yield _form(*form)
    for position, case in enumerate(odd(Tensor.of(NUMBERS, SHAPE))):
        yield _odd(position, case)


#: name -> the fault and how to make it.
PRODUCERS: dict[str, Entry] = {entry.fault.name: entry for entry in _entries()}
