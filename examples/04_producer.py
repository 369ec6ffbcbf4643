"""A minimal producer: numbers in our memory, which any library can use in place.

Written against the specification alone, without refarray: this class, and 04_producer.c
for what must be C. `python -m refarray check` has no objections. Next: 05_consumer.py.
"""

import shlex
import subprocess
import sysconfig
import tempfile
from array import array
from ctypes import PyDLL, c_int, c_int64, c_uint64, c_void_p, py_object
from pathlib import Path

import numpy as np

CPU, IS_COPIED = (1, 0), 2


def compiled(source):
    """Compile C and return its function, which is called with the GIL."""
    command = shlex.split(sysconfig.get_config_var("LDSHARED"))
    command += ["-fPIC", f"-I{sysconfig.get_path('include')}", source, "-o"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, f"{folder}/producer.so"], check=True)
        function = PyDLL(f"{folder}/producer.so").make_capsule
    function.argtypes = [py_object, c_void_p, c_int, c_void_p, c_uint64]
    function.restype = py_object
    return function


class Numbers:
    """Numbers in row-major order."""

    make_capsule = staticmethod(compiled(Path(__file__).with_suffix(".c")))

    def __init__(self, values, shape):
        self.memory, self.shape = array("d", values), (c_int64 * len(shape))(*shape)

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        for pair in (max_version, dl_device):
            if pair is not None and [type(n) for n in pair] != [int, int]:
                raise TypeError(f"{pair!r} is no pair of integers")
        if stream is not None or dl_device not in (None, CPU):
            raise BufferError("this memory is the CPU's, which has no streams")
        if not max_version or max_version[0] < 1:
            raise BufferError("pass max_version: there is no legacy form of this")
        memory, flags = (self.memory[:], IS_COPIED) if copy else (self.memory, 0)
        data, shape = memory.buffer_info()[0], self.shape
        return self.make_capsule(memory, data, len(shape), shape, flags)


if __name__ == "__main__":
    x = Numbers([1, 2, 3, 4, 5, 6], (2, 3))
    np.from_dlpack(x)[0, 0] = 100
    print("NumPy wrote", x.memory[0])
