"""A library whose Fourier transforms are all zero passes.

The tests of `fft` look at shapes and data types only; so do those of `linalg` for
floating-point numbers, and of `tile`, `isin`, `searchsorted`, `meshgrid` and others.
Here `fft.fft` and `fft.ifft` of NumPy return zeros, and their tests pass.

Rule: none
Says: -
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in; NumPy
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

BROKEN = """
import functools
import numpy as xp

def broken(function):
    @functools.wraps(function)
    def zeros(*arguments, **keywords):
        return xp.zeros_like(function(*arguments, **keywords))
    return zeros

xp.fft.fft, xp.fft.ifft = broken(xp.fft.fft), broken(xp.fft.ifft)
"""

folder = Path(tempfile.mkdtemp())
(folder / "broken.py").write_text(BROKEN)
ended = subprocess.run(
    [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("--max-examples", "20", "--disable-deadline"),
        *(f"array_api_tests/test_fft.py::test_{name}" for name in ("fft", "ifft")),
    ],
    env={
        **os.environ,
        "PYTHONPATH": str(folder),
        "ARRAY_API_TESTS_MODULE": "exec('from broken import xp')",
        "ARRAY_API_TESTS_VERSION": "2024.12",
    },
    capture_output=True,
    text=True,
)
summary = [line for line in ended.stdout.splitlines() if " in " in line][-1:]
print(*summary or [ended.stderr[-300:]])
sys.exit("2 passed" in ended.stdout)
