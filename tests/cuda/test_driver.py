"""Opening the CUDA driver, or not: each state of a machine, and what is said in it.

The fake of fake/ is the driver, in child processes under the name of the real one.
Nothing here needs a GPU, and none is used.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from targets import fake

from refarray import cuda
from refarray._memory import cuda_driver, cuda_memory
from refarray._memory import cuda_streams as streams

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.needs("fake CUDA driver")


def run(code: str, library: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run `code` where `library` is the CUDA driver."""
    environ = {name: value for name, value in os.environ.items() if "CUDA" not in name}
    environ["LD_LIBRARY_PATH"] = str(library.parent)
    environ["PYTHONPATH"] = str(ROOT)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def output(code: str, library: Path, **environment: str) -> str:
    result = run(code, library, **environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout.strip()


# ---- Each state ----------------------------------------------------------------------


def test_a_driver_with_a_device(fake_library: Path) -> None:
    code = "from refarray import cuda; print(cuda.why_not())"
    assert output(code, fake_library) == "None"


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "LIBRARY", "libcuda-of-nobody.so.1")
    monkeypatch.setattr(cuda_driver, "_drivers", [])
    assert cuda.why_not() == "no CUDA driver (libcuda-of-nobody.so.1 not found)"
    with pytest.raises(cuda.CudaError, match="no CUDA driver") as caught:
        cuda.Stream()
    assert (caught.value.code, caught.value.name) == (None, None)


def test_a_library_that_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "LIBRARY", "libc.so.6")
    monkeypatch.setattr(cuda_driver, "_drivers", [])
    assert (cuda.why_not() or "").startswith("libc.so.6 is not a CUDA driver: ")


def refusal(library: Path, devices: int = 2) -> cuda.CudaError:
    """What is raised where the fake is as the environment says."""
    with (
        fake(library, devices) as target,
        pytest.raises(cuda.CudaError) as caught,
        cuda.use_driver(target.lib),
    ):
        pass
    return caught.value


