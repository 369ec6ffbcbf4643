"""The exchange with JAX, on the CPU.

JAX arrays are immutable, and JAX takes memory without a copy only if it is aligned to
64 bytes and row-major up to the order of its axes. Releases before 0.12 know legacy
capsules only; the tests find out which kind they have in front of them.
"""

import gc
import os

import arrays
import numpy as np
import pytest
from arrays import (
    DTYPES,
    Spy,
    address,
    numbers,
    ours,
    raw,
    read_only,
    reads,
)

import refarray as xp
from refarray.dlpack import from_capsule

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # no search for other devices
jax = pytest.importorskip(
    "jax", reason="JAX is not installed; `make field` installs it"
)
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)  # or it turns 64 bits into 32


@pytest.fixture(scope="module")
def versioned():
    """Tell whether this JAX asks for versioned capsules, and makes them."""
    spy = Spy(ours())
    jnp.from_dlpack(spy)
    asks = spy.asked[0].get("max_version") is not None
    assert asks is (not raw(jnp.zeros(3)).legacy)
    return asks


def theirs(name="float64"):
    return jnp.asarray(numbers(name))


def pointer(j):
    return j.unsafe_buffer_pointer()


# To JAX ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_jax_shares_every_dtype_without_a_copy(name):
    x = ours(name)
    j = jnp.from_dlpack(x)
    assert j.dtype == name
    assert pointer(j) == address(x)
    assert j.tolist() == numbers(name).tolist()


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1000, 10**5, 3 * 10**6])
def test_jax_shares_every_size_new_and_used_again(size):
    for _ in range(3):
        x = xp.ones((size,))
        assert address(x) % 64 == 0
        j = jnp.from_dlpack(x)
        assert pointer(j) == address(x)
        assert j[size - 1] == 1.0
        results = x + 1.0
        assert pointer(jnp.from_dlpack(results)) == address(results)


SHARED = ["compact", "transposed", "rows", "new axes"]


@pytest.mark.parametrize("layout", SHARED)
def test_jax_shares_permuted_axes_and_aligned_parts(layout):
    view = arrays.LAYOUTS[layout]
    x = view(ours())
    j = jnp.from_dlpack(x)
    assert address(x) % 64 == 0
    assert pointer(j) == address(x)
    assert j.tolist() == view(numbers("float64")).tolist()


def test_jax_copies_what_is_not_aligned(balance):
    with balance:
        x = xp.ones((100,))[1:]
        j = jnp.from_dlpack(x)
        assert pointer(j) != address(x)
        assert j.tolist() == [1.0] * 99
        with pytest.raises(ValueError, match="not aligned to 64 bytes"):
            jnp.from_dlpack(x, copy=False)
        del x, j


def test_jax_takes_scalars_and_empty_arrays():
    x = ours()
    assert jnp.from_dlpack(x[1, 2]).tolist() == 14.0
    assert jnp.from_dlpack(x[:0]).shape == (0, 12)
    assert jnp.from_dlpack(xp.zeros((3, 0, 2))).shape == (3, 0, 2)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2, 1::3],
        lambda a: a[::-1],
        lambda a: a[2:, 3:],
        lambda a: a[:, 5],
    ],
)
def test_jax_refuses_other_strides_and_gives_the_memory_back(balance, view):
    with balance:
        x = view(ours())
        with pytest.raises(jax.errors.JaxRuntimeError, match="compact"):
            jnp.from_dlpack(x)
        del x


def test_read_only_memory(versioned):
    x = read_only()
    if versioned:
        assert jnp.from_dlpack(x).tolist() == numbers("float64").tolist()
    else:  # jax#40789: it asks for a legacy capsule, which could not say so
        with pytest.raises(BufferError, match="legacy capsule cannot say so"):
            jnp.from_dlpack(x)


def test_jax_aliases_where_a_copy_was_asked_for():
    # The standard says: copy=True, always copy. Ask refarray for it instead.
    x = ours()
    j = jnp.from_dlpack(x, copy=True)
    assert pointer(j) == address(x)
    k = jnp.from_dlpack(xp.asarray(x, copy=True))
    x[0, 0] = 99.0
    assert (j[0, 0], k[0, 0]) == (99.0, 0.0)


def test_jax_shares_on_a_device_of_its_own():
    x = ours()
    assert pointer(jnp.from_dlpack(x, device=jax.devices("cpu")[0])) == address(x)
    assert pointer(jnp.from_dlpack(x, copy=False)) == address(x)


def test_compiled_code_reads_our_memory():
    x = ours("float32")
    double = jax.jit(lambda v: 2 * v)
    assert double(jnp.from_dlpack(x)).tolist() == (2 * numbers("float32")).tolist()


def test_a_tracer_is_no_array():
    with pytest.raises(AttributeError, match="Tracer lacks them"):
        jax.jit(xp.from_dlpack)(theirs())


