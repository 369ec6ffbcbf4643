"""The exchange with torch, on the CPU."""

import signal

import exchanges
import numpy as np
import pytest
from exchanges import DTYPES, LAYOUTS, address, numbers, ours, raw, read_only, reads

import refarray as xp
from refarray.dlpack import from_capsule

torch = pytest.importorskip(
    "torch", reason="torch is not installed; `make interop` installs it"
)


def theirs(name="float64"):
    return torch.from_numpy(numbers(name))


# To torch ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_torch_shares_every_dtype(name):
    x = ours(name)
    t = torch.from_dlpack(x)
    assert t.dtype is getattr(torch, name)
    assert t.data_ptr() == address(x)
    assert t.tolist() == numbers(name).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_torch_shares_every_layout(layout):
    x = LAYOUTS[layout](ours())
    t = torch.from_dlpack(x)
    expected = np.asarray(LAYOUTS[layout](numbers("float64")))
    assert tuple(t.shape) == x.shape == expected.shape
    assert t.tolist() == expected.tolist()
    assert t.stride() == raw(x).strides or t.ndim == 0
    assert t.data_ptr() == (address(x) if x.size else 0)


def test_torch_ends_the_process_over_a_negative_stride():
    # pytorch#188023. An exception would be right; there is nothing that we could catch.
    result = exchanges.in_child(
        "import torch, refarray as xp\n"
        "torch.from_dlpack(xp.asarray([1.0, 2.0, 3.0])[::-1])"
    )
    assert result.returncode == -signal.SIGABRT
    assert "strides=[-1]" in result.stderr


def test_torch_ignores_read_only():
    # DLPack allows that to a library which has no notion of read-only memory.
    x = read_only()
    torch.from_dlpack(x)[0, 0] = 99.0
    assert reads(x)[0, 0] == 99.0


def test_torch_keeps_its_promises_about_copies():
    x = ours()
    assert torch.from_dlpack(x, copy=False).data_ptr() == address(x)
    assert torch.from_dlpack(x, device="cpu").data_ptr() == address(x)
    copy = torch.from_dlpack(x, copy=True)
    assert copy.data_ptr() != address(x)
    assert copy.tolist() == numbers("float64").tolist()


def test_torch_takes_a_bare_capsule():
    x = ours()
    for version in (None, (1, 0)):
        t = torch.utils.dlpack.from_dlpack(x.__dlpack__(max_version=version))
        assert t.data_ptr() == address(x)


def test_torch_tensor_copies_but_torch_asarray_takes_the_bytes_for_numbers():
    # Documented: torch.asarray reads an object with the buffer protocol as a row of
    # numbers of the dtype that is given, float32 by default.
    x = ours("int32")
    assert torch.tensor(x).tolist() == numbers("int32").tolist()
    flat = torch.asarray(x)
    assert flat.dtype is torch.float32
    assert flat.shape == (48,)
    assert torch.asarray(x, dtype=torch.int32).tolist() == list(range(48))


def test_gradients_flow_through_our_memory(balance):
    with balance:
        x = ours()
        t = torch.from_dlpack(x).requires_grad_()
        loss = (t * t).sum()
        del x
        loss.backward()
        assert t.grad.tolist() == (2 * numbers("float64")).tolist()
        del t, loss


# From torch --------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_refarray_shares_every_dtype(name):
    t = theirs(name)
    x = xp.from_dlpack(t)
    assert str(x.dtype) == name
    assert address(x) == t.data_ptr()
    assert reads(x).tolist() == t.tolist()
    assert not memoryview(x).readonly
    assert raw(t).version == (1, 3)


TORCH_LAYOUTS = {
    **LAYOUTS,
    "expanded": lambda t: t[0].expand(3, 12),
    "overlapping": lambda t: t.reshape(-1).unfold(0, 4, 2),
    "nine axes": lambda t: t.reshape(2, 2, 1, 2, 1, 3, 1, 2, 1).permute(
        *range(8, -1, -1)
    ),
}


@pytest.mark.parametrize("layout", TORCH_LAYOUTS)
def test_refarray_shares_every_layout(layout):
    t = TORCH_LAYOUTS[layout](theirs())
    x = xp.from_dlpack(t)
    assert x.shape == tuple(t.shape)
    assert reads(x).tolist() == t.tolist()
    if t.numel():
        assert address(x) == t.data_ptr()
        for extent, mine, its in zip(x.shape, x._strides, t.stride(), strict=True):
            assert extent == 1 or mine == its


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_passes_through(name):
    t = torch.tensor([1.5, -2.0, 3.140625], dtype=getattr(torch, name))
    x = xp.from_dlpack(t)
    assert str(x.dtype) == name
    back = torch.from_dlpack(x)
    assert back.dtype is t.dtype
    assert back.data_ptr() == t.data_ptr()
    assert back.tolist() == [1.5, -2.0, 3.140625]
    assert reads(xp.astype(x, xp.float32)).tolist() == t.float().tolist()


