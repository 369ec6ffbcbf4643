"""A producer and a consumer of DLPack in C: without Python, then loaded into it.

The consumer in c_program/ is made of those files of refarray that need no Python
(memory.c and tensor.c); the producer shares only the declaration of the structs.

Install:
In CI: yes
"""

import ctypes
import os
import subprocess
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest
from arrays import (
    DTYPES,
    LAYOUTS,
    address,
    in_child,
    numbers,
    ours,
    read_only,
    reads,
    watch,
)
from exchange import settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.forge import DTYPES as TRIPLES
from refarray.testing.forge import Tensor as Forged
from refarray.testing.producers import Producer

HERE = Path(__file__).with_name("c_program")
REFARRAY = Path(__file__).parents[2] / "_cffi_build"
PARTS = [HERE / "producer.c", HERE / "library.c", REFARRAY / "memory.c"]
SOURCES = [*PARTS, REFARRAY / "tensor.c"]
COMPILER = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

LIBRARY = "A C program"
VERSION = "C11"
DIRECTIONS = "both"

TYPES = {name: triple for name, (triple, _) in TRIPLES.items()}
TYPES |= {"float16": (2, 16, 1), "bfloat16": (4, 16, 1)}

NAME = b"dltensor_versioned"  # DLPack wants a name that is never freed
USED = b"used_dltensor_versioned"


def build(output, *arguments):
    strict = ("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    places = ("-I", REFARRAY, "-I", HERE)
    command = [*COMPILER, *strict, *places, *arguments, *SOURCES, "-o", output]
    return subprocess.run(command, capture_output=True, text=True)


# A program without Python ------------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("options", [[], SANITIZERS], ids=["plain", "sanitizers"])
def test_a_program_without_python(tmp_path, options):
    """Producer and consumer link in one program: 15 types, 10 layouts, 8 refusals."""
    if options and not has(tmp_path, options):
        pytest.skip("the C compiler has no sanitizers")
    program = tmp_path / "program"
    built = build(program, *options, HERE / "program.c")
    assert built.returncode == 0, built.stderr
    ended = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        "15 dtypes in 10 layouts: 3885 numbers read",
        "8 refusals",
        "304 tensors taken over and given back",
    ]


def has(folder, options):
    """Return whether programs can be made with these options, and run."""
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    command = [*COMPILER, *options, folder / "empty.c", "-o", folder / "empty"]
    made = subprocess.run(command, capture_output=True)
    return made.returncode == 0 and subprocess.run([folder / "empty"]).returncode == 0


# The same, loaded into Python --------------------------------------------------------


class DataType(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class Layout(ctypes.Structure):
    _fields_ = [
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 4),
        ("strides", ctypes.c_int64 * 4),
        ("offset", ctypes.c_int64),
    ]


class Number(ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imaginary", ctypes.c_double)]


FUNCTIONS = {
    "produce": ([ctypes.c_void_p] * 2 + [ctypes.c_uint64, ctypes.c_void_p], "p"),
    "take": ([ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)], "p"),
    "give": ([ctypes.c_void_p], "p"),
    "drop": ([ctypes.c_void_p], None),
    "drop_at_exit": ([ctypes.c_void_p], None),
    "axes": ([ctypes.c_void_p], ctypes.c_int32),
    "extent": ([ctypes.c_void_p, ctypes.c_int32], ctypes.c_int64),
    "size": ([ctypes.c_void_p], ctypes.c_int64),
    "first_element": ([ctypes.c_void_p], "p"),
    "get": ([ctypes.c_void_p, ctypes.c_int64], Number),
    "set": ([ctypes.c_void_p, ctypes.c_int64, ctypes.c_double], ctypes.c_int),
}


def loaded(path):
    """Return a library of these functions; ctypes lets go of the GIL in all of them."""
    library = ctypes.CDLL(str(path))
    for name, (arguments, result) in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_void_p if result == "p" else result
    return library


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    output = tmp_path_factory.mktemp("c_program") / "library.so"
    built = build(output, "-shared", "-fPIC")
    assert built.returncode == 0, built.stderr
    return output


@pytest.fixture
def library(path):
    return loaded(path)


