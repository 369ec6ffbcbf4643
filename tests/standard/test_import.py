"""What `import refarray` loads, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded(code: str) -> set[str]:
    """Return the modules of `_compute` that a fresh process has after this code."""
    tell = "import sys; print(*(m for m in sys.modules if '._compute.' in m))"
    command = [sys.executable, "-c", f"import refarray as xp\n{code}\n{tell}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.rpartition(".")[2] for name in ended.stdout.split()}


def test_kernels_come_when_they_are_asked_for() -> None:
    at_first = loaded("")
    kinds = {"casting", "conversion", "movement", "ordering", "reductions", "text"}
    assert not kinds & at_first
    assert "reductions" in loaded("xp.sum(xp.ones(3))")
    assert "text" in loaded("repr(xp.ones(3))")


@pytest.mark.needs("fork")
def test_a_child_by_fork_has_everything() -> None:
    # While another thread imports a module, a child would find it locked for ever.
    fork = "import os\npid = os.fork()\nif pid: os._exit(os.waitpid(pid, 0)[1])"
    everything = {
        *("casting", "clip", "conversion", "freedom", "movement", "ordering"),
        *("pedantic", "pedantic_keys", "pedantic_sums", "reductions", "repairs"),
        "text",
    }
    assert everything <= loaded(fork)


def test_little_beside_numpy() -> None:
    code = "import sys, numpy; before = set(sys.modules); import refarray"
    tell = "print(*{m.split('.')[0] for m in set(sys.modules) - before})"
    command = [sys.executable, "-c", f"{code}; {tell}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    # atexit is part of the interpreter: there is no file to load.
    own = {"refarray", "__future__", "_cffi_backend", "atexit"}
    # NumPy before 2.3 has no use for importlib, which Python has loaded anyway.
    assert set(ended.stdout.split()) <= {*own, "importlib"}
