"""Memory: bytes that arrays stand on, and who gives them back.

Read in this order:

1. `_cffi_build/` at the top of the repository: the C code. Its `build_native.py` lists
   the files in reading order.
2. `native.py`: the one place that loads it.
3. `host.py`: memory of the host, and NumPy views of it.
4. `cuda_driver.py`, `cuda_context.py`, `cuda_handles.py`, `cuda_streams.py`,
   `cuda_memory.py` and `cuda_pool.py`: the CUDA driver, and what it gives. Their C
   declarations are `_cffi_build/cuda_driver.h`.
5. `device_use.py`, `device_release.py`, `device.py`, `device_copies.py`,
   `cupy_kernels.py` and `device_views.py`: memory of CUDA devices, as arrays stand on
   it.

Without an interest in CUDA, go on after the third.

Next folder: `dlpack/`, which hands memory to other libraries and takes theirs.
"""
