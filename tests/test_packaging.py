"""What an installation starts from: the sdist, the wheel, and the words when it cannot.

Nothing is built in the checkout: the sdist is made from a copy without compiled files,
and the wheel is made from that sdist, as an installer would.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SETUP = ROOT / "setup.py"
CHECK = ROOT / "_cffi_build" / "check_prerequisites.py"

VERSION = importlib.metadata.version("refarray")
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    built = ["build", "dist", "*.egg-info", "*.so", "*.o", "_cuda_driver.py"]
    ignore = shutil.ignore_patterns(".*", "__pycache__", "tests", *built)
    shutil.copytree(ROOT, folder / "checkout", ignore=ignore)
    code = "import setuptools.build_meta as backend; backend.build_sdist('..')"
    result = run("-c", code, cwd=folder / "checkout")
    assert result.returncode == 0, result.stdout
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked_sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one wheel that pip builds from the sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    built = run(*pip, "--wheel-dir", folder, ".", cwd=unpacked_sdist)
    assert built.returncode == 0, built.stdout
    (found,) = folder.iterdir()
    return found


def test_sdist_holds_the_sources(unpacked_sdist: Path) -> None:
    for source in (ROOT / "_cffi_build").glob("*.[ch]"):
        assert (unpacked_sdist / "_cffi_build" / source.name).exists()
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "setup.py", "PKG-INFO"):
        assert (unpacked_sdist / name).exists()


def test_wheel_serves_every_python_from_3_11_on(wheel: Path) -> None:
    version = "{}{}".format(*sys.version_info)
    tag = f"cp{version}-cp{version}t" if FREE_THREADED else "cp311-abi3"
    assert wheel.name.startswith(f"refarray-{VERSION}-{tag}-")
    assert wheel.suffix == ".whl"


def test_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    limited = ".pyd" if sys.platform == "win32" else ".abi3.so"
    extension = sysconfig.get_config_var("EXT_SUFFIX") if FREE_THREADED else limited
    assert f"refarray/_native{extension}" in names
    assert f"refarray/testing/_forge{extension}" in names
    assert "refarray/_cuda_driver.py" in names  # built, though it is Python
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "refarray").rglob("*")
        if path.suffix in {".py", ".pyi", ".typed", ".json"}
    }
    assert "refarray/py.typed" in sources and "refarray/_native.pyi" in sources
    assert sources <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "refarray",
        f"refarray-{VERSION}.dist-info",
    }
    assert not [name for name in names if name.endswith((".c", ".h", ".o"))]


def test_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import refarray, numpy;"
        "print(refarray.__file__);"
        "print(numpy.from_dlpack(refarray.ones(2) + refarray.ones(2)))"
    )
    result = run("-c", code, cwd=tmp_path)
    assert result.stdout.splitlines() == [
        str(tmp_path / "refarray" / "__init__.py"),
        "[2. 2.]",
    ]


def test_setup_refuses_other_interpreters(tmp_path: Path) -> None:
    code = (
        "import runpy, sys; sys.implementation.name = 'pypy';"
        f"sys.argv = ['setup.py', '--version']; runpy.run_path({str(SETUP)!r})"
    )
    result = run("-c", code, cwd=tmp_path)
    assert result.returncode == 1
    assert "refarray builds on CPython only" in result.stdout
    assert f"This interpreter is pypy ({sys.executable})" in result.stdout


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The module check_prerequisites, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("check_prerequisites", CHECK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.needs("C compiler")
def test_nothing_is_missing_here() -> None:
    """The tests run on a built refarray, so all of it must be there; and silent."""
    result = run(CHECK, cwd=ROOT)
    assert (result.returncode, result.stdout) == (0, "")


def test_missing_headers_name_the_package(check: ModuleType, tmp_path: Path) -> None:
    message = check.check_headers(str(tmp_path))
    assert f"Python.h is missing (looked in {tmp_path})" in message
    assert "apt-get install python3-dev" in message
    assert "dnf install python3-devel" in message
    assert "xcode-select --install" in message


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_missing_venv_names_the_package(check: ModuleType, missing: str) -> None:
    def load(name: str) -> None:
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    message = check.check_venv(load)
    assert f"The Python module {missing} is missing" in message
    assert "apt-get install python3-venv" in message


def test_missing_compiler_names_the_package(check: ModuleType) -> None:
    message = check.check_compiler(["no-such-compiler"])
    assert "no-such-compiler is not on the PATH" in message
    assert "apt-get install gcc libc6-dev" in message


@pytest.mark.needs("C compiler")
def test_compiler_without_c_library_is_noticed(check: ModuleType) -> None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    message = check.check_compiler([*compiler, "-nostdinc"])
    assert "cannot build a program that includes stdlib.h" in message
    assert "apt-get install gcc libc6-dev" in message


def test_old_and_foreign_interpreters_are_refused(check: ModuleType) -> None:
    old = check.check_interpreter((3, 9, 2), "cpython", "/usr/bin/python3")
    assert "needs Python 3.11 or newer; /usr/bin/python3 is 3.9" in old
    assert "make PYTHON=" in old
    other = check.check_interpreter((3, 11, 9), "pypy", "/usr/bin/pypy3")
    assert "needs CPython" in other and "/usr/bin/pypy3 is pypy" in other
    assert check.check_interpreter((3, 11, 0), "cpython", "python3") is None


def test_all_that_is_missing_is_said_at_once(tmp_path: Path) -> None:
    """As `make` runs it: a compiler that is not there, and headers that are not."""
    code = (
        "import runpy, sysconfig;"
        f"sysconfig.get_path = lambda *_: {str(tmp_path)!r};"
        f"runpy.run_path({str(CHECK)!r}, run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CC": "no-such-compiler"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "refarray cannot be built here yet." in result.stderr
    assert "Python.h is missing" in result.stderr
    assert "no-such-compiler is not on the PATH" in result.stderr
