"""A script that uses refarray ends as it would without it.

When the interpreter ends, Python finalizes what the script's globals hold: open files
are flushed, and `__del__` runs. A library that keeps a type of the script alive keeps
the globals too, by way of the type's methods, and then nothing of this happens.

Each case runs in a process of its own, as the `__main__` of that process.
"""

import subprocess
import sys

import pytest

# A file that is not flushed, an object with `__del__`, and types whose methods lead to
# these globals. Every object that goes into refarray is of such a type.
BEGINNING = """
import mmap, os, pickle, sys
import numpy as np
import refarray as xp
from refarray import dlpack, profiles

log = open(sys.argv[1], "w")
log.write("the last line of the log\\n")

class Finalized:
    def __init__(self, name):
        self.name = name
    def __del__(self, write=os.write):
        write(1, (self.name + "\\n").encode())

canary = Finalized("canary")

class Owner:
    def __init__(self):
        self.told = Finalized("owner")

class Lender(bytearray):
    def __init__(self, *args):
        super().__init__(*args)
        self.told = Finalized("owner")

class Image:
    def __init__(self):
        self.pixels = np.arange(3.0)
    def __dlpack_device__(self):
        return self.pixels.__dlpack_device__()
    def __dlpack__(self, **question):
        return self.pixels.__dlpack__(**question)

class Old(Image):
    def __dlpack__(self, stream=None):
        return self.pixels.__dlpack__()

class Refusing(Image):
    def __dlpack__(self, **question):
        raise TypeError("no")

class Exporting(dlpack.Exports):
    def __init__(self):
        self.pixels = np.arange(3.0)
        self.told = Finalized("owner")
    def dlpack_tensor(self):
        return dlpack.Tensor(self.pixels.ctypes.data, (3,), "float64", owner=self)

class Integer(int):
    pass

class Index:
    def __index__(self):
        return 1

class Float(float):
    pass

class Text(str):
    pass

class Sub(np.ndarray):
    pass

class Meta(type):
    pass

class OfMeta(Image, metaclass=Meta):
    pass

def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception:
        pass

pixels = np.arange(3.0)
three = xp.arange(3)

def described(owner):
    return dlpack.Tensor(pixels.ctypes.data, (3,), "float64", owner=owner)

def synchronize(stream):
    pass
"""