@pytest.mark.parametrize(
    ("visible", "hint"), [(None, "not set"), ("", "''"), ("7", "'7'")]
)
def test_a_driver_without_devices(
    fake_library: Path,
    monkeypatch: pytest.MonkeyPatch,
    visible: str | None,
    hint: str,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    error = refusal(fake_library, devices=0)
    said = f"CUDA driver found, but no device (CUDA_VISIBLE_DEVICES is {hint})"
    assert str(error) == said
    assert (error.code, error.name) == (100, "CUDA_ERROR_NO_DEVICE")


def test_a_driver_that_is_too_old(
    fake_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKECUDA_VERSION", "11080")
    assert str(refusal(fake_library)) == (
        "the CUDA driver is too old: it runs CUDA 11.8 at most, and refarray needs "
        "12.0 or newer"
    )
    monkeypatch.setenv("FAKECUDA_VERSION", "12000")
    with fake(fake_library) as target, cuda.use_driver(target.lib) as using:
        assert using.version == (12, 0)


def test_the_stub_of_the_toolkit(
    fake_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKECUDA_INIT", "34")
    error = refusal(fake_library)
    assert "the stub that the CUDA toolkit has for linking, not a driver" in str(error)
    assert (error.code, error.name) == (34, "CUDA_ERROR_STUB_LIBRARY")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("3", "cuInit: CUDA_ERROR_NOT_INITIALIZED (3): initialization error"),
        ("999", "cuInit: an error unknown to the driver (999): no description"),
    ],
)
def test_a_driver_that_fails(
    fake_library: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    monkeypatch.setenv("FAKECUDA_INIT", code)
    error = refusal(fake_library)
    assert (str(error), error.code) == (words, int(code))


def test_nothing_is_opened_before_it_is_used(fake_library: Path) -> None:
    code = """
import refarray
from refarray import cuda
def is_open():
    return "libcuda" in open("/proc/self/maps").read()
refarray.__array_namespace_info__().devices()
repr(refarray.ones(3))
assert not is_open()
assert cuda.why_not() is None
assert is_open()
# Opened, but without a context in any device.
from refarray._memory.cuda_driver import driver
flags, active = cuda.ffi.new("unsigned int *"), cuda.ffi.new("int *")
for device in range(2):
    assert driver().lib.cuDevicePrimaryCtxGetState(device, flags, active) == 0
    assert active[0] == 0
"""
    output(code, fake_library)


def test_the_end_of_a_process_that_holds_everything(fake_library: Path) -> None:
    code = """
from refarray import cuda
from refarray._memory import cuda_memory
stream, event = cuda.Stream(), cuda.Event()
stream.record(event)
block = cuda_memory.allocate(0, 64)
cuda_memory.fill(0, block.address, 1, 64, stream.handle)
stream.__enter__()
"""
    assert output(code, fake_library) == ""


def test_the_host_cannot_read_the_memory_of_a_device(fake_library: Path) -> None:
    code = """
from refarray import cuda
from refarray._memory import cuda_memory
block = cuda_memory.allocate(0, 64)
cuda.ffi.buffer(cuda.ffi.cast("char *", block.address), 64)[0]
"""
    assert run(code, fake_library).returncode == -11  # SIGSEGV


# ---- Forked processes ----------------------------------------------------------------

FORK = """
import os
from refarray import cuda

def in_child(*functions):
    child = os.fork()
    if child == 0:
        for function in functions:
            try:
                print(function(), flush=True)
            except Exception as error:
                print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)

"""


def test_a_forked_process_is_told(fake_library: Path) -> None:
    code = """
stream = cuda.Stream()
in_child(cuda.Stream, stream.synchronize, lambda: cuda.free_and_total(0))
stream.synchronize()
cuda.Stream()
"""
    answers = output(FORK + code, fake_library).splitlines()
    assert len(answers) == 3
    for said in answers:
        assert said.startswith("CudaError: CUDA was in use before this process was")
        assert "'spawn' or 'forkserver'" in said


def test_a_forked_process_may_drop_what_it_inherits(fake_library: Path) -> None:
    code = """
inherited = [cuda.Stream()]
inherited.append(inherited[0].record())
in_child(inherited.clear)
inherited[0].synchronize()
"""
    assert output(FORK + code, fake_library) == "None"


def test_a_fork_before_the_first_use_is_fine(fake_library: Path) -> None:
    code = "in_child(lambda: cuda.Stream().query()); cuda.Stream()"
    assert output(FORK + code, fake_library) == "True"


# ---- Another driver ------------------------------------------------------------------


def test_another_driver_is_used_inside_its_block_only(fake_library: Path) -> None:
    outside = cuda.why_not()
    with fake(fake_library) as target:
        with cuda.use_driver(target.lib) as using:
            assert cuda_driver.driver() is using
            with cuda.use_driver(target.lib) as inner:
                assert cuda_driver.driver() is inner
            assert cuda_driver.driver() is using
        with pytest.raises(KeyError), cuda.use_driver(target.lib):
            raise KeyError
    assert cuda.why_not() == outside


def test_what_outlives_its_driver_raises(fake_library: Path) -> None:
    gone = "the driver that it belongs to is no longer in use"
    with fake(fake_library) as target:
        with cuda.use_driver(target.lib):
            stream, event = cuda.Stream(), cuda.Event()
            block = cuda_memory.allocate(0, 8)
        for use in (stream.synchronize, stream.query, stream.record, event.query):
            with pytest.raises(cuda.CudaError, match=gone):
                use()
        with pytest.raises(cuda.CudaError, match=gone):
            block.handle.release("cuMemFree_v2")
        with cuda.use_driver(target.lib):
            with pytest.raises(cuda.CudaError, match=gone), stream:
                pass
        del stream, event, block  # without a call of the driver


def test_a_current_stream_does_not_outlive_its_driver(fake_library: Path) -> None:
    with fake(fake_library) as target, cuda.use_driver(target.lib):
        stream = cuda.Stream()
        stream.__enter__()
    try:
        assert streams.current_stream(0) == streams.LEGACY
    finally:
        stream.__exit__(None, None, None)


def test_contexts_are_given_back_with_the_driver(fake_library: Path) -> None:
    with fake(fake_library) as target:
        with cuda.use_driver(target.lib):
            cuda.Stream()
        flags, active = cuda.ffi.new("unsigned int *"), cuda.ffi.new("int *")
        assert target.lib.cuDevicePrimaryCtxGetState(0, flags, active) == 0
        assert active[0] == 0


# ---- The declarations ----------------------------------------------------------------


def cuda_headers() -> list[Path]:
    """Folders with a cuda.h: of a toolkit, or of NVIDIA's packages for pip."""
    variables = ("CUDA_HOME", "CUDA_PATH")
    roots = [os.environ[name] for name in variables if name in os.environ]
    folders = [Path(root) / "include" for root in [*roots, "/usr/local/cuda"]]
    for folder in map(Path, sys.path):
        folders += folder.glob("nvidia/*/include")
    return [folder for folder in folders if (folder / "cuda.h").exists()]


@pytest.mark.needs("C compiler")
def test_the_declarations_agree_with_cuda_h(tmp_path: Path) -> None:
    folders = cuda_headers()
    if not folders:
        pytest.skip("no cuda.h: set CUDA_HOME, or pip install nvidia-cuda-runtime")
    declared = (ROOT / "_cffi_build" / "cuda_driver.h").read_text()
    declared = re.sub(r"/\*.*?\*/", "", declared, flags=re.DOTALL)
    functions = re.findall(r"^CUresult cu\w+\([^;]*\);", declared, re.MULTILINE)
    constants = re.findall(r"\b(CU(?:DA)?_\w+) = (\d+)", declared)
    assert len(functions) > 40 and len(constants) > 30
    lines = [
        # Also the versions that newer names hide: we call cuEventElapsedTime itself.
        "#define __CUDA_API_VERSION_INTERNAL",
        "#include <cuda.h>",
        *functions,  # a second declaration of a function has to have the same types
        *(f'_Static_assert({name} == {n}, "{name}");' for name, n in constants),
    ]
    sizes = {"CUmemPoolProps": 88, "CUmemLocation": 8, "CUdeviceptr": 8, "CUdevice": 4}
    for name, size in sizes.items():
        assert cuda.ffi.sizeof(name) == size
        lines.append(f'_Static_assert(sizeof({name}) == {size}, "{name}");')
    source = tmp_path / "declarations.c"
    source.write_text("\n".join(lines))
    for folder in folders:
        command = ["cc", "-fsyntax-only", "-Wall", "-Werror", "-I", folder, source]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, f"{folder}:\n{result.stderr}"
