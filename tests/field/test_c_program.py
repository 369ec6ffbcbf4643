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
import tempfile
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, in_child, numbers, ours, reads, watch
from exchange import Exchange, settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable
from refarray.testing.forge import DTYPES as TRIPLES
from refarray.testing.forge import Tensor as Forged
from refarray.testing.producers import Producer

HERE = Path(__file__).with_name("c_program")
REFARRAY = Path(__file__).parents[2] / "_cffi_build"
PARTS = [HERE / "producer.c", HERE / "library.c"]
SOURCES = [*PARTS, REFARRAY / "memory.c", REFARRAY / "tensor.c"]
COMPILER = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

TYPES = {name: triple for name, (triple, _) in TRIPLES.items()}
TYPES |= {"float16": (2, 16, 1), "bfloat16": (4, 16, 1)}

LIBRARY = "A C program"

NAME = b"dltensor_versioned"  # DLPack wants a name that is never freed
USED = b"used_dltensor_versioned"


def build(output, *arguments):
    strict = ("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    places = ("-I", REFARRAY, "-I", HERE)
    command = [*COMPILER, *strict, *places, *arguments, *SOURCES, "-o", output]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


# A program without Python ------------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("options", [[], SANITIZERS], ids=["plain", "sanitizers"])
def test_a_program_without_python(tmp_path, options):
    """Both link into a program without Python: 15 types, 10 layouts, 8 refusals."""
    if options and not has(tmp_path, options):
        pytest.skip("the C compiler has no sanitizers")
    program = tmp_path / "program"
    build(program, *options, HERE / "program.c")
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


# The same two, loaded into Python ----------------------------------------------------


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


POINTER, INTEGER = ctypes.c_void_p, ctypes.c_int64

#: Function -> type of the result, types of the arguments.
FUNCTIONS = {
    "produce": (POINTER, [POINTER, POINTER, ctypes.c_uint64, POINTER]),
    "take": (POINTER, [POINTER, ctypes.POINTER(ctypes.c_char_p)]),
    "give": (POINTER, [POINTER]),
    "drop": (None, [POINTER]),
    "drop_at_exit": (None, [POINTER]),
    "axes": (ctypes.c_int32, [POINTER]),
    "extent": (INTEGER, [POINTER, ctypes.c_int32]),
    "size": (INTEGER, [POINTER]),
    "dtype_of": (DataType, [POINTER]),
    "first_element": (POINTER, [POINTER]),
    "get": (Number, [POINTER, INTEGER]),
    "set": (ctypes.c_int, [POINTER, INTEGER, ctypes.c_double]),
}

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [POINTER, ctypes.c_char_p, POINTER]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = POINTER
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]


@cache
def library():
    """Return the C library; ctypes lets go of the GIL in each of its functions."""
    with tempfile.TemporaryDirectory() as folder:  # once loaded, the file may go
        path = Path(folder, "library.so")
        build(path, "-shared", "-fPIC")
        loaded = ctypes.CDLL(str(path))
    for name, (result, arguments) in FUNCTIONS.items():
        getattr(loaded, name).restype = result
        getattr(loaded, name).argtypes = arguments
    return loaded


class Array:
    """An array of the C library."""

    def __init__(self, managed):
        """Take a tensor over, by its address."""
        wrong = ctypes.c_char_p()
        self.handle = library().take(managed, ctypes.byref(wrong))
        if self.handle is None:
            raise BufferError(wrong.value.decode())

    def __del__(self):
        if self.handle is not None:
            library().drop(self.handle)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **question):
        # Without a destructor: one in Python would run with an exception pending, and
        # fail. So a capsule that nobody takes is lost.
        return new_capsule(library().give(self.handle), NAME, None)


def take(x):
    """Hand a tensor of `x` to C."""
    capsule = x.__dlpack__(max_version=(1, 3))
    managed = get_pointer(capsule, NAME)
    set_name(capsule, USED)
    return Array(managed)


