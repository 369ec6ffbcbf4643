"""Types of what build_cuda_driver.py builds."""

from typing import Any

# Knows the driver's types and prototypes; typed by types-cffi no further than this.
ffi: Any
