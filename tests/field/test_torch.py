"""The exchange with torch, on the CPU.

In CI: yes
"""

import signal

import numpy as np
import pytest
from arrays import (
    DTYPES,
    LAYOUTS,
    address,
    in_child,
    numbers,
    ours,
    raw,
    reads,
)
from exchange import Exchange, library, load
from faults import answers_wrong
from traces import END, Traces, life

import refarray as xp
from refarray.dlpack import trace

torch = library("torch")

LIBRARY = "PyTorch"


def theirs(name="float64"):
    return torch.from_numpy(numbers(name))


class TestExchange(Exchange):
    adapter = load("torch")
    takes = DTYPES
    refused_layouts = {"reversed": "the process ends"}
    read_only = "lost"  # DLPack allows that to a library without read-only memory
    asks = {"max_version": (1, 0)}
    asks_device = True
    given_layouts = [name for name in LAYOUTS if name != "reversed"]
    gives_version = (1, 3)

    def pointer(self, array):
        return array.data_ptr()

    @pytest.mark.bug("https://github.com/pytorch/pytorch/issues/188023")
    def test_refuses_other_layouts(self):
        """A negative stride ends the process; an exception would be right."""
        result = in_child(
            "import torch, refarray as xp\n"
            "torch.from_dlpack(xp.asarray([1.0, 2.0, 3.0])[::-1])"
        )
        assert result.returncode == -signal.SIGABRT
        assert "strides=[-1]" in result.stderr


class TestTraces(Traces):
    library = load("torch")


# To torch ----------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [n for n in LAYOUTS if n not in ("0-d", "reversed")])
def test_torch_keeps_our_strides(layout):
    x = LAYOUTS[layout](ours())
    assert torch.from_dlpack(x).stride() == raw(x).strides


@pytest.mark.works
def test_torch_takes_a_bare_capsule():
    """`torch.utils.dlpack.from_dlpack` takes a bare capsule, of either kind."""
    x = ours()
    for version in (None, (1, 0)):
        t = torch.utils.dlpack.from_dlpack(x.__dlpack__(max_version=version))
        assert t.data_ptr() == address(x)


@pytest.mark.works
def test_torch_tensor_copies_but_torch_asarray_takes_the_bytes_for_numbers():
    """`torch.tensor` copies our arrays; `torch.asarray` makes one row, of float32."""
    # Documented: torch.asarray reads an object with the buffer protocol as a row of
    # numbers of the dtype that is given, float32 by default.
    x = ours("int32")
    assert torch.tensor(x).tolist() == numbers("int32").tolist()
    flat = torch.asarray(x)
    assert flat.dtype is torch.float32
    assert flat.shape == (48,)
    assert torch.asarray(x, dtype=torch.int32).tolist() == list(range(48))


@pytest.mark.works
def test_gradients_flow_through_our_memory(balance):
    """Gradients flow through our memory."""
    with balance:
        x = ours()
        t = torch.from_dlpack(x).requires_grad_()
        loss = (t * t).sum()
        del x
        loss.backward()
        assert t.grad.tolist() == (2 * numbers("float64")).tolist()
        del t, loss


def test_torch_drops_a_capsule_that_it_cannot_use(balance):
    x = ours()
    with balance:
        with pytest.raises((BufferError, RuntimeError), match="meta"):
            torch.from_dlpack(x, device="meta")


@pytest.mark.bug(None)
def test_answers_to_faulty_capsules():
    """NULL with six elements is taken for an array."""
    deadly = {  # torch ends the process: rules 48 and 51
        "negative strides",
        "ndim -1",
        "shape (2**40, 2**40)",
        "shape (2**61,)",
    }
    wrong = answers_wrong(torch.from_dlpack, lambda y: y.flatten().tolist(), deadly)
    assert wrong == {"data NULL with 6 elements"}


# From torch --------------------------------------------------------------------------