def produce(name="float64", layout="compact", flags=0, calls=None):
    """Return the address of a tensor that C made; `calls` counts its deleter's."""
    base = numbers()
    view = np.asarray(LAYOUTS[layout](base))
    seen = Layout(
        view.ndim,
        (INTEGER * 4)(*view.shape),
        (INTEGER * 4)(*(stride // base.itemsize for stride in view.strides)),
        (view.ctypes.data - base.ctypes.data) // base.itemsize if view.size else 0,
    )
    told = (DataType(*TYPES[name]), seen, UNHEARD if calls is None else calls)
    dtype, seen, calls = map(ctypes.byref, told)
    return library().produce(dtype, seen, flags, calls)


UNHEARD = ctypes.c_int()


class C(Adapter):
    name = LIBRARY
    version = "C11"
    from_dlpack = staticmethod(take)

    def read(self, array):
        found = [library().get(array.handle, n) for n in range(self.size(array))]
        if library().dtype_of(array.handle).code == 5:
            return [complex(it.real, it.imaginary) for it in found]
        return [it.real for it in found]

    def size(self, array):
        return library().size(array.handle)

    def shape(self, array):
        axes = range(library().axes(array.handle))
        return tuple(library().extent(array.handle, axis) for axis in axes)

    def write(self, array, value):
        for n in range(self.size(array)):
            if library().set(array.handle, n, value):
                raise NotApplicable("it is read-only")

    def read_only(self, array):
        return Array(produce(flags=1))

    def is_read_only(self, array):
        return library().set(array.handle, 0, self.read(array)[0]) == -1


class TestExchange(Exchange):
    adapter = C()
    takes = DTYPES
    read_only = "kept"
    takes_copy = False
    asks = {"max_version": (1, 3)}
    asks_device = False
    gives_version = (1, 3)
    given_read_only = "kept"

    # Its capsules have no destructor: see `Array.__dlpack__`.
    test_a_capsule_that_nobody_takes_is_freed = None

    def theirs(self, name):
        return Array(produce(name))

    def layout(self, array, name):
        return Array(produce(layout=name))

    def pointer(self, array):
        return library().first_element(array.handle)

    def type_of(self, array):
        it = library().dtype_of(array.handle)
        names = {triple: name for name, triple in TYPES.items()}
        return names[it.code, it.bits, it.lanes]


@pytest.mark.works
def test_bfloat16_passes_through(balance):
    """Numbers of the type bfloat16 go from C to refarray and back to C."""
    with balance:
        x = xp.from_dlpack(Array(produce("bfloat16")))
        assert str(x.dtype) == "bfloat16"
        assert reads(xp.astype(x, xp.float32)).tolist() == numbers().tolist()
        assert C().read(take(x)) == numbers().ravel().tolist()
        del x


@pytest.mark.works
def test_a_chain_of_owners(balance):
    """C, refarray, C, refarray: one memory, and C's deleter runs after the last."""
    with balance:
        calls = ctypes.c_int()
        x = from_capsule(new_capsule(produce(calls=calls), NAME, None))
        array = take(x)
        start = library().first_element(array.handle)
        del x
        y = xp.from_dlpack(array)
        del array
        settle()
        assert calls.value == 0
        assert memoryview(y).obj is y
        assert np.asarray(memoryview(y)).ctypes.data == start
        assert reads(y).tolist() == numbers().tolist()
        del y
        settle()
        assert calls.value == 1


@pytest.mark.works
def test_c_lets_go_on_a_thread_of_its_own(balance):
    """C may call our deleter on any thread, without the GIL."""
    with balance:
        capsule = ours().__dlpack__(max_version=(1, 3))
        calls = watch(capsule)
        wrong = ctypes.c_char_p()
        handle = library().take(get_pointer(capsule, NAME), ctypes.byref(wrong))
        set_name(capsule, USED)
        assert calls() == 0
        thread = threading.Thread(target=library().drop, args=(handle,))
        thread.start()
        thread.join()
        assert calls() == 1
        del capsule


@pytest.mark.works
def test_c_lets_go_after_python_has_ended():
    """C may call our deleter after Python has ended."""
    ended = in_child(
        f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\n"
        "from test_c_program import library, ours, take\n"
        "array = take(ours())\n"
        "library().drop_at_exit(array.handle)\n"
        "array.handle = None\n"
        "print('the last line', flush=True)\n"
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "the last line\ndropped\n"


@pytest.mark.refuses
def test_what_c_does_not_know(balance):
    """The consumer in C refuses memory of a device, and gives it back."""
    with balance:
        elsewhere = Producer(Forged.of([1.0, 2.0], (2,)).but(device=(14, 0)))
        with pytest.raises(BufferError, match="not the host's"):
            take(elsewhere)
        assert elsewhere.deleter_calls == [1]
