"""The trace of an exchange: what its steps say, and that it changes nothing."""

import gc
import json
import weakref

import numpy as np
import pytest

import refarray as xp
from refarray._memory.native import ffi
from refarray.dlpack import Tensor, from_capsule, trace
from refarray.dlpack.structs import managed_tensor
from refarray.testing import _forge
from refarray.testing.forge import Raw, forge
from refarray.testing.forge import Tensor as Forged

EXCHANGE = ["capsule asked", "capsule made", "taken over", "capsule dropped"]


def kinds(t):
    return [step.kind for step in t.steps]


def step(t, kind):
    [found] = [step for step in t.steps if step.kind == kind]
    return found


class Producer:
    """A producer that notes what it was asked, and answers as it is told."""

    def __init__(self, answer, device=(1, 0)):
        self.answer, self.device, self.asked = answer, device, []

    def __dlpack_device__(self):
        self.asked.append("device")
        if isinstance(self.device, BaseException):
            raise self.device
        return self.device

    def __dlpack__(self, *args, **kwargs):
        self.asked.append((args, kwargs))
        return self.answer(**kwargs)


class Old:
    """A producer that knows no keyword but `stream`."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


def forged(tensor):
    """Return a producer of one forged tensor, and the counts of that."""
    capsule, case = forge(tensor)
    box = [capsule]
    del capsule
    return Producer(lambda **kwargs: box.pop()), case


SIX = Forged.of(range(6), (2, 3))


# ---- A right exchange ----------------------------------------------------------------


def test_from_refarray_to_numpy(balance):
    x = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with balance:
        with trace(consumer="NumPy") as t:
            y = np.from_dlpack(t.watch(x))
        assert kinds(t) == [*EXCHANGE, "block ended"]
        assert y.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        y[0, 0] = 7.0
        assert float(x[0, 0]) == 7.0
        assert any("has not been called" in text for text in t.unseen)
        del y
        assert kinds(t) == [*EXCHANGE, "block ended", "deleter called"]
        assert not any("has not been called" in text for text in t.unseen)
    assert [s.number for s in t.steps] == [1, 2, 3, 4, 5, 6]
    who = ["consumer", "producer", "consumer", "consumer", "trace", "consumer"]
    assert [s.who for s in t.steps] == who
    assert (t.producer, t.consumer) == ("refarray.Array", "NumPy")
    made = step(t, "capsule made")
    assert made.details == {
        "name": "dltensor_versioned",
        "deleter": True,
        "version": [1, 3],
        "flags": 0,
        "dtype": [2, 64, 1],
        "device": [1, 0],
        "shape": [2, 3],
    }
    assert "DLPack 1.3: float64, shape (2, 3), on (1, 0) kDLCPU" in made.text
    assert "used_dltensor_versioned" in step(t, "taken over").text
    assert {s.thread for s in t.steps if s.kind != "taken over"} == {"MainThread"}


def test_from_numpy_to_refarray():
    x = np.arange(3.0)
    with trace() as t:
        y = xp.from_dlpack(t.watch(x))
    assert kinds(t)[:2] == ["device asked", "device answered"]
    assert kinds(t)[2:] == [*EXCHANGE, "block ended"]
    assert step(t, "device answered").details == {"device": [1, 0]}
    assert (t.producer, t.consumer) == ("numpy.ndarray", "refarray")
    assert y._buffer.address == x.ctypes.data  # no copy on the way


def test_every_argument_arrives_and_is_shown():
    x = xp.ones(3)
    inner = Producer(lambda **kwargs: x.__dlpack__())
    asked = {"copy": True, "max_version": (1, 0), "nonsense": [1], "stream": -1}
    with trace() as t:
        t.watch(inner).__dlpack__(5, **asked)
    assert inner.asked == [((5,), asked)]
    assert step(t, "capsule asked").text == (
        "calls __dlpack__(5, copy=True, max_version=(1, 0), nonsense=[1], stream=-1)"
    )
    assert step(t, "capsule asked").details["keywords"]["max_version"] == [1, 0]


def test_the_legacy_form(balance):
    with balance:
        with trace() as t:
            y = from_capsule(t.watch(xp.arange(3)).__dlpack__())
        assert step(t, "capsule made").details["name"] == "dltensor"
        assert step(t, "taken over").text.endswith("'used_dltensor'")
        assert [int(v) for v in y] == [0, 1, 2]
        del y
        assert kinds(t)[-1] == "deleter called"


def test_an_older_producer_is_asked_again():
    with trace(consumer="NumPy") as t:
        np.from_dlpack(t.watch(Old(xp.ones(2))))
    assert kinds(t)[:2] == ["capsule asked", "raised"]
    assert kinds(t)[2:] == [*EXCHANGE, "deleter called", "block ended"]
    assert step(t, "raised").details["type"] == "TypeError"


def test_flags_strides_and_offsets_stay():
    x = xp.broadcast_to(xp.asarray([1.0, 2.0, 3.0])[1:], (2, 2))
    with trace() as t:
        y = np.from_dlpack(t.watch(x))
    assert not y.flags.writeable
    assert (y.strides, y.tolist()) == ((0, 8), [[2.0, 3.0], [2.0, 3.0]])
    assert step(t, "capsule made").text.endswith("flags READ_ONLY")


def test_several_exchanges_are_told_apart():
    with trace() as t:
        kept = [np.from_dlpack(t.watch(xp.ones(n))) for n in (1, 2)]
    assert [s.capsule for s in t.steps if s.kind == "capsule made"] == [1, 2]
    assert "[capsule 2] makes a capsule" in str(t)
    del kept[0]
    assert [s.capsule for s in t.steps if s.kind == "deleter called"] == [1]


def test_nothing_is_kept_alive(balance):
    x = xp.ones(1000)
    gone = weakref.ref(x)
    with balance:
        with trace() as t:
            y = np.from_dlpack(t.watch(x))
        del y
    del x
    gc.collect()
    assert gone() is None and len(t.steps) == 6


# ---- Exchanges that end early, or badly ----------------------------------------------


def test_a_consumer_that_never_consumes(balance):
    with balance:
        with trace() as t:
            capsule = t.watch(xp.ones(3)).__dlpack__()
        assert kinds(t) == ["capsule asked", "capsule made", "block ended"]
        assert any("neither its destructor" in text for text in t.unseen)
        del capsule
    assert kinds(t)[3:] == ["capsule dropped", "deleter called"]
    assert (t.steps[-1].who, t.unseen) == ("producer", ())
    assert "destructor" in t.steps[-1].text


def test_a_producer_that_raises():
    error = BufferError("not today")

    def refuse(**kwargs):
        raise error

    with pytest.raises(BufferError) as caught, trace() as t:
        xp.from_dlpack(t.watch(Producer(refuse)))
    assert caught.value is error
    raised = [s for s in t.steps if s.kind == "raised"]
    assert [s.who for s in raised] == ["producer", "consumer"]
    assert raised[0].text == "raises BufferError: not today"
    assert raised[1].text == "lets BufferError of the producer through"

    error = OSError()
    with pytest.raises(OSError) as caught, trace() as t:
        xp.from_dlpack(t.watch(Producer(None, device=error)))
    assert caught.value is error and kinds(t)[:2] == ["device asked", "raised"]


def test_a_consumer_that_raises_before_it_takes():
    # NumPy drops the capsule with the exception set: the destructor must keep it.
    producer, case = forged(SIX.but(dtype=(200, 64, 1)))
    # Its type of exception depends on NumPy's release; without that it is SystemError.
    with pytest.raises((BufferError, RuntimeError)), trace() as t:
        np.from_dlpack(t.watch(producer))
    assert case.deleter_calls == 1
    assert kinds(t)[1:] == [
        "capsule made",
        "capsule dropped",
        "deleter called",
        "raised",
        "block ended",
    ]
    assert "unknown type of code 200, 64 bits" in step(t, "capsule made").text


def test_a_consumer_that_raises_half_way():
    producer, case = forged(SIX)
    with pytest.raises(KeyError, match="half way"), trace() as t:
        raw = Raw(t.watch(producer).__dlpack__(max_version=(1, 0)))
        raw.take()
        raise KeyError("half way")
    assert kinds(t)[1:] == [*EXCHANGE[1:], "raised", "block ended"]
    assert t.steps[-2].who == "consumer" and case.deleter_calls == 0
    raw.delete()
    assert case.deleter_calls == 1


def test_a_deleter_is_called_once_whatever_a_consumer_does():
    producer, case = forged(SIX)
    with trace() as t:
        raw = Raw(t.watch(producer).__dlpack__())
        raw.take()
        for _ in range(20):
            raw.delete()
    assert case.deleter_calls == 1
    calls = [s for s in t.steps if s.kind == "deleter called"]
    assert calls[0].text.endswith("the memory goes back")
    assert all("again" in call.text for call in calls[1:])
    assert any("were only counted" in text for text in t.unseen)


def test_a_consumer_that_does_not_rename():
    producer, case = forged(SIX)
    with trace() as t:
        raw = Raw(t.watch(producer).__dlpack__())
        raw.delete()
        raw.capsule = None
    assert case.deleter_calls == 1
    assert kinds(t)[2:] == [
        "taken over",
        "deleter called",
        "capsule dropped",
        "deleter called",
        "block ended",
    ]
    assert "without renaming" in step(t, "taken over").text


def test_a_consumer_that_takes_the_destructor_away(balance):
    with balance:
        with trace() as t:
            raw = Raw(t.watch(xp.ones(3)).__dlpack__())
            _forge.clear_destructor(raw.capsule)
            raw.capsule = None
        raw.delete()
        # That it was taken shows late; it is shown where it can only have been.
        assert kinds(t)[2:] == ["taken over", "block ended", "deleter called"]
        assert any("its destructor has not run" in text for text in t.unseen)


@pytest.mark.not_under_valgrind("the forge makes a name that is never freed")
def test_a_consumer_that_gives_another_name():
    producer, case = forged(SIX)
    with trace() as t:
        raw = Raw(t.watch(producer).__dlpack__())
        _forge.rename_capsule(raw.capsule, "mine")
        raw.capsule = None
        raw.delete()
    assert case.deleter_calls == 1
    assert "another name" in step(t, "taken over").text


def test_a_deleter_that_is_null():
    producer, _ = forged(SIX.but(deleter=None))
    with trace() as t:
        y = np.from_dlpack(t.watch(producer))
    assert "deleter NULL" in step(t, "capsule made").text
    del y
    assert "does nothing" in step(t, "deleter called").text


@pytest.mark.parametrize("answer", [None, 3, "capsule"])
def test_what_is_no_capsule_is_handed_on(answer):
    with trace() as t:
        got = t.watch(Producer(lambda **kwargs: answer)).__dlpack__()
    assert got is answer
    assert type(answer).__name__ in step(t, "capsule made").text and t.unseen


@pytest.mark.parametrize(
    "tensor", [SIX.but(name="other"), SIX.but(name=None), SIX.but(version=(2, 0))]
)
def test_capsules_that_cannot_be_replaced_are_handed_on(tensor):
    capsule, case = forge(tensor)
    with trace() as t:
        assert t.watch(Producer(lambda **kwargs: capsule)).__dlpack__() is capsule
    assert case.deleter_calls == 0 and t.unseen
    assert kinds(t) == ["capsule asked", "capsule made", "block ended"]


def test_a_capsule_that_was_used_is_not_read():
    capsule, _ = forge(SIX)
    y = np.from_dlpack(Producer(lambda **kwargs: capsule))
    managed_tensor(capsule)[1].dl_tensor.shape = ffi.cast("int64_t *", 8)
    with pytest.raises(ValueError, match="consumed"), trace() as t:
        xp.from_dlpack(t.watch(Producer(lambda **kwargs: capsule)))
    assert "was used before" in step(t, "capsule made").text
    assert y.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize("ndim", [-1, 65, 2**31 - 1])
def test_shapes_of_no_array_are_not_read(ndim):
    producer, _ = forged(SIX.but(ndim=ndim))
    with trace() as t:
        t.watch(producer).__dlpack__()
    assert f"ndim {ndim}" in step(t, "capsule made").text


def test_what_is_no_producer():
    with pytest.raises(AttributeError, match="list lacks it"):
        trace().watch([1, 2])


# ---- Words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "word"),
    [
        ((6, 8, 1), "bool,"),
        ((6, 1, 1), "bool1,"),
        ((1, 8, 1), "uint8,"),
        ((4, 16, 1), "bfloat16,"),
        ((5, 128, 1), "complex128,"),
        ((10, 8, 1), "float8_e4m3fn,"),
        ((2, 32, 4), "float32 x 4 lanes,"),
        ((99, 8, 1), "unknown type of code 99, 8 bits,"),
    ],
)
def test_names_of_dtypes(dtype, word):
    producer, _ = forged(SIX.but(dtype=dtype))
    with trace() as t:
        t.watch(producer).__dlpack__()
    assert f": {word}" in step(t, "capsule made").text


def test_the_table_and_the_dict_tell_the_same():
    with trace(producer="mine", consumer="theirs") as t:
        np.from_dlpack(t.watch(Tensor.from_buffer(bytearray(8))))
    told = t.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert (told["producer"], told["consumer"]) == ("mine", "theirs")
    text = str(t)
    assert text.startswith("mine (producer) -> theirs (consumer)\n")
    joined = " ".join(text.split())
    for item in told["steps"]:
        assert f"{item['number']} {item['who']} {item['thread']}".strip() in joined
        assert item["text"] in joined
    for line in told["unseen"]:
        assert line in joined
    assert repr(t) == "<trace of mine to theirs: 6 steps>"
