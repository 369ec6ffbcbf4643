"""The memory code runs in plain C, without Python."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "_cffi_build"


@pytest.mark.needs("C compiler")
def test_threads_in_plain_c_leave_nothing_behind(tmp_path):
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    program = tmp_path / "harness"
    parts = [BUILD / f"{name}.c" for name in ("memory", "tensor", "deferred")]
    sources = [Path(__file__).with_name("harness.c"), *parts]
    subprocess.run(
        [
            *compiler.split(),
            *("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"),
            *("-I", BUILD, *sources, "-o", program),
        ],
        check=True,
    )
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "1176000 exchanges on 8 threads, nothing left" in result.stdout
