"""The libraries that arrays are exchanged with on a GPU, each by the same few words.

A library that is missing, or has no GPU, raises `NotHere` with the reason when it is
asked for. On the fake driver and the simulation none is asked: they would take its
pointers for those of a GPU.

Next: `checks_driver.py`.
"""

from __future__ import annotations

import importlib.util
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from record import NotHere, Record


class Cupy:
    """CuPy."""

    name = "cupy"

    def __init__(self) -> None:
        import cupy

        if not cupy.cuda.is_available():
            raise NotHere("CuPy finds no GPU")
        self.module = cupy

    def array(self, values: np.ndarray[Any, Any]) -> Any:
        """Return the values on the GPU."""
        return self.module.asarray(values)

    def pointer(self, x: Any) -> int:
        """Return the address of the first element."""
        address: int = x.data.ptr
        return address

    def take(self, x: Any) -> Any:
        """Import by DLPack."""
        return self.module.from_dlpack(x)

    def host(self, x: Any) -> np.ndarray[Any, Any]:
        """Return the values on the host, by the current stream."""
        return np.asarray(self.module.asnumpy(x))

    def fill(self, x: Any, value: float) -> None:
        """Overwrite all elements, as work on the current stream."""
        x.fill(value)

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        """Make a stream of refarray's the library's current one."""
        return self.module.cuda.Stream.from_external(stream)  # type: ignore[no-any-return]

    def device(self) -> int:
        """Return the number of the current device."""
        number: int = self.module.cuda.Device().id
        return number


class Torch:
    """PyTorch."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        if not torch.cuda.is_available():
            raise NotHere("torch finds no GPU")
        self.module = torch

    def array(self, values: np.ndarray[Any, Any]) -> Any:
        return self.module.from_numpy(np.array(values)).to("cuda")

    def pointer(self, x: Any) -> int:
        address: int = x.data_ptr()
        return address

    def take(self, x: Any) -> Any:
        return self.module.from_dlpack(x)

    def host(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x.cpu().numpy())

    def fill(self, x: Any, value: float) -> None:
        x.fill_(value)

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        external = self.module.cuda.ExternalStream(stream.handle)
        return self.module.cuda.stream(external)  # type: ignore[no-any-return]

    def device(self) -> int:
        number: int = self.module.cuda.current_device()
        return number


class Jax:
    """JAX, whose streams are its own affair: it has no `on`, and no `fill`."""

    name = "jax"

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "gpu":
            raise NotHere("JAX finds no GPU")
        self.module = jax

    def array(self, values: np.ndarray[Any, Any]) -> Any:
        return self.module.block_until_ready(self.module.numpy.asarray(values))

    def pointer(self, x: Any) -> int:
        address: int = x.unsafe_buffer_pointer()
        return address

    def take(self, x: Any) -> Any:
        return self.module.dlpack.from_dlpack(x)

    def host(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)


KINDS: dict[str, Any] = {"cupy": Cupy, "torch": Torch, "jax": Jax}


def library(record: Record, name: str) -> Any:
    """Return a library by its name, ready for use; `NotHere` if it cannot be used."""
    record.only("driver")
    if importlib.util.find_spec(name) is None:
        raise NotHere(f"{name} is not installed")
    return KINDS[name]()
