"""Share memory between processes: both have an array of refarray over the same pages.

DLPack passes addresses, which mean something in one process only. So the memory comes
from `multiprocessing.shared_memory`, and each process makes a tensor of it for itself.
The tensor keeps the mapping open for as long as an array uses it.
Next: 09_distributed.py, arrays that travel.
"""

from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory

import refarray as xp
from refarray.dlpack import Tensor

SHAPE = (2, 3)


def array_over(memory):
    """Return an array over shared memory."""
    return xp.from_dlpack(Tensor.from_buffer(memory.buf.cast("d", SHAPE)))


def double(name):
    """In the other process: double what is there, in place."""
    memory = SharedMemory(name)
    x = array_over(memory)
    x *= 2.0
    del x
    memory.close()


if __name__ == "__main__":
    memory = SharedMemory(create=True, size=8 * 6)
    x = array_over(memory)
    x[...] = xp.reshape(xp.arange(6.0), SHAPE)
    child = get_context("spawn").Process(target=double, args=(memory.name,))
    child.start()
    child.join()
    print("doubled by the other process:", x[0, :], x[1, :])
    del x  # closing is refused while an array is there
    memory.close()
    memory.unlink()