# Foreign objects that refarray is given and that the script drops again.
DROPPED = {
    "nothing": "pass",
    "numpy.from_dlpack": "np.from_dlpack(Image())",
    "from_dlpack": "xp.from_dlpack(Image())",
    "from_dlpack, metaclass": "xp.from_dlpack(OfMeta())",
    "from_dlpack, copy": "xp.from_dlpack(Image(), copy=True)",
    "from_dlpack, device": "xp.from_dlpack(Image(), device=xp.Device('cpu'))",
    "from_dlpack, old producer": "xp.from_dlpack(Old())",
    "from_dlpack, refused": "refused(xp.from_dlpack, Refusing())",
    "from_dlpack, no producer": "refused(xp.from_dlpack, Owner())",
    "from_dlpack, 300 types": (
        "for n in range(300): xp.from_dlpack(type(f'T{n}', (Image,), {})())"
    ),
    "from_dlpack, profile": (
        "with profiles.use('pedantic'): xp.from_dlpack(Image(), copy=False)"
    ),
    "asarray, buffer": "xp.asarray(Lender(8))",
    "asarray, producer": "xp.asarray(Image())",
    "asarray, copy": "xp.asarray(Lender(8), copy=True)",
    "asarray, scalars": "xp.asarray([Float(1.5), 2.0]), xp.asarray(Integer(3))",
    "asarray, refused": "refused(xp.asarray, Owner()), refused(xp.asarray, [Owner()])",
    "asarray, subclass of ndarray": "xp.asarray(np.zeros(3).view(Sub))",
    "Tensor": "xp.from_dlpack(described(Owner()))",
    "Tensor, synchronize": (
        "dlpack.Tensor(pixels.ctypes.data, (3,), 'float64', owner=pixels,"
        " synchronize=synchronize).__dlpack__()"
    ),
    "Tensor.from_dlpack": "dlpack.Tensor.from_dlpack(Image())",
    "Tensor.from_buffer": "dlpack.Tensor.from_buffer(Lender(8))",
    "Exports": "xp.from_dlpack(Exporting())",
    "Exports, numpy": "np.from_dlpack(Exporting())",
    "from_capsule": "dlpack.from_capsule(Image().__dlpack__())",
    "inspect": "str(dlpack.inspect(Image()))",
    "trace": (
        "with dlpack.trace() as t: xp.from_dlpack(Image())\n    str(t)\n    del t"
    ),
    "shapes": (
        "xp.zeros((Integer(2), Index())), xp.reshape(three, (Integer(3), Index())),"
        " xp.broadcast_to(three, (Integer(2), 3)),"
        " xp.broadcast_shapes((Integer(2), 3), (Index(), 3))"
    ),
    "axes": (
        "xp.sum(three, axis=Integer(0)), xp.flip(three, axis=Integer(0)),"
        " xp.expand_dims(three, axis=Integer(0)),"
        " xp.roll(xp.eye(3), Integer(1), axis=Index()),"
        " xp.permute_dims(three, (Integer(0),)), xp.stack([three], axis=Integer(0)),"
        " xp.moveaxis(xp.zeros((2, 3)), Integer(0), Integer(1)),"
        " xp.squeeze(xp.zeros((1, 3)), axis=Integer(0))"
    ),
    "linalg, axes": (
        "xp.linalg.vector_norm(xp.ones(3), axis=Integer(0), ord=Float(2.0)),"
        " xp.linalg.diagonal(xp.ones((3, 3)), offset=Integer(1)),"
        " xp.tensordot(xp.ones(3), xp.ones(3), axes=Integer(1)),"
        " xp.fft.fft(xp.ones(3) + 0j, n=Integer(3), axis=Integer(0))"
    ),
    "keys": (
        "three[Index()], three[Integer(0):Index()], three[Integer(1)];"
        " three[Index()] = Integer(3)"
    ),
    "scalars": (
        "three + Integer(1), xp.ones(3) * Float(2.0),"
        " xp.where(three > 0, three, Integer(1)), xp.full((2,), Float(1.0)),"
        " xp.clip(three, Integer(0), Integer(1)), xp.arange(Integer(3)),"
        " xp.linspace(Float(0.0), Float(1.0), 3)"
    ),
    "operands": (
        "refused(lambda: three + Owner()), refused(lambda: xp.add(three, Owner())),"
        " three == Owner()"
    ),
    "text": (
        "xp.Device(Text('cpu')), refused(xp.Device, Text('x')),"
        " xp.isdtype(xp.int8, Text('integral')), xp.__array_namespace_info__().dtypes("
        "kind=Text('bool')), xp.namespace(Text('2023.12')),"
        " refused(xp.namespace, Text('x')), xp.meshgrid(three, indexing=Text('ij')),"
        " xp.searchsorted(three, three, side=Text('left'))"
    ),
    "dtypes": "refused(xp.zeros, 3, dtype=Owner), xp.int8 == Owner, xp.int8 == Owner()",
    "profiles": (
        "with profiles.use(Text('gpu')): xp.zeros(Integer(3))\n"
        "    refused(profiles.use, Owner())"
    ),
    "export": (
        "three.__dlpack__(max_version=(Integer(1), Integer(0)),"
        " dl_device=(Integer(1), Integer(0)))"
    ),
    "pickle": "pickle.loads(pickle.dumps(three))",
    "subclass of Array": "type('Mine', (xp.Array,), {'method': lambda self: None})",
    "statistics": "xp.memory.statistics()",
}

