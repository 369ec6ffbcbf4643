"""The exchange with JAX, on the CPU.

JAX arrays are immutable, and JAX takes memory without a copy only if it is aligned to
64 bytes and row-major up to the order of its axes. Releases before 0.12 know legacy
capsules only; the tests find out which kind they have in front of them.

In CI: yes
"""

import os

import pytest
from arrays import DTYPES, Spy, address, numbers, ours, raw, read_only, reads, watch
from exchange import Exchange, library, load
from traces import Traces

import refarray as xp
from refarray.dlpack import from_capsule

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # no search for other devices
jax = library("jax")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)  # or it turns 64 bits into 32

LIBRARY = "JAX"
VERSIONED = not raw(jnp.zeros(3)).legacy


def theirs(name="float64"):
    return jnp.asarray(numbers(name))


def pointer(j):
    return j.unsafe_buffer_pointer()


class TestExchange(Exchange):
    adapter = load("jax")
    takes = DTYPES
    writes = False
    refused_layouts = dict.fromkeys(
        ["strided", "offset", "column", "one row", "reversed"],
        jax.errors.JaxRuntimeError,
    )
    copied_layouts = ["0-d"]
    read_only = "kept" if VERSIONED else BufferError
    asks = {"stream": None, "max_version": (1, 3)} if VERSIONED else {"stream": None}
    asks_device = True
    gives_version = (1, 3) if VERSIONED else "legacy"
    gives_writable = not VERSIONED
    given_read_only = "kept" if VERSIONED else "lost"
    # JAX lets go of a chain at garbage collections, one link at a time.
    round_trips = 5

    def pointer(self, array):
        return pointer(array)

    def type_of(self, array):
        return str(array.dtype)

    @pytest.mark.bug(None)
    def test_copies_on_request(self):
        """`copy=True` aliases memory that is aligned."""
        # The standard says: copy=True, always copy. Ask refarray for it instead.
        x = ours()
        j = jnp.from_dlpack(x, copy=True)
        assert pointer(j) == address(x)
        k = jnp.from_dlpack(xp.asarray(x, copy=True))
        x[0, 0] = 99.0
        assert (j[0, 0], k[0, 0]) == (99.0, 0.0)
        assert pointer(jnp.from_dlpack(x, copy=False)) == address(x)


class TestTraces(Traces):
    library = load("jax")


# To JAX ------------------------------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("size", [1, 2, 7, 100, 1000, 10**5, 3 * 10**6])
def test_jax_shares_every_size_new_and_used_again(size):
    """Memory of refarray is aligned to 64 bytes, so JAX shares arrays of every size."""
    for _ in range(3):
        x = xp.ones((size,))
        assert address(x) % 64 == 0
        j = jnp.from_dlpack(x)
        assert pointer(j) == address(x)
        assert j[size - 1] == 1.0
        results = x + 1.0
        assert pointer(jnp.from_dlpack(results)) == address(results)


@pytest.mark.works
def test_jax_copies_what_is_not_aligned(balance):
    """Parts that are not aligned to 64 bytes are copied; refused with `copy=False`."""
    with balance:
        x = xp.ones((100,))[1:]
        j = jnp.from_dlpack(x)
        assert pointer(j) != address(x)
        assert j.tolist() == [1.0] * 99
        with pytest.raises(ValueError, match="not aligned to 64 bytes"):
            jnp.from_dlpack(x, copy=False)
        del x, j


@pytest.mark.works
def test_compiled_code_reads_our_memory():
    """Compiled functions read our memory."""
    x = ours("float32")
    double = jax.jit(lambda v: 2 * v)
    assert double(jnp.from_dlpack(x)).tolist() == (2 * numbers("float32")).tolist()


@pytest.mark.refuses
def test_a_tracer_is_no_array():
    """Tracers inside `jax.jit`, which have no memory."""
    with pytest.raises(AttributeError, match="Tracer lacks them"):
        jax.jit(xp.from_dlpack)(theirs())


# From JAX ----------------------------------------------------------------------------


def test_refarray_shares_other_shapes():
    for j in (jnp.zeros((2, 0, 3)), jnp.arange(24.0).reshape(1, 2, 1, 3, 4)):
        x = xp.from_dlpack(j)
        assert x.shape == j.shape
        assert reads(x).tolist() == j.tolist()


OLD = pytest.mark.skipif(
    VERSIONED, reason="JAX exports versioned capsules from 0.12 on"
)


@OLD
@pytest.mark.bug(None)
def test_legacy_capsules_say_nothing_of_immutable_arrays():
    """Its legacy capsules do not say that an array is immutable, and so it changes."""
    j = theirs() + 0.0
    xp.from_dlpack(j)[0, 0] = 99.0
    assert j[0, 0] == 99.0


@OLD
@pytest.mark.bug("https://github.com/jax-ml/jax/issues/40789")
def test_it_asks_for_legacy_capsules():
    """It asks for legacy capsules, and so gets no read-only memory."""
    with pytest.raises(BufferError, match="legacy capsule cannot say so"):
        jnp.from_dlpack(Spy(read_only()))


@pytest.mark.works
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_passes_through(name):
    """float16 and bfloat16 pass through refarray, and can be converted to float32."""
    j = jnp.asarray([1.5, -2.0, 3.140625], dtype=name)
    x = xp.from_dlpack(j)
    assert str(x.dtype) == name
    assert reads(xp.astype(x, xp.float32)).tolist() == [1.5, -2.0, 3.140625]
    own = xp.asarray(x, copy=True)
    back = jnp.from_dlpack(own)
    assert pointer(back) == address(own)
    assert back.dtype == name
    assert back.tolist() == [1.5, -2.0, 3.140625]


@pytest.mark.refuses
@pytest.mark.parametrize(("name", "code"), [("float8_e4m3fn", 10), ("float8_e5m2", 12)])
def test_types_that_refarray_does_not_hold_are_refused_by_name(balance, name, code):
    """Arrays of float8, by refarray and by name."""
    with balance, pytest.raises(BufferError, match=f"type code {code} with 8 bits"):
        xp.from_dlpack(jnp.zeros(4, dtype=name))


@pytest.mark.refuses
def test_types_that_jax_does_not_export():
    """Arrays of int4, uint4 and random keys, by JAX."""
    for name in ("int4", "uint4"):
        with pytest.raises(jax.errors.JaxRuntimeError, match="no DLPack equivalent"):
            xp.from_dlpack(jnp.zeros(4, dtype=name))
    with pytest.raises(AttributeError, match="PRNGKeyArray lacks them"):
        xp.from_dlpack(jax.random.key(0))


# Both --------------------------------------------------------------------------------


@pytest.mark.works
def test_deleting_in_jax_gives_our_memory_back(balance):
    """`delete()` gives our memory back at once; an array of ours keeps its own."""
    with balance:
        j = jnp.from_dlpack(ours())
        j.delete()


def test_an_array_deleted_in_jax_lives_as_long_as_ours(balance):
    with balance:
        j = theirs() + 0.0
        capsule = j.__dlpack__(max_version=(1, 0))
        calls = watch(capsule)
        x = from_capsule(capsule)[2:]
        j.delete()
        del j, capsule
        junk = [jnp.full((48,), 7.0) for _ in range(50)]
        assert reads(x).tolist() == numbers("float64")[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1
