"""The command line in a folder where somebody else has put modules.

`python -m` looks for modules in the current folder first, for those of Python and NumPy
as well: that is Python's own rule, and `python -P -m` is the way around it. So nothing
of such a folder may run under -P but what a command was told to import; and without -P
nothing besides what any `python -m` would import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Libraries that refarray knows, and what it and Python themselves import.
PARTNERS = (
    *("torch", "jax", "cupy", "tensorflow", "pyarrow", "tvm_ffi", "dask", "paddle"),
    *("mlx", "dpnp", "warp", "cubed", "mpi4py", "pandas", "pytest", "hypothesis"),
    *("scipy", "array_api_strict", "array_api_compat", "IPython", "usercustomize"),
)
NEEDED = (
    *("refarray", "numpy", "cffi", "_cffi_backend", "mpmath", "cuda"),
    *("json", "random", "argparse", "runpy", "struct", "platform", "sitecustomize"),
)
COMMANDS = {
    "list": [],
    "demo": ["demo"],
    "info": ["info"],
    "inspect": ["inspect", "numpy:arange(6.0)"],
    "trace": ["trace", "numpy:arange(3.0)", "refarray"],
    "check": ["check", "told/adapter.py", "--rule", "1,46,52"],
    "standard": ["standard", "numpy", "--only", "sign"],
    "run": ["run", "--profile", "pedantic", "told/program.py"],
}


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A current folder of modules that leave a file when they run."""
    folder = tmp_path / "folder"
    (folder / "adapters").mkdir(parents=True)
    (folder / "told").mkdir()
    for name in (*PARTNERS, *NEEDED, "adapters/numpy", "adapters/__init__"):
        text = "from pathlib import Path\nPath({!r}).touch()\nraise SystemExit(77)\n"
        ran = tmp_path / f"ran {name.replace('/', ' ')}"
        (folder / f"{name}.py").write_text(text.format(str(ran)), encoding="utf-8")
    (folder / "told" / "program.py").write_text("print('ran')\n", encoding="utf-8")
    adapter = (ROOT / "adapters" / "numpy.py").read_text(encoding="utf-8")
    (folder / "told" / "adapter.py").write_text(adapter, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(*arguments):
    """Run Python with this checkout in its path; return status, output and errors."""
    path = [str(ROOT), *(entry for entry in sys.path if "packages" in entry)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": os.pathsep.join(path)},
        check=False,
    )


def ran(folder):
    """Return the modules that ran."""
    return sorted(path.name for path in folder.parent.glob("ran *"))


@pytest.mark.parametrize("command", COMMANDS)
def test_under_P_nothing_of_the_folder_runs(hostile, command):
    ended = run("-P", "-m", "refarray", *COMMANDS[command])
    assert ran(hostile) == []
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_without_P_no_library_is_imported_that_was_not_named(hostile, command):
    for name in NEEDED:
        (hostile / f"{name}.py").unlink()
    ended = run("-m", "refarray", *COMMANDS[command])
    assert ran(hostile) == []
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_under_P_an_adapter_here_is_taken_by_its_path_only(hostile):
    run("-P", "-m", "refarray", "check", "numpy", "--rule", "46")
    assert ran(hostile) == []
    run("-P", "-m", "refarray", "check", "adapters/numpy.py", "--rule", "46")
    assert ran(hostile) == ["ran adapters numpy"]


@pytest.mark.parametrize(
    "arguments", [["inspect", "torch:ones(3)"], ["trace", "numpy:ones(3)", "torch"]]
)
def test_what_was_named_is_imported_and_nothing_else(hostile, arguments):
    for name in NEEDED:
        (hostile / f"{name}.py").unlink()
    run("-m", "refarray", *arguments)
    assert ran(hostile) == ["ran torch"]