MORE_LAYOUTS = {
    "expanded": lambda t: t[0].expand(3, 12),
    "overlapping": lambda t: t.reshape(-1).unfold(0, 4, 2),
    "nine axes": lambda t: t.reshape(2, 2, 1, 2, 1, 3, 1, 2, 1).permute(
        *range(8, -1, -1)
    ),
}


@pytest.mark.works
@pytest.mark.parametrize("layout", MORE_LAYOUTS)
def test_refarray_shares_stranger_layouts(layout):
    """Expanded, overlapping and nine-dimensional tensors are shared too."""
    t = MORE_LAYOUTS[layout](theirs())
    x = xp.from_dlpack(t)
    assert x.shape == tuple(t.shape)
    assert reads(x).tolist() == t.tolist()
    assert address(x) == t.data_ptr()
    for extent, mine, its in zip(x.shape, x._strides, t.stride(), strict=True):
        assert extent == 1 or mine == its


@pytest.mark.works
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_passes_through(name):
    """float16 and bfloat16 pass through refarray, and can be converted to float32."""
    t = torch.tensor([1.5, -2.0, 3.140625], dtype=getattr(torch, name))
    x = xp.from_dlpack(t)
    assert str(x.dtype) == name
    back = torch.from_dlpack(x)
    assert back.dtype is t.dtype
    assert back.data_ptr() == t.data_ptr()
    assert back.tolist() == [1.5, -2.0, 3.140625]
    assert reads(xp.astype(x, xp.float32)).tolist() == t.float().tolist()


@pytest.mark.refuses
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize(
    ("name", "code", "bits"),
    [
        ("float8_e4m3fn", 10, 8),
        ("float8_e5m2", 12, 8),
        ("float8_e8m0fnu", 14, 8),
        ("float4_e2m1fn_x2", 17, 4),
        ("complex32", 5, 32),
    ],
)
def test_types_that_refarray_does_not_hold_are_refused_by_name(
    balance, name, code, bits
):
    """Tensors of float8, float4 and complex32, by refarray and by name."""
    with balance:
        t = torch.empty(4, dtype=getattr(torch, name))
        words = f"type code {code} with {bits} bits"
        with pytest.raises(BufferError, match=words):
            xp.from_dlpack(t)


REFUSALS = {
    "gradients": (lambda: torch.ones(3, requires_grad=True), BufferError, "gradient"),
    "conjugates": (lambda: torch.ones(3).cfloat().conj(), BufferError, "conjugate"),
    "sparse": (lambda: torch.eye(3).to_sparse(), BufferError, "strided"),
    "meta": (lambda: torch.empty(3, device="meta"), ValueError, "meta"),
}


@pytest.mark.refuses
@pytest.mark.parametrize("what", REFUSALS)
def test_what_torch_refuses_arrives_unchanged(balance, what):
    """Tensors with gradients, lazily conjugated, sparse, or on `meta`, by torch."""
    make, error, words = REFUSALS[what]
    with balance, pytest.raises(error, match=words) as caught:
        xp.from_dlpack(make())
    assert caught.type is error


@pytest.mark.bug(None)
def test_torch_exports_wrong_values_of_a_lazily_negated_tensor():
    """A lazily negated tensor is exported without the minus."""
    # It refuses lazy conjugates, and should refuse these too.
    t = torch.tensor([1 + 2j]).conj().imag
    assert t.tolist() == [-2.0]
    assert reads(xp.from_dlpack(t)).tolist() == [2.0]


@pytest.mark.bug(None)
def test_copies_of_torch_do_not_say_that_they_are():
    """`copy=True` copies and does not set IS_COPIED, so refarray copies once more."""
    t = theirs()
    assert raw(t, copy=True).flags == 0
    assert xp.from_dlpack(t, copy=True)._buffer.kind == "host"


# Others ------------------------------------------------------------------------------


def test_a_trace_between_two_other_libraries():
    with trace() as t:
        y = torch.from_dlpack(t.watch(np.arange(3.0)))
    assert (t.producer, t.consumer) == ("numpy.ndarray", "torch")
    assert y.tolist() == [0.0, 1.0, 2.0]
    del y
    assert life(t)[-2:] == END