# From JAX ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_refarray_shares_every_dtype(name, versioned):
    j = theirs(name)
    x = xp.from_dlpack(j)
    assert str(x.dtype) == name
    assert address(x) == pointer(j)
    assert reads(x).tolist() == j.tolist()
    assert memoryview(x).readonly is versioned


@pytest.mark.parametrize(
    "make",
    [
        lambda: theirs().T,
        lambda: theirs()[1, 2],
        lambda: theirs()[:0],
        lambda: jnp.zeros((2, 0, 3)),
        lambda: jnp.arange(24.0).reshape(1, 2, 1, 3, 4),
    ],
)
def test_refarray_shares_every_layout(make):
    j = make()
    x = xp.from_dlpack(j)
    assert x.shape == j.shape
    assert reads(x).tolist() == j.tolist()


def test_immutable_arrays_stay_immutable_if_jax_says_so(versioned):
    j = theirs() + 0.0
    x = xp.from_dlpack(j)
    if versioned:
        with pytest.raises(ValueError, match="read-only"):
            x[0, 0] = 99.0
        assert j[0, 0] == 0.0
    else:  # its legacy capsules say nothing, and so the immutable array changes
        x[0, 0] = 99.0
        assert j[0, 0] == 99.0


def test_copies_of_jax_are_copies_and_writable():
    j = theirs()
    x = xp.from_dlpack(j, copy=True)
    assert address(x) != pointer(j)
    x[0, 0] = 99.0
    assert j[0, 0] == 0.0
    assert address(xp.from_dlpack(j, copy=False)) == pointer(j)
    assert address(xp.from_dlpack(j, device=xp.Device("cpu"))) == pointer(j)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_passes_through(name):
    j = jnp.asarray([1.5, -2.0, 3.140625], dtype=name)
    x = xp.from_dlpack(j)
    assert str(x.dtype) == name
    assert reads(xp.astype(x, xp.float32)).tolist() == [1.5, -2.0, 3.140625]
    own = xp.asarray(x, copy=True)
    back = jnp.from_dlpack(own)
    assert pointer(back) == address(own)
    assert back.dtype == name
    assert back.tolist() == [1.5, -2.0, 3.140625]


@pytest.mark.parametrize(("name", "code"), [("float8_e4m3fn", 10), ("float8_e5m2", 12)])
def test_types_that_refarray_does_not_hold_are_refused_by_name(balance, name, code):
    with balance, pytest.raises(BufferError, match=f"type code {code} with 8 bits"):
        xp.from_dlpack(jnp.zeros(4, dtype=name))


def test_types_that_jax_does_not_export():
    for name in ("int4", "uint4"):
        with pytest.raises(jax.errors.JaxRuntimeError, match="no DLPack equivalent"):
            xp.from_dlpack(jnp.zeros(4, dtype=name))
    with pytest.raises(AttributeError, match="PRNGKeyArray lacks them"):
        xp.from_dlpack(jax.random.key(0))


# Both --------------------------------------------------------------------------------


def test_our_writes_are_seen_in_the_immutable_array():
    x = ours()
    j = jnp.from_dlpack(x)
    x[1, 2] = 50.0
    assert np.asarray(j)[1, 2] == 50.0


def test_ours_lives_as_long_as_an_array_of_jax(balance):
    with balance:
        x = ours()
        j = jnp.from_dlpack(x)
        del x
        junk = [xp.full((48,), 7.0) for _ in range(50)]
        assert j.tolist() == numbers("float64").tolist()
        del j, junk


def test_deleting_in_jax_gives_our_memory_back(balance):
    with balance:
        j = jnp.from_dlpack(ours())
        j.delete()


@pytest.mark.parametrize("how", [lambda j: j.delete(), lambda j: None])
def test_an_array_of_jax_lives_as_long_as_ours(balance, how):
    with balance:
        j = theirs() + 0.0
        capsule = j.__dlpack__(max_version=(1, 0))
        calls = arrays.watch(capsule)
        x = from_capsule(capsule)[2:]
        how(j)
        del j, capsule
        junk = [jnp.full((48,), 7.0) for _ in range(50)]
        assert reads(x).tolist() == numbers("float64")[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1


def test_round_trips_keep_one_memory(balance):
    with balance:
        x = ours()
        start = address(x)
        for _ in range(5):
            j = jnp.from_dlpack(x)
            x = xp.from_dlpack(j)
            if memoryview(x).readonly:
                break  # what a read-only array is for JAX, another test says
        assert pointer(j) == address(x) == start
        assert reads(x).tolist() == numbers("float64").tolist()
        del x, j
        # JAX drops references at garbage collections, one link of the chain at a time.
        for _ in range(5):
            gc.collect()