def produced(library, calls, name="float64", layout="compact", flags=0):
    """Return a capsule of a tensor that C made; `calls` counts its deleter's."""
    base = numbers()
    view = np.asarray(LAYOUTS[layout](base))
    steps = [stride // base.itemsize for stride in view.strides]
    offset = (view.ctypes.data - base.ctypes.data) // base.itemsize
    seen = Layout(
        view.ndim,
        (ctypes.c_int64 * 4)(*view.shape),
        (ctypes.c_int64 * 4)(*steps),
        offset if view.size else 0,
    )
    dtype = DataType(*TYPES[name])
    managed = library.produce(
        ctypes.byref(dtype), ctypes.byref(seen), flags, ctypes.byref(calls)
    )
    return capsule_of(managed)


def capsule_of(managed):
    """Return a capsule of a tensor, without a destructor: it is to be consumed."""
    new = ctypes.pythonapi.PyCapsule_New
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    new.restype = ctypes.py_object
    return new(managed, NAME, None)


def taken(library, x):
    """Hand a tensor of `x` to C; return the array that C made of it."""
    return take(library, x.__dlpack__(max_version=(1, 3)))


def take(library, capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    rename = ctypes.pythonapi.PyCapsule_SetName
    get.argtypes = rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    get.restype = ctypes.c_void_p
    managed = get(capsule, NAME)
    rename(capsule, USED)
    wrong = ctypes.c_char_p()
    array = library.take(managed, ctypes.byref(wrong))
    if array is None:
        raise BufferError(wrong.value.decode())
    return array


def shape(library, array):
    return tuple(library.extent(array, i) for i in range(library.axes(array)))


def values(library, array, name="float64"):
    """Read all elements in C."""
    found = [library.get(array, n) for n in range(library.size(array))]
    pairs = np.array([complex(it.real, it.imaginary) for it in found], complex)
    return (pairs if "complex" in name else pairs.real).astype(name).tolist()


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_from_c(library, balance, name):
    """A tensor made in C goes into refarray by `from_capsule`, shared: every type."""
    with balance:
        calls = ctypes.c_int()
        x = from_capsule(produced(library, calls, name))
        assert str(x.dtype) == name
        assert reads(x).tolist() == numbers(name).tolist()
        assert not memoryview(x).readonly
        assert calls.value == 0
        del x
        assert calls.value == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_from_c_in_every_layout(library, balance, layout):
    with balance:
        calls = ctypes.c_int()
        x = from_capsule(produced(library, calls, layout=layout))
        expected = np.asarray(LAYOUTS[layout](numbers()))
        assert x.shape == expected.shape
        assert reads(x).tolist() == expected.tolist()
        del x
        assert calls.value == 1


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_into_c(library, balance, name):
    """A tensor of refarray goes into C, which reads every type and frees it once."""
    with balance:
        x = ours(name)
        array = taken(library, x)
        assert library.first_element(array) == address(x)
        assert shape(library, array) == (4, 12)
        del x
        junk = [xp.full((4, 12), 1, dtype=xp.int64) for _ in range(50)]
        assert values(library, array, name) == numbers(name).ravel().tolist()
        library.drop(array)
        del junk


@pytest.mark.parametrize("layout", LAYOUTS)
def test_into_c_in_every_layout(library, balance, layout):
    with balance:
        x = LAYOUTS[layout](ours())
        array = taken(library, x)
        assert shape(library, array) == x.shape
        assert values(library, array) == reads(x).ravel().tolist()
        library.drop(array)
        del x


@pytest.mark.works
def test_bfloat16_passes_through(library, balance):
    """Numbers of the type bfloat16 go from C to refarray and back to C."""
    with balance:
        calls = ctypes.c_int()
        x = from_capsule(produced(library, calls, "bfloat16"))
        assert str(x.dtype) == "bfloat16"
        assert reads(xp.astype(x, xp.float32)).tolist() == numbers().tolist()
        array = taken(library, x)
        del x
        assert values(library, array) == numbers().ravel().tolist()
        library.drop(array)
        assert calls.value == 1


def test_writes_are_seen_on_both_sides(library):
    x = ours()
    array = taken(library, x)
    assert library.set(array, 13, 50.0) == 0
    assert reads(x)[1, 1] == 50.0
    x[2, 2] = 60.0
    assert library.get(array, 26).real == 60.0
    y = from_capsule(capsule_of(library.give(array)))
    library.drop(array)
    y[3, 3] = 70.0
    assert reads(x)[3, 3] == 70.0


@pytest.mark.works
def test_read_only_memory_stays_read_only(library):
    """Read-only memory stays read-only, in C and when it comes back."""
    calls = ctypes.c_int()
    x = from_capsule(produced(library, calls, flags=1))
    assert memoryview(x).readonly
    array = taken(library, x)
    assert library.set(array, 0, 50.0) == -1
    y = from_capsule(capsule_of(library.give(array)))
    assert memoryview(y).readonly
    library.drop(array)
    array = taken(library, read_only())
    assert library.set(array, 0, 50.0) == -1
    library.drop(array)
    del x, y
    assert calls.value == 1


@pytest.mark.works
def test_a_chain_of_owners(library, balance):
    """C, refarray, C, refarray: one memory, and C's deleter runs after the last."""
    with balance:
        calls = ctypes.c_int()
        x = from_capsule(produced(library, calls))
        start = address(x)
        array = taken(library, x)
        del x
        y = from_capsule(capsule_of(library.give(array)))
        library.drop(array)
        settle()
        assert calls.value == 0
        assert address(y) == start
        assert reads(y).tolist() == numbers().tolist()
        del y
        assert calls.value == 1


@pytest.mark.works
def test_c_lets_go_on_a_thread_of_its_own(library, balance):
    """C may call our deleter on any thread, without the GIL."""
    with balance:
        x = ours()
        capsule = x.__dlpack__(max_version=(1, 3))
        calls = watch(capsule)
        array = take(library, capsule)
        del x
        assert calls() == 0
        thread = threading.Thread(target=library.drop, args=(array,))
        thread.start()
        thread.join()
        assert calls() == 1
        del capsule


@pytest.mark.works
def test_c_lets_go_after_python_has_ended(path):
    """C may call our deleter after Python has ended."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_c_program import loaded, ours, taken\n"
        f"library = loaded({str(path)!r})\n"
        "library.drop_at_exit(taken(library, ours()))\n"
        "print('the last line', flush=True)\n"
    )
    ended = in_child(code)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "the last line\ndropped\n"


@pytest.mark.refuses
def test_what_c_does_not_know(library, balance):
    """The consumer in C refuses memory of a device, and gives it back."""
    with balance:
        elsewhere = Producer(Forged.of([1.0, 2.0], (2,)).but(device=(14, 0)))
        with pytest.raises(BufferError, match="not the host's"):
            taken(library, elsewhere)
        assert elsewhere.deleter_calls == [1]
