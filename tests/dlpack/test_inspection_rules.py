"""Rules that the inspector sees broken, by their numbers in docs/reference/rules.md."""

import pytest

from refarray.dlpack import inspect
from refarray.testing.forge import CPU, CUDA, Tensor, forge
from refarray.testing.library import Library
from refarray.testing.violators import VIOLATORS

GOOD = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))


def forged(**changes):
    return forge(GOOD.but(**changes))[0]


def rules(x):
    return [(broken.rule, broken.level) for broken in inspect(x).broken]


class Producer:
    """Hands out what it is given."""

    def __init__(self, capsule, announced=CPU):
        self.capsule, self.announced = capsule, announced

    def __dlpack__(self, *, max_version=None):
        return self.capsule

    def __dlpack_device__(self):
        return self.announced


class Old(Producer):
    def __dlpack__(self):
        return self.capsule


class Deviceless:
    def __dlpack__(self, *, max_version=None):
        return forged()


class Refusing(Producer):
    def __dlpack__(self, *, max_version=None):
        raise TypeError("int8 is no type for this") from None


def test_how_an_object_answers():
    capsule = forged()
    legacy = forged(version=None)
    assert rules(Producer(capsule)) == []
    assert rules(Producer(legacy)) == [(6, "must")]
    assert rules(Old(legacy)) == [(4, "must")]
    assert rules(Producer(capsule, CUDA)) == [(54, "must")]
    assert rules(Producer(capsule, (1, None))) == [(2, "must")]
    assert rules(Deviceless()) == [(1, "must")]
    with pytest.raises(TypeError, match="no type for this"):
        inspect(Refusing(capsule))


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, []),
        # NULL strides mean row-major before 1.2, and are wrong since.
        ({"strides": None, "version": None}, []),
        ({"strides": None, "version": (1, 1)}, []),
        ({"strides": None, "version": (1, 2)}, [(24, "must")]),
        ({"strides": None}, [(24, "must")]),
        ({"shape": (), "strides": None}, []),
        ({"shape": None, "strides": None, "ndim": 0}, []),
        ({"shape": None, "ndim": 2}, [(24, "must")]),
        ({"shape": (0, 3), "data": None}, []),
        ({"shape": (0, 3)}, [(24, "should")]),
        ({"data": None}, [(24, "must")]),
        ({"ndim": -1}, [(24, "must")]),
        ({"shape": (2, -3)}, [(24, "must")]),
        ({"shape": (1 << 40, 1 << 40)}, [(24, "must")]),
        ({"strides": (1 << 62, 1)}, [(24, "must")]),
        ({"byte_offset": 2**64 - 8}, [(24, "must")]),
        ({"version": (1, 99)}, [(28, "must")]),
        ({"version": (0, 9)}, [(28, "must")]),
        ({"version": (2, 0)}, [(28, "must")]),
        ({"dtype": (200, 64, 1)}, [(26, "must")]),
        ({"dtype": (6, 1, 1)}, [(26, "must")]),
        ({"dtype": (2, 24, 1)}, [(26, "must")]),
        ({"dtype": (2, 64, 0)}, [(26, "must")]),
        ({"dtype": (15, 8, 1)}, [(26, "must")]),
        ({"dtype": (17, 4, 1)}, []),
        ({"dtype": (12, 8, 1)}, []),
        ({"device": (99, 0)}, [(2, "must")]),
        ({"device": (1, 7)}, [(2, "must")]),
        ({"shape": (1, 3), "strides": (77, 1)}, [(25, "should")]),
        ({"shape": (1, 3), "strides": (3, 1)}, []),
        ({"shape": (1, 3), "strides": (1, 1)}, []),
        ({"data": GOOD.data + 4, "shape": (2, 2)}, [(59, "should")]),
        ({"flags": 1 << 40}, []),
    ],
)
def test_broken_rules(changes, broken):
    assert rules(forged(**changes)) == broken


@pytest.mark.parametrize("number", [1, 2, 24, 25, 28])
def test_the_violators_of_refarray_testing_are_caught(number):
    def broken_by(library):
        whole = library.make([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3), "float64")
        part = library.view(whole, (slice(0, 1), slice(0, 2)))
        return {rule for x in (whole, part) for rule, _ in rules(x)}

    assert broken_by(Library()) == set()
    assert broken_by(VIOLATORS[number]()) == {number}
