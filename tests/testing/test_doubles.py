"""Doubles do what their names say, count, and blame the right side.

Consumers and producers that keep the rules are the measure: the correct library of
refarray.testing, NumPy and refarray itself.

More than 400 lines: one test for each of the doubles, in the order of their page.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

import refarray
from refarray.testing import doubles
from refarray.testing.check import SIDES
from refarray.testing.forge import Raw
from refarray.testing.library import CudaLibrary, Library
from refarray.testing.misbehaving_consumers import DeletesTwice, NeverRenames
from refarray.testing.rules import RULES
from refarray.testing.rules_exchange import table_of
from refarray.testing.violators import VIOLATORS

ROOT = Path(__file__).parents[2]
PRODUCERS, CONSUMERS = doubles.producers(), doubles.consumers()

LIBRARY = Library()
READERS = {
    "library": (LIBRARY.from_dlpack, LIBRARY.read),
    "numpy": (np.from_dlpack, lambda y: y.ravel().tolist()),
    "refarray": (
        refarray.from_dlpack,
        lambda y: np.asarray(memoryview(y)).ravel().tolist(),
    ),
}

# Broken by NumPy: rules 51 (NULL data) and 54 (it never asks for the device).
ACCEPTED_BY_NUMPY = {
    "data NULL with 6 elements",
    "announced (2, 0), capsule on (1, 0)",
    "announced (1, 0), capsule on (3, 0)",
}


def here():
    return f"test_doubles.py:{sys._getframe(1).f_lineno}"


# ---- The lists ----------------------------------------------------------------------


def test_every_planted_violator_is_a_double_but_those_that_nobody_can_see():
    own = {*SIDES["producer"], *SIDES["exchange"]}
    wrong = {fault.rule: fault.text for fault in PRODUCERS if fault.rule in own}
    unseen = {27, 33, 34, 35, 65, 66, 69}
    assert wrong == {n: VIOLATORS[n].__doc__ for n in own - unseen}
    texts = {fault.text for fault in CONSUMERS}
    assert texts >= {VIOLATORS[n].__doc__ for n in range(39, 61)}


@pytest.mark.parametrize("faults", [PRODUCERS, CONSUMERS])
def test_names_are_unique_and_say_something(faults):
    assert len({str(fault) for fault in faults}) == len(faults)
    assert all(fault.text and fault.rule in RULES for fault in faults)
    assert faults[0].name == "keeps every rule"


def test_the_page_is_current():
    written = (ROOT / "docs" / "reference" / "doubles.md").read_text(encoding="utf-8")
    assert written == doubles.page(), (
        "python -m refarray.testing.doubles > docs/reference/doubles.md"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: doubles.producer("deleter is NUL"), "did you mean 'deleter NULL'"),
        (lambda: doubles.consumer("drops a capsule"), "mean 'drops the capsule'"),
        (lambda: doubles.consumer("xyzzy"), r"doubles\.consumers\(\) lists all"),
        (lambda: doubles.producer(dtype="float128"), "'float128' is none of int32,"),
    ],
)
def test_unknown_names_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---- Right partners -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("library", "float64"),
        ("library", "int64"),
        ("library", "complex64"),
        ("numpy", "float64"),
        ("numpy", "float32"),
        ("refarray", "float64"),
        ("refarray", "int32"),
    ],
)
@pytest.mark.parametrize("fault", PRODUCERS, ids=str)
def test_right_consumers_answer_as_the_fault_says(fault, name, dtype):
    from_dlpack, read = READERS[name]
    double = doubles.producer(fault, dtype=dtype)
    try:
        y = from_dlpack(double.array)
    except Exception as error:
        assert fault.answer != "accepts"
        assert not isinstance(error, SystemError)
    else:
        assert fault.answer != "refuses" or (
            name == "numpy" and fault.name in ACCEPTED_BY_NUMPY
        )
        if double.values is not None:
            assert read(y) == double.values
            assert tuple(getattr(y, "shape", double.shape)) == double.shape
        del y
    double.assert_released()


@pytest.mark.parametrize(
    "make",
    [
        lambda: LIBRARY.make([1.0, 2.0], (2,), "float64"),
        lambda: np.asarray([1.0, 2.0]),
        lambda: refarray.asarray([1.0, 2.0]),
        lambda: doubles.producer().array,
    ],
    ids=["library", "numpy", "refarray", "double"],
)
@pytest.mark.parametrize("fault", CONSUMERS, ids=str)
def test_right_producers_answer_as_the_fault_says(fault, make):
    with doubles.consumer(fault) as double:
        x = make()
        if type(x) is np.ndarray and np.lib.NumpyVersion(np.__version__) < "2.4.0":
            x = x[::-1]  # before, NumPy gives strides only where it must
        try:
            double.from_dlpack(x)
        except Exception:
            assert fault.answer != "accepts"
        else:
            assert fault.answer != "refuses"


def test_values_come_through_a_right_consumer_double():
    a = np.arange(6.0).reshape(2, 3)
    with doubles.consumer() as double:
        y = double.from_dlpack(a)
        a[0, 0] = 7.0
        assert double.read(y) == [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        del y


# ---- Counts -------------------------------------------------------------------------


def test_what_numpy_does_is_counted():
    double = doubles.producer()
    y = np.from_dlpack(double.array)
    view = y[1:]
    del y
    assert (double.capsules_made, double.capsules_taken) == (1, 1)
    assert (double.destructor_calls, double.deleter_calls) == (1, 0)
    assert double.streams == [None]
    del view
    assert double.deleter_calls == 1
    np.from_dlpack(double.array, device="cpu", copy=True)
    assert double.keywords[1]["dl_device"] == (1, 0)
    assert double.keywords[1]["copy"] is True
    assert double.keywords[1]["max_version"][0] == 1
    double.assert_released()


def test_the_stream_that_a_library_on_cuda_asks_for_is_seen():
    double = doubles.producer("keeps every rule, on CUDA")
    CudaLibrary().from_dlpack(double.array)
    assert double.streams == [CudaLibrary().stream()]
    assert double.device_asked == 1
    double.assert_released()


def test_exports_through_the_exchange_table_are_counted():
    double = doubles.producer("keeps every rule, with an exchange table")
    table = table_of(double.array)
    answer = table.from_object(double.array)
    assert (double.table_calls, double.keywords) == (1, [])
    with pytest.raises(AssertionError, match="leaked: the consumer took the tensor"):
        double.assert_released()
    Raw.at(answer.result).delete()
    assert (double.capsules_taken, double.deleter_calls) == (1, 1)
    double.assert_released()


def test_a_producer_that_only_raises_has_made_nothing():
    double = doubles.producer("__dlpack__ raises BufferError")
    with pytest.raises(BufferError, match="sample"):
        np.from_dlpack(double.array)
    assert (double.capsules_made, double.deleter_calls) == (0, 0)
    double.assert_released()


# ---- Consumers that are to blame ----------------------------------------------------


def forgets(x):
    VIOLATORS[45]().from_dlpack(x)


def takes_foreign(x):
    """Call the deleter of whatever it gets."""

    class Takes(Library):
        def open(self, capsule, knows_keywords):
            found = self.raw_type(capsule)
            found.delete()
            raise BufferError("used")

    with pytest.raises(BufferError):
        Takes().from_dlpack(x)


class Refuses(Library):
    """In Python, so that the traceback of its exception has the capsule."""

    def load(self, x, device, copy):
        capsule = x.__dlpack__(max_version=(1, 3))
        raise BufferError(f"{capsule} is refused")


def refuses(x):
    with pytest.raises(BufferError) as info:
        Refuses().from_dlpack(x)
    kept.append(info)


kept = []


@pytest.mark.parametrize(
    ("consume", "fault", "problem"),
    [
        (lambda x: None, "keeps every rule", "never consumed: __dlpack__ was not"),
        (
            lambda x: x.__dlpack_device__(),
            "keeps every rule",
            "never consumed: __dlpack__ was not",
        ),
        (
            lambda x: x.__dlpack__(),
            "keeps every rule",
            "never consumed: of 1 capsules made, none was taken",
        ),
        (lambda x: x.__dlpack__(), "deleter NULL", "never consumed: of 1 capsules"),
        (lambda x: None, "__dlpack__ raises BufferError", "never consumed"),
        (forgets, "keeps every rule", "leaked: the consumer took the tensor and did"),
        (forgets, "destructor leaks", "leaked: the consumer took the tensor and did"),
        (
            lambda x: kept.append(x.__dlpack__()),
            "keeps every rule",
            "leaked: the deleter was not called, and the capsule is still there",
        ),
        (
            lambda x: kept.append(np.from_dlpack(x)),
            "keeps every rule",
            "(or the imported array is still alive)",
        ),
        (refuses, "version (2, 0), ndim 2", "by the traceback of its exception"),
        (
            DeletesTwice().from_dlpack,
            "keeps every rule",
            "freed twice: the consumer called the deleter 2 times",
        ),
        (
            DeletesTwice().from_dlpack,
            "destructor ignores the name",
            "freed twice: the consumer called the deleter 2 times",
        ),
        (
            NeverRenames().from_dlpack,
            "keeps every rule",
            "freed twice: by the consumer, and by the capsule's destructor, because",
        ),
        (
            takes_foreign,
            "the capsule is used already",
            "freed without a right: a capsule named 'used_dltensor_versioned'",
        ),
    ],
)
def test_a_consumer_is_blamed(consume, fault, problem):
    double, made_at = doubles.producer(fault), here()
    consume(double.array)
    with pytest.raises(AssertionError) as info:
        double.assert_released()
    message = str(info.value)
    assert problem in message
    assert f"made at {made_at}" in message
    assert repr(fault) in message
    kept.clear()


def test_only_the_bad_capsule_is_named_and_where_it_was_asked_for():
    double = doubles.producer()
    np.from_dlpack(double.array)
    line = VIOLATORS[45]().from_dlpack(double.array) and sys._getframe().f_lineno
    np.from_dlpack(double.array)
    with pytest.raises(AssertionError) as info:
        double.assert_released()
    (problem,) = str(info.value).splitlines()[1:]
    assert problem.startswith(f"  capsule 2, asked for at test_doubles.py:{line}: leak")


def test_with_asserts_at_the_end_and_hides_no_exception():
    with pytest.raises(AssertionError, match="never consumed"), doubles.producer():
        pass
    with pytest.raises(KeyError), doubles.producer():
        raise KeyError("mine")
    with pytest.raises(AssertionError, match="never consumed"), doubles.consumer():
        pass


# ---- Producers that are to blame ----------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "fault", "problem"),
    [
        (30, "keeps every rule", "freed twice: it was taken, and its destructor"),
        (31, "drops the capsule", "leaked: nobody took it, and its destructor did"),
        (32, "drops the capsule during an exception", "lost a pending exception"),
        (36, "asks twice", "not fresh: a capsule named 'used_dltensor_versioned'"),
    ],
)
def test_a_producer_is_blamed(rule, fault, problem):
    x = VIOLATORS[rule]().make([1.0, 2.0], (2,), "float64")
    double, made_at = doubles.consumer(fault), here()
    double.from_dlpack(x)
    if rule == 36:
        with pytest.raises(BufferError):
            double.from_dlpack(x)
    with pytest.raises(AssertionError) as info:
        double.assert_released()
    assert problem in str(info.value)
    assert f"made at {made_at}:" in str(info.value)


def test_an_array_that_is_still_in_use_is_named():
    with doubles.consumer() as double:
        y = double.from_dlpack(np.arange(3.0))
        with pytest.raises(AssertionError, match="still in use"):
            double.assert_released()
        del y


@pytest.mark.parametrize(
    "fault", ["calls the deleter twice", "never renames the capsule"]
)
@pytest.mark.parametrize("make", [np.arange, refarray.arange])
def test_a_real_producer_is_freed_once_whatever_the_double_does(fault, make):
    x = make(3.0)
    before = sys.getrefcount(x)
    with doubles.consumer(fault) as double:
        for _ in range(100):
            double.from_dlpack(x)
    assert double.deleter_calls == (200 if "twice" in fault else 100)
    gc.collect()
    assert sys.getrefcount(x) == before


def test_what_a_forgetful_double_keeps_is_given_back_in_the_end():
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    with doubles.consumer("never calls the deleter") as double:
        double.from_dlpack(a)
        gc.collect()
        assert sys.getrefcount(a) > before
        assert double.deleter_calls == 0
    assert sys.getrefcount(a) == before


def test_what_is_still_in_use_is_not_given_back():
    a = np.arange(3.0)
    with doubles.consumer("never calls the deleter") as double:
        y = double.from_dlpack(a)
        copy = double.from_dlpack(a, copy=True)
    before = sys.getrefcount(a)
    assert double.read(y) == double.read(copy) == [0.0, 1.0, 2.0]
    del y
    double.close()
    assert sys.getrefcount(a) < before


def test_the_producer_of_a_refused_capsule_frees_it():
    a = np.arange(3.0)
    a.flags.writeable = False
    before = sys.getrefcount(a)
    with doubles.consumer("refuses read-only memory") as double:
        with pytest.raises(BufferError, match="read-only"):
            double.from_dlpack(a)
        assert (double.capsules, double.capsules_taken) == (1, 0)
        assert double.deleter_calls_of_producer == 1
    assert sys.getrefcount(a) == before


def test_several_are_asserted_at_once():
    made = doubles.Doubles()
    np.from_dlpack(made.producer().array)
    made.producer("deleter NULL")
    made.consumer("drops the capsule")
    with pytest.raises(AssertionError) as info:
        made.assert_released()
    headlines = [line for line in str(info.value).splitlines() if line[0] != " "]
    assert [line.partition(", made at ")[0] for line in headlines] == [
        "producer 'deleter NULL' (rule 45)",
        "consumer 'drops the capsule' (rule 31)",
    ]
    made.close()
