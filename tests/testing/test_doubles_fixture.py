"""The fixture `dlpack_doubles` fails what leaks, frees twice or never consumes."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import numpy
import pytest

from refarray.testing.misbehaving_consumers import DeletesTwice, NeverRenames
from refarray.testing.violators import VIOLATORS

kept = []

def test_numpy(dlpack_doubles):
    y = numpy.from_dlpack(dlpack_doubles.producer().array)
    z = y[0]
    with pytest.raises(BufferError):
        numpy.from_dlpack(dlpack_doubles.producer("version (2, 0), ndim 2").array)
    dlpack_doubles.consumer("asks twice").from_dlpack(numpy.zeros(3))

def test_in_a_cycle(dlpack_doubles):
    cycle = [numpy.from_dlpack(dlpack_doubles.producer().array)]
    cycle.append(cycle)

@pytest.fixture
def imported(dlpack_doubles):
    return numpy.from_dlpack(dlpack_doubles.producer().array)

def test_in_a_fixture(imported):
    assert imported[0, 0] == 1

def test_leaking(dlpack_doubles):
    VIOLATORS[45]().from_dlpack(dlpack_doubles.producer().array)

def test_keeping(dlpack_doubles):
    kept.append(numpy.from_dlpack(dlpack_doubles.producer("byte_offset=16").array))

def test_freeing_twice(dlpack_doubles):
    DeletesTwice().from_dlpack(dlpack_doubles.producer("strides are NULL").array)

def test_never_renaming(dlpack_doubles):
    NeverRenames().from_dlpack(dlpack_doubles.producer().array)

def test_never_consuming(dlpack_doubles):
    dlpack_doubles.producer()

def test_never_consuming_array(dlpack_doubles):
    dlpack_doubles.consumer()

def test_bad_producer(dlpack_doubles):
    x = VIOLATORS[31]().make([1.0], (1,), "float64")
    dlpack_doubles.consumer("drops the capsule").from_dlpack(x)

def test_failing_itself(dlpack_doubles):
    y = numpy.from_dlpack(dlpack_doubles.producer().array)
    assert y is None

def test_skipped(dlpack_doubles):
    dlpack_doubles.producer()
    pytest.skip("not today")
"""

BLAMED = {
    "test_leaking": "leaked: the consumer took the tensor and did not call its deleter",
    "test_keeping": "or the imported array is still alive",
    "test_freeing_twice": "freed twice: the consumer called the deleter 2 times",
    "test_never_renaming": "the consumer did not rename the capsule to used_*",
    "test_never_consuming": "never consumed: __dlpack__ was not called",
    "test_never_consuming_array": "never consumed: from_dlpack was not called",
    "test_bad_producer": "leaked: nobody took it, and its destructor did not call",
}


@pytest.fixture
def ended(pytester):
    pytester.makepyfile(test_theirs=TESTS)
    return pytester.runpytest_inprocess(
        *("-p", "refarray.testing.plugin", "-p", "no:cacheprovider", "-rA")
    )


def test_what_is_wrong_is_an_error_of_that_test_and_of_no_other(ended):
    outcomes = ended.parseoutcomes()
    assert outcomes == {"passed": 10, "failed": 1, "skipped": 1, "errors": len(BLAMED)}
    blamed = {
        line.partition("::")[2].split()[0]
        for line in ended.outlines
        if line.startswith("ERROR ")
    }
    assert blamed == set(BLAMED)
    text = "\n".join(ended.outlines)
    for test, problem in BLAMED.items():
        part = text.partition(f"teardown of {test} ___")[2].partition("\n____")[0]
        assert problem in part, test


def test_the_report_shows_the_place_and_not_the_inside_of_the_double(ended):
    line = 1 + TESTS.splitlines().index("def test_leaking(dlpack_doubles):")
    text = "\n".join(ended.outlines)
    part = text.partition("teardown of test_leaking ___")[2].partition("\n____")[0]
    assert f"made at test_theirs.py:{line}:" in part
    assert f"asked for at test_theirs.py:{line}:" in part
    assert "def assert_released" not in part
    assert "def fail" not in part
