"""Namespaces by version: which names they have, and what was different then.

tests/data/signatures.json holds the names and parameters of each version.
"""

import inspect
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import refarray
from refarray import profiles
from refarray._standard.versions import VERSIONS, namespace

SIGNATURES = json.loads(
    Path(__file__).parents[1].joinpath("data", "signatures.json").read_text()
)
EARLIER = VERSIONS[:-1]
EXTENSIONS = ("linalg", "fft")

# The signatures do not list the dtypes: data types of array API 2021.12 and 2022.12.
DTYPES = {
    "2021.12": (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
    ),
    "2022.12": ("complex64", "complex128"),
}
# Of `info` only the first function is a name of the namespace.
NOT_IN_THE_NAMESPACE = ("array_object", "data_types", "info", *EXTENSIONS)


def functions(version):
    found = {}
    for category, content in SIGNATURES[version].items():
        if category not in NOT_IN_THE_NAMESPACE:
            found |= content["functions"]
    if "info" in SIGNATURES[version]:
        found["__array_namespace_info__"] = []
    return found


def constants(version):
    categories = SIGNATURES[version].items()
    return {
        name
        for category, content in categories
        if category not in NOT_IN_THE_NAMESPACE
        for name in content.get("constants", ())
    }


def names(version):
    dtypes = [n for since, new in DTYPES.items() if since <= version for n in new]
    extensions = [name for name in EXTENSIONS if name in SIGNATURES[version]]
    return {*functions(version), *constants(version), *dtypes, *extensions}


def parameters(function):
    return list(inspect.signature(function).parameters)


def test_there_is_one_namespace_for_each_version():
    assert tuple(SIGNATURES) == VERSIONS
    for version in EARLIER:
        xp = namespace(version)
        assert xp is namespace(version)
        assert xp.__array_api_version__ == version
        assert xp.__name__ == f"refarray.namespace({version!r})"
    assert namespace() is namespace(None) is namespace("2025.12") is refarray
    assert refarray.__array_api_version__ == VERSIONS[-1]


@pytest.mark.parametrize("unknown", ["2020.12", "2026.12", "2023", "", 2023.12])
def test_an_unknown_version_is_an_error_that_lists_the_known(unknown):
    with pytest.raises(ValueError, match=r"known versions: '2021\.12', .*'2025\.12'"):
        namespace(unknown)
    with pytest.raises(ValueError, match="known versions"):
        refarray.zeros(1).__array_namespace__(api_version=unknown)


@pytest.mark.parametrize("version", EARLIER)
def test_names_are_those_of_the_version(version):
    xp = namespace(version)
    assert set(xp.__all__) == names(version)
    assert len(xp.__all__) == len(set(xp.__all__))
    assert set(dir(xp)) == {*xp.__all__, "__array_api_version__"}
    for extension in EXTENSIONS:
        if extension in SIGNATURES[version]:
            listed = set(getattr(xp, extension).__all__)
            assert listed == set(SIGNATURES[version][extension]["functions"])
    for beside in ("Array", "Device", "dlpack", "memory", "namespace", "profiles"):
        assert not hasattr(xp, beside)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_name_is_there_from_its_version_on(version):
    xp = namespace(version)
    for name in sorted(names(VERSIONS[-1])):
        since = next(v for v in VERSIONS if name in names(v))
        assert hasattr(xp, name) == (since <= version), name
        if since > version:
            with pytest.raises(AttributeError, match=f"^{name} came with .*{since}"):
                getattr(xp, name)
    for extension in EXTENSIONS:
        if hasattr(xp, extension):
            for name in SIGNATURES[VERSIONS[-1]][extension]["functions"]:
                there = name in SIGNATURES[version][extension]["functions"]
                assert hasattr(getattr(xp, extension), name) == there, name


def test_no_version_takes_a_name_back():
    for earlier, later in itertools.pairwise(VERSIONS):
        assert names(earlier) < names(later)


@pytest.mark.parametrize("version", VERSIONS)
def test_arrays_of_a_profile_announce_what_its_version_has(version):
    with profiles.use(api_version=version):
        xp = refarray.asarray(1.0).__array_namespace__()
        for name in names(VERSIONS[-1]):
            assert hasattr(xp, name) == (name in names(version)), name
        held = refarray.__array_namespace_info__().dtypes()
    dtypes = [name for new in DTYPES.values() for name in new]
    assert list(held) == [name for name in dtypes if name in names(version)]
    assert profiles.FLAGS["api_version"][0] == VERSIONS


def test_no_new_array_is_complex_under_a_profile_of_the_first_version():
    x, z = refarray.ones(2), refarray.asarray([1.0, 2j])
    with profiles.use(api_version="2021.12"):
        for refused in (
            lambda: refarray.asarray(1j),
            lambda: refarray.zeros(2, dtype=refarray.complex64),
            lambda: refarray.astype(x, refarray.complex128),
            lambda: x * 1j,
            lambda: z + z,
            lambda: refarray.from_dlpack(np.ones(2, dtype=complex)),
        ):
            with pytest.raises(ValueError, match=r"complex.*api_version=2021\.12"):
                refused()
        # What needs no new complex array goes on, with arrays from outside.
        assert z.to_device(z.device) is z
        assert complex(z[1]) == 2j
        assert float(refarray.abs(z)[1]) == float(refarray.imag(z)[1]) == 2.0
    with profiles.use(api_version="2022.12"):
        assert (x * 1j).dtype is (z + z).dtype is refarray.complex128


