"""Each state of a machine, as a program with arrays meets it, and what it is told.

`test_driver.py` has the same states below the arrays. The fake of fake/ is the driver,
in child processes; no CuPy and no GPU is needed.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from test_driver import output

pytestmark = pytest.mark.needs("fake CUDA driver")

# What the children begin with: CuPy is not there, `said` is what an action raises, and
# what they put into `found` is what the test looks at.
BEGIN = """
import json, sys
sys.modules["cupy"] = None
import numpy as np
import refarray as xp
from refarray import cuda

def said(action, *arguments, **named):
    try:
        action(*arguments, **named)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None

found = {}
"""


def find(code: str, library: Path, **environment: str) -> dict[str, Any]:
    """What `code` has put into `found`, in a child process with that driver."""
    text = output(f"{BEGIN}{code}\nprint(json.dumps(found))", library, **environment)
    answers: dict[str, Any] = json.loads(text)
    return answers


# ---- No device -----------------------------------------------------------------------

NO_DRIVER = "no CUDA driver (libcuda-of-nobody.so.1 not found)"
HIDDEN = "CUDA driver found, but no device (CUDA_VISIBLE_DEVICES is '')"
NO_DEVICE = "CUDA driver found, but no device (CUDA_VISIBLE_DEVICES is not set)"
STUB = (
    "libcuda.so.1 is the stub that the CUDA toolkit has for linking, not a driver: "
    "remove its folder (.../stubs) from LD_LIBRARY_PATH"
)
TOO_OLD = (
    "the CUDA driver is too old: it runs CUDA 11.8 at most, and refarray needs 12.0 or "
    "newer"
)
BROKEN = "cuInit: an error unknown to the driver (999): no description"

ASK = """
class Theirs:
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, **asked):
        raise AssertionError("a capsule was asked for")

x = xp.asarray([1.0, 2.0])
found["why"] = cuda.why_not()
for name in "cuda:0", "cuda_managed:0", "cuda_host:0":
    found[name] = said(xp.Device, name)
found["a stream"] = said(cuda.Stream)
found["an import"] = said(xp.from_dlpack, Theirs())
found["an export"] = said(x.__dlpack__, dl_device=(2, 0), max_version=(1, 3))
found["devices"] = [str(each) for each in xp.__array_namespace_info__().devices()]
found["the cpu"] = np.from_dlpack(x + 1).tolist()
"""

ELSEWHERE = """
from refarray._memory import cuda_driver
cuda_driver.LIBRARY = "libcuda-of-nobody.so.1"
"""


@pytest.mark.parametrize(
    ("reason", "environment"),
    [
        (NO_DRIVER, {}),
        (NO_DEVICE, {"FAKECUDA_DEVICES": "0"}),
        (HIDDEN, {"FAKECUDA_INIT": "100", "CUDA_VISIBLE_DEVICES": ""}),
        (STUB, {"FAKECUDA_INIT": "34"}),
        (TOO_OLD, {"FAKECUDA_VERSION": "11080"}),
        (BROKEN, {"FAKECUDA_INIT": "999"}),
    ],
    ids=["no driver", "no device", "hidden", "stub", "too old", "broken"],
)
def test_without_a_device(
    fake_library: Path, reason: str, environment: dict[str, str]
) -> None:
    begin = ELSEWHERE if reason is NO_DRIVER else ""
    found = find(begin + ASK, fake_library, **environment)
    assert found["why"] == reason
    for name in ("cuda:0", "cuda_managed:0", "cuda_host:0"):
        said = f"no device is named {name!r}: {reason}"
        assert found[name] == ["ValueError", said]
    assert found["a stream"] == ["CudaError", reason]
    said = "the producer announces DLPack device (2, 0): no device is named 'cuda:0': "
    assert found["an import"] == ["BufferError", said + reason]
    assert found["an export"][0] == "BufferError"
    assert found["devices"] == ["cpu"]
    assert found["the cpu"] == [2.0, 3.0]


def test_the_reference_says_the_same() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cuda.md").read_text()
    no_driver = NO_DRIVER.replace("libcuda-of-nobody.so.1", "libcuda.so.1")
    for reason in (no_driver, NO_DEVICE, STUB, TOO_OLD):
        assert f"{reason} |" in page


# ---- A device, and no CuPy -----------------------------------------------------------

WORKS = """
cpu, device = xp.Device("cpu"), xp.Device("cuda:0")
x = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)

def host(y):
    return np.from_dlpack(y.to_device(cpu)).tolist()

with cuda.Stream() as stream:
    found["on a stream"] = host(xp.asarray(x, copy=True))
