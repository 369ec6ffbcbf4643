"""Producers of earlier versions of the standard, which say so with a TypeError.

The standard recommends `try: x.__dlpack__(max_version=...)` and, after a TypeError, the
same call without it (array API 2025.12, array.__dlpack__, max_version). It promises
nothing about the words of that TypeError.
"""

import gc
import sys
import warnings
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import refarray as xp
from refarray.dlpack import Tensor, inspect
from refarray.testing.forge import CPU
from refarray.testing.forge import Tensor as Forged
from refarray.testing.producers import Producer, Returning

SIX = Forged.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))

# What some languages and binding generators say of a keyword that they do not know.
WORDS = {
    "Python": "__dlpack__() got an unexpected keyword argument 'max_version'",
    "pybind11": "__dlpack__(): incompatible function arguments.",
    "Boost.Python": "Python argument types in\n    Image.__dlpack__(Image)\n"
    "did not match C++ signature:\n    __dlpack__(Image {lvalue})",
    "SWIG": "Wrong number or type of arguments for overloaded function '__dlpack__'.",
    "own words": "max_version is not supported here",
    "nothing": "",
}


class Earlier(Producer):
    """A producer that knows some keywords, and refuses the others in its own words."""

    def __init__(self, words, knows=("stream",)):
        super().__init__(SIX)
        self.words, self.knows = words, knows
        self.questions = []

    def __dlpack__(self, **keywords):
        self.questions.append(set(keywords))
        if not keywords.keys() <= set(self.knows):
            raise TypeError(self.words)
        return super().__dlpack__(**keywords)


def take(function, x):
    """Return the elements that a consumer sees, and let the memory go."""
    return memoryview(xp.from_dlpack(function(x))).tolist()


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack])
def test_any_type_error_counts_as_an_unknown_keyword(function, words):
    for _ in range(2):  # the second time, the question begins in C
        x = Earlier(words)
        assert take(function, x) == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        assert x.questions == [{"max_version"}, set()]
        assert x.deleter_calls == [1]


def test_the_stream_stays():
    # Without it, the memory could be used before the work on it is done.
    x = Earlier("max_version is not supported here")
    assert Tensor.from_dlpack(x, stream=-1).shape == (2, 3)
    assert x.questions == [{"max_version", "stream"}, {"stream"}]


def test_an_inspection_asks_again_too():
    x = Earlier("max_version is not supported here")
    found = inspect(x)
    assert found.tensor.shape == (2, 3)
    assert [broken.rule for broken in found.broken if broken.rule == 4] == [4]


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize(
    "keywords", [{"copy": False}, {"copy": True}, {"device": xp.Device("cpu")}]
)
def test_newer_keywords_go_first(words, keywords):
    # 2023.12 brought max_version, dl_device and copy together, but libraries took them
    # on one by one: max_version stays when only the others are unknown.
    x = Earlier(words, ("stream", "max_version"))
    assert memoryview(xp.from_dlpack(x, **keywords)).tolist()[1] == [4.0, 5.0, 6.0]
    asked = {"max_version", *keywords} - {"device"}
    assert x.questions in ([asked, {"max_version"}], [{"max_version"}])

    x = Earlier(words)
    assert memoryview(xp.from_dlpack(x, **keywords)).tolist()[1] == [4.0, 5.0, 6.0]
    assert x.questions[-1] == set()


class Counting:
    """A producer that refuses each question in other words."""

    def __init__(self, kind=TypeError):
        self.kind, self.asked = kind, 0

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, **keywords):
        self.asked += 1
        raise (self.kind if self.asked > 1 else TypeError)(f"answer {self.asked}")


@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack, inspect])
def test_the_first_error_arrives_if_no_question_helps(function):
    for _ in range(3):
        x = Counting()
        with pytest.raises(TypeError, match="answer 1"):
            function(x)
        assert x.asked == 2


@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack])
@pytest.mark.parametrize("kind", [BufferError, KeyboardInterrupt])
def test_another_exception_is_the_answer_to_the_second_question(function, kind):
    with pytest.raises(kind, match="answer 2"):
        function(Counting(kind))


@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack])
def test_an_answer_that_refarray_refuses_is_no_reason_to_ask_again(function):
    class Wrong(Returning):
        asked = 0

        def __dlpack__(self, **keywords):
            self.asked += 1
            return self.thing

    for _ in range(2):
        x = Wrong("no capsule")
        with pytest.raises(TypeError, match="returns a DLPack capsule, not"):
            function(x)
        assert x.asked == 1


@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack, inspect])
@pytest.mark.parametrize("make", [lambda: Earlier(""), Counting], ids=["ok", "error"])
def test_no_traceback_keeps_the_producer(function, make):
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            x = make()
            seen = weakref.ref(x)
            try:
                function(x)
            except TypeError:
                assert type(x) is Counting
            del x
            assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "module",
    [
        None,
        SimpleNamespace(),
        SimpleNamespace(version=SimpleNamespace()),
        SimpleNamespace(Tensor=None),  # the stub, set below
        SimpleNamespace(Tensor=None, version=SimpleNamespace()),
    ],
)
def test_a_class_that_calls_itself_a_tensor_of_torch(monkeypatch, module):
    if module is None:
        monkeypatch.delitem(sys.modules, "torch", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "torch", module)

    class Stub:
        __dlpack_c_exchange_api__ = xp.Array.__dlpack_c_exchange_api__

        def __init__(self):
            self.memory = np.arange(3.0)
            self.__dlpack__ = self.memory.__dlpack__

        def __dlpack_device__(self):
            return CPU

    Stub.__module__, Stub.__qualname__ = "torch", "Tensor"
    if isinstance(module, SimpleNamespace) and hasattr(module, "Tensor"):
        module.Tensor = Stub
    for _ in range(2):
        assert memoryview(xp.from_dlpack(Stub())).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("function", [xp.from_dlpack, Tensor.from_dlpack, inspect])
def test_a_warning_of_the_retry_does_not_hide_the_first_error(function):
    # pyarrow refuses its dates with a TypeError, and warns of legacy capsules.
    class Refusing:
        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, *, max_version=None, **question):
            if max_version is None:
                warnings.warn("old form", DeprecationWarning, stacklevel=2)
            raise TypeError("dates have no DLPack dtype")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(TypeError, match="dates have no"):
                function(Refusing())
