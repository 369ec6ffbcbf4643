"""Another library on the same driver: it has memory and a stream, and speaks DLPack.

It calls the driver through refarray's binding, and knows nothing of its arrays.
"""

from __future__ import annotations

from typing import Any

from through_binding import allocate

from refarray import cuda
from refarray._memory import cuda_memory as memory
from refarray._memory.cuda_streams import LEGACY, order
from refarray.dlpack import Tensor

DEVICE = (2, 0)


class Peer:
    """A producer of `n` doubles, each byte of them 1, written on a stream of its own.

    `asked` are the arguments of each `__dlpack__`, `deleted` counts the deleters that
    ran.
    """

    def __init__(self, n: int = 8, device: tuple[int, int] = DEVICE) -> None:
        self.ordinal = device[1]
        self.n = n
        self.device = device
        self.stream = cuda.Stream()
        self.pointer = allocate(0, 8 * n)
        memory.fill(0, self.pointer, 1, 8 * n, self.stream.handle)
        self.asked: list[dict[str, Any]] = []
        self.deleted = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **asked: Any) -> Any:
        self.asked.append(asked)
        stream = asked.get("stream")
        if stream != -1:
            order(0, self.stream.handle, LEGACY if stream is None else stream)
        tensor = Tensor(
            self.pointer, self.n, "float64", device=self.device, owner=Loan(self)
        )
        return tensor.__dlpack__(max_version=asked.get("max_version"))


class Loan:
    """What a managed tensor owns: it goes with the deleter."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def __del__(self) -> None:
        self.peer.deleted += 1


class Consumer:
    """What the other library makes of a producer: it works on it on its own stream."""

    def __init__(self, x: Any, stream: cuda.Stream | None = None) -> None:
        self.stream = stream or cuda.Stream()
        self.tensor = Tensor.from_dlpack(x, stream=self.stream.handle)
        self.nbytes = 8 * self.tensor.shape[0]

    def read(self) -> memoryview:
        """Copy it to the host, on the consumer's stream."""
        out = bytearray(self.nbytes)
        address = cuda.ffi.from_buffer(out)
        memory.copy_to_host(
            0,
            int(cuda.ffi.cast("uintptr_t", address)),
            self.tensor.pointer,
            self.nbytes,
            self.stream.handle,
        )
        return memoryview(out).cast("d")

    def write(self, byte: int = 2) -> None:
        """Overwrite it."""
        memory.fill(0, self.tensor.pointer, byte, self.nbytes, self.stream.handle)


# What eight bytes of 1, and of 2, are as a double.
ONES = float.fromhex("0x1.1010101010101p-1007")
TWOS = float.fromhex("0x1.2020202020202p-991")