# The same objects, while the script's globals still hold what refarray made of them.
KEPT = {
    "Tensor": "x = xp.from_dlpack(described(Owner()))",
    "Tensor, read-only": (
        "x = xp.from_dlpack(dlpack.Tensor(pixels.ctypes.data, (3,), 'float64',"
        " owner=Owner(), read_only=True))"
    ),
    "Tensor itself": "x = described(Owner())",
    "Tensor of a Tensor": "x = dlpack.Tensor.from_dlpack(described(Owner()))",
    "Tensor of a Tensor, imported": (
        "x = xp.from_dlpack(dlpack.Tensor.from_dlpack(described(Owner())))"
    ),
    "asarray": "x = xp.asarray(Lender(8), copy=False)",
    "Tensor.from_buffer": "x = dlpack.Tensor.from_buffer(Lender(8))",
    "Exports": "x = xp.from_dlpack(Exporting())",
    "a view": "x = xp.from_dlpack(Exporting())[1:]",
    "an array and views": (
        "x = xp.from_dlpack(Exporting()); y = x[1:]; z = xp.reshape(y, (2, 1))"
    ),
    "computed with": "x = xp.from_dlpack(Exporting()); y = x[1:]; z = y + y; x += 1.0",
    "imported again": (
        "x = xp.from_dlpack(Exporting()); y = xp.from_dlpack(x); z = xp.asarray(y)"
    ),
    "memoryview": "x = memoryview(xp.from_dlpack(Exporting()))",
    "iterator": "x = iter(xp.from_dlpack(Exporting()))",
    "in a class": "class Kept: x = xp.from_dlpack(Exporting()); y = x[1:]",
    "in a closure": (
        "def function(x=xp.from_dlpack(Exporting())): return x\nfunction() + 1.0"
    ),
    "in a cycle": "o = Owner(); o.x = xp.from_dlpack(described(o)); o.y = o.x[1:]",
    "under a profile": (
        "with profiles.use('pedantic'): x = xp.from_dlpack(Exporting(), copy=False)"
    ),
}

if sys.version_info >= (3, 13):
    # Before, refarray hides memoryviews from the collector, which could crash on them.
    KEPT["asarray of a memoryview"] = (
        "x = xp.asarray(memoryview(Lender(8)), copy=False)"
    )


def end_of(lines, tmp_path):
    """Run a script; return its log file, what was finalized, and its messages."""
    script, log = tmp_path / "script.py", tmp_path / "log.txt"
    script.write_text(BEGINNING + lines)
    ended = subprocess.run(
        [sys.executable, script, log], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return log.read_text(), set(ended.stdout.split()), ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("way", DROPPED)
def test_nothing_that_was_dropped_is_kept(way, tmp_path):
    lines = f"def use():\n    {DROPPED[way]}\nuse()\n"
    log, finalized, messages = end_of(lines, tmp_path)
    assert log == "the last line of the log\n"
    assert "canary" in finalized
    assert messages == ""


@pytest.mark.parametrize("way", KEPT)
def test_an_owner_in_the_globals_is_finalized(way, tmp_path):
    log, finalized, messages = end_of(KEPT[way] + "\n", tmp_path)
    assert log == "the last line of the log\n"
    assert finalized == {"canary", "owner"}
    assert messages == ""


def test_an_array_is_finalized_where_no_owner_is_in_a_cycle(tmp_path):
    # The plain object beside it and the owner of memory end alike, in the last moments
    # of the interpreter, when modules are torn down.
    lines = """
class Alone(bytearray):
    __slots__ = ("told",)
lent = Alone(8)
lent.told = Finalized("owner")
plain = Finalized("plain")
sys.kept = [xp.asarray(lent, copy=False), plain, np.from_dlpack(xp.asarray(lent))]
del lent, plain
"""
    assert end_of(lines, tmp_path)[1] == {"canary", "owner", "plain"}
