"""How often a producer is asked, and what of its exceptions arrives."""

import sys
from types import ModuleType

import numpy as np
import pytest

import refarray as xp


class Producer:
    """Counts its questions, and raises what it is told."""

    def __init__(self, device=None, capsule=None):
        self.errors = {"device": device, "capsule": capsule}
        self.asked = []

    def _answer(self, what, answer):
        self.asked.append(what)
        if self.errors[what] is not None:
            raise self.errors[what]
        return answer

    def __dlpack_device__(self):
        return self._answer("device", (1, 0))

    def __dlpack__(self, **question):
        return self._answer("capsule", np.arange(3.0).__dlpack__(**question))


# The first object of a type is asked from Python, those after it from C.
@pytest.fixture(params=["a new type", "a known type"])
def kind(request):
    made = type("Made", (Producer,), {})
    if request.param == "a known type":
        xp.from_dlpack(made())
    return made


def test_a_producer_is_asked_once(kind):
    x = kind()
    assert xp.from_dlpack(x).shape == (3,)
    assert x.asked == ["device", "capsule"]


@pytest.mark.parametrize(
    "error", [AttributeError, BufferError, RuntimeError, KeyError, KeyboardInterrupt]
)
@pytest.mark.parametrize("what", ["device", "capsule"])
def test_what_a_producer_raises_arrives_and_it_is_not_asked_again(kind, error, what):
    # An AttributeError from within a producer is not a missing method.
    raised = error("from the producer")
    x = kind(**{what: raised})
    with pytest.raises(error) as arrived:
        xp.from_dlpack(x)
    assert arrived.value is raised
    assert x.asked == ["device", "capsule"][: 1 + (what == "capsule")]


def test_a_method_that_is_taken_away_is_missed(kind):
    # The type is known, and one object of it has no method any more.
    class Without(kind):
        def __getattribute__(self, name):
            if name == "__dlpack__":
                raise AttributeError("not here")
            return super().__getattribute__(name)

    for _ in range(2):
        with pytest.raises(AttributeError, match="Without lacks them"):
            xp.from_dlpack(Without())


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, TypeError])
def test_what_the_hash_of_a_type_raises(error, unguarded):
    class Meta(type):
        raised = None

        def __hash__(cls):
            if Meta.raised is not None:
                raise Meta.raised
            return type.__hash__(cls)

    class Hashed(Producer, metaclass=Meta):
        pass

    Meta.raised = error("from the metaclass")
    if error is TypeError:
        assert xp.from_dlpack(Hashed()).shape == (3,)  # a type without a hash
    else:
        with pytest.raises(error, match="from the metaclass"):
            xp.from_dlpack(Hashed())


def test_no_module_is_loaded_by_a_question(monkeypatch, unguarded):
    # A module that is loaded when an attribute is asked for, as by importlib's recipe.
    class Lazy(ModuleType):
        def __getattr__(self, name):
            raise ImportError("the module cannot be loaded")

    for name in ("torch", "paddle"):
        monkeypatch.setitem(sys.modules, name, Lazy(name))
    for base in (Producer, np.ndarray):
        x = type("Made", (base,), {})
        assert xp.from_dlpack(x() if base is Producer else x(3)).shape == (3,)