def test_the_namespace_of_an_old_version_computes_with_newer_arrays():
    xp = namespace("2021.12")
    z = refarray.asarray([1.0, 2j])
    assert z.__array_namespace__(api_version="2021.12") is xp
    for same in (xp.asarray(z), z.to_device(z.device), xp.astype(z, z.dtype)):
        np.testing.assert_array_equal(np.from_dlpack(same), [1, 2j])
    for double in (z + z, xp.add(z, z), xp.multiply(z, 2), xp.concat([z + z])):
        np.testing.assert_array_equal(np.from_dlpack(double), [2, 4j])
    assert xp.abs(z)[1] == 2
    assert xp.zeros(2, dtype=refarray.complex64).dtype is refarray.complex64
    assert xp.result_type(z, xp.float32) is refarray.complex128
    assert complex(z[1]) == 2j


@pytest.mark.parametrize("version", EARLIER)
def test_functions_are_plain_and_take_the_parameters_of_the_version(version):
    xp = namespace(version)
    listed = [(xp, functions(version))]
    for extension in EXTENSIONS:
        if extension in SIGNATURES[version]:
            wanted = SIGNATURES[version][extension]["functions"]
            listed.append((getattr(xp, extension), wanted))
    for owner, wanted in listed:
        for name, described in wanted.items():
            function = getattr(owner, name)
            assert inspect.isroutine(function), name
            assert function.__name__ == name
            assert function.__doc__
            given = [p["name"].lstrip("*") for p in described]
            # A later version may have added parameters, but only optional ones.
            assert set(given) <= set(parameters(function)), name


@pytest.mark.parametrize("version", VERSIONS)
def test_lists_became_tuples_with_2025_12(version):
    xp = namespace(version)
    kind = list if version < "2025.12" else tuple
    x, y = xp.arange(2), xp.arange(3)
    grids = xp.meshgrid(x, y, indexing="ij")
    assert type(grids) is kind
    assert [g.shape for g in grids] == [(2, 3), (2, 3)]
    assert type(xp.broadcast_arrays(x, xp.zeros((4, 1)))) is kind
    if version >= "2023.12":
        info = xp.__array_namespace_info__()
        assert type(info.devices()) is kind
        assert info.capabilities()["boolean indexing"] is True


@pytest.mark.parametrize("version", VERSIONS)
def test_sums_stayed_in_their_precision_from_2023_12(version):
    xp = namespace(version)
    for function in (xp.sum, xp.prod, xp.linalg.trace):
        for dtype, default in (
            (refarray.float32, refarray.float64),
            (refarray.complex64, refarray.complex128),
        ):
            x = xp.ones((2, 2), dtype=dtype)
            assert function(x).dtype is (default if version < "2023.12" else dtype)
            assert function(x, dtype=dtype).dtype is dtype
        assert function(xp.ones((2, 2), dtype=xp.int8)).dtype is xp.int64
        assert function(xp.ones((2, 2), dtype=xp.uint8)).dtype is xp.uint64
    # Summed in float64, not converted after: float32 would lose the ones.
    x = xp.asarray([2.0**24, 1.0, 1.0], dtype=xp.float32)
    if version < "2023.12":
        assert float(xp.sum(x)) == 2.0**24 + 2


@pytest.mark.parametrize("version", VERSIONS)
def test_axes_were_counted_from_the_first_before_2023_12(version):
    xp = namespace(version)
    x, y = xp.ones((2, 3)), xp.ones((4, 2, 3))
    functions = (xp.vecdot, xp.linalg.vecdot, xp.linalg.cross)
    for function, shape in zip(functions, ((4, 2), (4, 2), (4, 2, 3)), strict=True):
        if version < "2023.12":
            assert function(x, y, axis=2).shape == shape
        else:
            with pytest.raises(IndexError):
                function(x, y, axis=2)
        assert function(x, y, axis=-1).shape == shape
        with pytest.raises(IndexError):
            function(x, y, axis=3)


def test_versions_live_side_by_side():
    then, now = namespace("2021.12"), namespace()
    x = then.asarray([1.0, 2.0])
    assert x.__array_namespace__(api_version="2021.12") is then
    assert x.__array_namespace__() is now
    assert then.add is now.add
    assert isinstance(then.meshgrid(x), list)
    assert isinstance(now.meshgrid(x), tuple)
    np.testing.assert_array_equal(np.from_dlpack(then.add(x, now.ones(2))), [2, 3])


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"2023\.12.*has no attribute 'dot'"):
        _ = namespace("2023.12").dot
    with pytest.raises(AttributeError, match=r"eig came with version 2025\.12"):
        _ = namespace("2024.12").linalg.eig