found["devices"] = [str(each) for each in xp.__array_namespace_info__().devices()]
found["zeros"] = host(xp.zeros(2, device=device))
found["view"] = host(xp.reshape(x, (3, 2))[::-1, 1])
found["element"] = float(x[1, 2])
found["text"] = repr(x[0, :])
found["another device"] = host(x.to_device(xp.Device("cuda:1")))
found["managed"] = host(x.to_device(xp.Device("cuda_managed:0")))
found["pinned"] = np.from_dlpack(x.to_device(xp.Device("cuda_host:0"))).tolist()
found["to numpy"] = np.from_dlpack(x, device="cpu").tolist()
found["import"] = host(xp.from_dlpack(x))
found["interface"] = x.__cuda_array_interface__["version"]
found["capsule"] = type(x.__dlpack__(stream=stream.handle)).__name__
"""


def test_without_cupy_memory_copies_and_exchange_work(fake_library: Path) -> None:
    values = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert find(WORKS, fake_library) == {
        "on a stream": values,
        "devices": ["cpu", "cuda:0", "cuda:1"],
        "zeros": [0.0, 0.0],
        "view": [6.0, 4.0, 2.0],
        "element": 6.0,
        "text": "Array([1., 2., 3.], dtype=refarray.float64, device=Device('cuda:0'))",
        "another device": values,
        "managed": values,
        "pinned": values,
        "to numpy": values,
        "import": values,
        "interface": 3,
        "capsule": "PyCapsule",
    }


COMPUTES = """
device = xp.Device("cuda:0")
x = xp.asarray([1.0, 2.0], device=device)
found["an operator"] = said(lambda: x + 1)
found["a function"] = said(xp.sin, x)
found["a reduction"] = said(xp.sum, x)
found["in place"] = said(x.__iadd__, x)
found["assignment"] = said(x.__setitem__, 0, 1.0)
found["linalg"] = said(xp.linalg.vector_norm, x)
found["fft"] = said(xp.fft.rfft, x)
found["another dtype"] = said(xp.astype, x, xp.float32)
found["ones"] = said(xp.ones, 3, device=device)
found["unharmed"] = np.from_dlpack(x, device="cpu").tolist()
"""


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("12000", "'refarray[cuda12]' (the driver runs CUDA 12.0)"),
        ("12090", "'refarray[cuda12]' (the driver runs CUDA 12.9)"),
        ("13000", "'refarray[cuda13]' (the driver runs CUDA 13.0)"),
        # The newest CuPy, which later drivers run too.
        ("14010", "'refarray[cuda13]' (the driver runs CUDA 14.1)"),
    ],
)
def test_without_cupy_arithmetic_names_the_extra(
    fake_library: Path, version: str, words: str
) -> None:
    found = find(COMPUTES, fake_library, FAKECUDA_VERSION=version)
    assert found.pop("unharmed") == [1.0, 2.0]
    for what, (error, said) in found.items():
        assert error == "ImportError", what
        begin = f"refarray computes on CUDA devices with CuPy: pip install {words}. "
        assert said.startswith(begin), what
        assert "Memory, copies and exchange work without" in said


# ---- A CuPy that does not compute ----------------------------------------------------

# As CuPy is where it was built for a CUDA that is newer than the driver's.
UNUSABLE = """
from types import ModuleType, SimpleNamespace

class CUDARuntimeError(RuntimeError):
    pass

def refuse(*arguments):
    raise CUDARuntimeError("cudaErrorInsufficientDriver: driver insufficient")

cupy = sys.modules["cupy"] = ModuleType("cupy")
cupy.__version__ = "14.2.0"
cupy.arange = cupy.empty = cupy.ndarray = refuse
runtime = SimpleNamespace(runtimeGetVersion=lambda: 13000)
cupy.cuda = SimpleNamespace(
    runtime=runtime, Device=refuse, Stream=refuse, get_current_stream=refuse
)
"""

BOTH = """
x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"))
for what in "first", "again":
    found[what] = said(lambda: x + 1)
    with cuda.Stream() as stream:
        copied = xp.asarray(x, copy=True)
    found[f"unharmed, {what}"] = np.from_dlpack(copied, device="cpu").tolist()
"""


def test_a_cupy_for_another_cuda(fake_library: Path) -> None:
    found = find(UNUSABLE + BOTH, fake_library, FAKECUDA_VERSION="12040")
    for what in ("first", "again"):
        assert found[f"unharmed, {what}"] == [1.0, 2.0]
        error, said = found[what]
        assert error == "ImportError"
        assert said == (
            "CuPy 14.2.0 for CUDA 13.0 does not compute here (the driver runs CUDA "
            "12.4; pip install 'refarray[cuda12]'). Memory, copies and exchange work "
            "without: CUDARuntimeError: cudaErrorInsufficientDriver: driver "
            "insufficient"
        )


@pytest.mark.skipif(
    importlib.util.find_spec("cupy") is None, reason="no CuPy: pip install cupy-cuda13x"
)
def test_a_cupy_that_does_not_know_the_driver(fake_library: Path) -> None:
    # It asks the fake for what only NVIDIA's driver has.
    found = find(f"del sys.modules['cupy']\n{BOTH}", fake_library)
    for what in ("first", "again"):
        assert found[f"unharmed, {what}"] == [1.0, 2.0]
        error, said = found[what]
        assert error == "ImportError"
        assert said.startswith("CuPy ") and "CUDARuntimeError" in said


# ---- Profiles ------------------------------------------------------------------------

PROFILES = """
from refarray import profiles

with profiles.use("gpu"):
    found["hidden"] = said(xp.Device, "cuda:0")
for name in "cuda:0", "cuda_managed:0", "cuda_host:0":
    device = xp.Device(name)
    found[name] = str(xp.zeros(1, device=device).device)
with profiles.use(devices=["cuda:0", "cpu"]):
    found["default"] = str(xp.zeros(1).device)
    found["no pinned memory"] = said(xp.zeros, 1, device=device)
found["no pretence"] = said(xp.Device, "gpu")
"""


def test_a_profile_that_was_in_force_hides_no_device_afterwards(
    fake_library: Path,
) -> None:
    found = find(PROFILES, fake_library)
    assert found.pop("hidden")[0] == "ValueError"
    assert found.pop("no pinned memory")[0] == "ValueError"
    assert found.pop("no pretence")[0] == "ValueError"
    assert found.pop("default") == "cuda:0"
    assert found == {name: name for name in found} and len(found) == 3
