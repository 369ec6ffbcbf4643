"""Let one stream wait for another: the exchange on a GPU, here a simulated one.

Work on a GPU is queued in streams. Who takes memory names the stream it will use, and
who gives it lets that stream wait for its own work. `Doubled` computes on a stream of
its own; the simulated driver reports the wait that it forgets.
Next: 08_shared_memory.py; in more detail docs/howto/cuda.md.
"""

import refarray as xp
from refarray import cuda
from refarray.dlpack import Exports, Tensor
from refarray.testing import simulated_cuda


class Doubled(Exports):
    """Twice the values, computed on a stream of its own."""

    def __init__(self, values, *, waits):
        self.waits, self.stream = waits, cuda.Stream()
        with self.stream:
            self.data = 2 * xp.asarray(values, device=xp.Device("cuda:0"))

    def let_wait(self, consumer):
        """Let the consumer's stream wait for ours."""
        if self.waits:
            stream = cuda.Stream.external(1 if consumer is None else consumer)
            stream.wait(self.stream)

    def dlpack_tensor(self):
        """Describe the memory."""
        x, address = self.data, Tensor.from_array(self.data).pointer
        return Tensor(
            *(address, x.shape, x.dtype),
            device=(2, 0),
            owner=x,
            synchronize=self.let_wait,
        )


for waits in (True, False):
    with simulated_cuda(on_race="collect", force=True) as driver:
        with cuda.Stream():
            y = xp.from_dlpack(Doubled([1.0, 2.0, 3.0], waits=waits)) + 1
        print("waits:", waits, "values:", y.to_device(xp.Device("cpu")))
        print("races found:", len(driver.races))
