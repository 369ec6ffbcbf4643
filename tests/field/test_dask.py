"""Unknown sizes as Dask has them, and what array-api-compat makes of lazy profiles.

Dask is asked for shapes only; it computes nothing here, but in `make engines`.

Install: dask[array]==2026.8.0 array-api-compat==1.16.0
In CI: yes
"""

import math

import pytest
from exchange import library
from unknown_sizes.cases import CASES
from unknown_sizes.operands import Operands
from unknown_sizes.refusals import REFUSALS

import refarray
from refarray import profiles

compat = library("array_api_compat", "dask")
dask = library("dask")
library("dask.array", "dask")

LIBRARY = "Dask"
VERSION = dask.__version__
DIRECTIONS = "none"


@pytest.fixture
def xp():
    """Dask with the names of the standard."""
    return pytest.importorskip("array_api_compat.dask.array")


def shape_of(x):
    # Dask writes nan where the standard has None.
    return tuple(None if math.isnan(n) else n for n in x.shape)


@pytest.mark.works
@pytest.mark.filterwarnings("ignore")
def test_dask_and_the_profile_agree_on_what_is_unknown(xp):
    """It has no DLPack. It and the profile `dask` agree on which sizes are unknown."""
    agreed = 0
    for case in CASES:
        try:
            out = case.call(xp, Operands(xp))
        except Exception:
            continue  # Dask lacks the function, or cannot do it with unknown sizes
        out = out if isinstance(out, (tuple, list)) else [out]
        assert [shape_of(x) for x in out] == case.shapes, case
        agreed += 1
    assert agreed > 200


# Where Dask goes on: its nan is a number, and its += makes a new array.
ALLOWED = {
    "broadcast_to an unknown shape",
    "arithmetic with a size",
    "a number of elements",
    "add in place to one",
}


@pytest.mark.works
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_what_the_profile_refuses_dask_refuses(refusal, xp):
    """What the profile `dask` refuses, Dask refuses."""
    arrays = Operands(xp)
    if refusal.name in ALLOWED:
        refusal.call(xp, arrays)
    else:
        with pytest.raises(Exception):  # noqa: B017  (of many types)
            refusal.call(xp, arrays)


@pytest.mark.works
@pytest.mark.parametrize("name", ["dask", "jit"])
def test_array_api_compat_takes_arrays_for_lazy(name):
    """array-api-compat takes arrays of the profiles `dask` and `jit` for lazy ones."""
    x = refarray.asarray([3.0, 1.0, 2.0])
    assert not compat.is_lazy_array(x)
    with profiles.use(name):
        assert compat.is_lazy_array(x)
        assert compat.is_lazy_array(refarray.zeros((0, 2)))
        assert compat.is_lazy_array(refarray.asarray(True))
        assert compat.size(x) == 3
        assert compat.array_namespace(x) is refarray
    assert not compat.is_lazy_array(x)


def test_array_api_compat_knows_no_unknown_size():
    x = refarray.asarray([3.0, 1.0, 2.0])
    with profiles.use("dask"):
        y = x[x > 1]
        assert compat.size(y) is None
        assert compat.is_lazy_array(y)
    assert compat.size(y) is None