@pytest.mark.parametrize(
    ("name", "code", "bits"),
    [
        ("float8_e4m3fn", 10, 8),
        ("float8_e5m2", 12, 8),
        ("float8_e8m0fnu", 14, 8),
        ("float4_e2m1fn_x2", 17, 4),
    ],
)
def test_types_that_refarray_does_not_hold_are_refused_by_name(
    balance, name, code, bits
):
    with balance:
        t = torch.empty(4, dtype=getattr(torch, name))
        words = f"type code {code} with {bits} bits"
        with pytest.raises(BufferError, match=words):
            xp.from_dlpack(t)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_complex_of_32_bits_is_refused():
    t = torch.zeros(4, dtype=torch.complex32)
    with pytest.raises(BufferError, match="type code 5 with 32 bits"):
        xp.from_dlpack(t)


REFUSALS = {
    "gradients": (lambda: torch.ones(3, requires_grad=True), BufferError, "gradient"),
    "conjugates": (lambda: torch.ones(3).cfloat().conj(), BufferError, "conjugate"),
    "sparse": (lambda: torch.eye(3).to_sparse(), BufferError, "strided"),
    "meta": (lambda: torch.empty(3, device="meta"), ValueError, "meta"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_torch_refuses_arrives_unchanged(balance, what):
    make, error, words = REFUSALS[what]
    with balance, pytest.raises(error, match=words) as caught:
        xp.from_dlpack(make())
    assert caught.type is error


def test_torch_exports_wrong_values_of_a_lazily_negated_tensor():
    # It refuses lazy conjugates, and should refuse these too.
    t = torch.tensor([1 + 2j]).conj().imag
    assert t.tolist() == [-2.0]
    assert reads(xp.from_dlpack(t)).tolist() == [2.0]


def test_copies_of_torch_are_copies():
    t = theirs()
    # torch copies and does not set the flag, so refarray has to copy once more.
    assert raw(t, copy=True).flags == 0
    x = xp.from_dlpack(t, copy=True)
    assert x._buffer.kind == "host"
    t[0, 0] = 99.0
    assert reads(x)[0, 0] == 0.0
    assert address(xp.from_dlpack(t, copy=False)) == t.data_ptr()
    assert address(xp.from_dlpack(t, device=xp.Device("cpu"))) == t.data_ptr()


# Both --------------------------------------------------------------------------------


def test_writes_are_seen_on_both_sides():
    x = ours()
    t = torch.from_dlpack(x)
    x[1, 2] = 50.0
    assert t[1, 2] == 50.0
    t[3] = 60.0
    assert reads(x)[3].tolist() == [60.0] * 12
    y = xp.from_dlpack(t[:, ::2])
    y[0, 1] = 70.0
    assert reads(x)[0, 2] == 70.0
    assert t[0, 2] == 70.0


def test_ours_lives_as_long_as_a_tensor_over_it(balance):
    with balance:
        x = ours()
        t = torch.from_dlpack(x)[2:]
        del x
        junk = [xp.full((48,), 7.0) for _ in range(50)]
        assert t.tolist() == numbers("float64")[2:].tolist()
        del t, junk


def test_a_tensor_lives_as_long_as_an_array_over_it(balance):
    with balance:
        t = theirs().clone()
        capsule = t.__dlpack__(max_version=(1, 0))
        calls = exchanges.watch(capsule)
        x = from_capsule(capsule)[2:]
        del t, capsule
        junk = [torch.full((48,), 7.0) for _ in range(50)]
        assert reads(x).tolist() == numbers("float64")[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1


def test_the_consumer_goes_first(balance):
    with balance:
        x, t = ours(), theirs()
        torch.from_dlpack(x), xp.from_dlpack(t)
        assert reads(x)[3, 11] == t[3, 11] == 47.0
        del x, t


def test_round_trips_keep_one_memory(balance):
    with balance:
        x = ours()
        start = address(x)
        for _ in range(1000):
            x = xp.from_dlpack(torch.from_dlpack(x))
        assert address(x) == start
        assert reads(x).tolist() == numbers("float64").tolist()
        del x


def test_torch_drops_a_capsule_that_it_cannot_use(balance):
    x = ours()
    with balance:
        with pytest.raises((BufferError, RuntimeError), match="meta"):
            torch.from_dlpack(x, device="meta")
