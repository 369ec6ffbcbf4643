"""`python -m refarray`: what it lists, and how it ends."""

import os
import re
import subprocess
import sys

import refarray
from refarray import info
from refarray.testing import simulated_cuda


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "refarray", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_without_a_command_it_lists_them():
    result = run()
    assert result.returncode == 0
    for command in ("demo", "check", "refarray.testing.standard"):
        assert command in result.stdout


def test_the_version():
    assert run("--version").stdout == f"refarray {refarray.__version__}\n"


def test_an_unknown_command_is_a_usage_error():
    result = run("dance")
    assert result.returncode == 2
    assert "invalid choice: 'dance'" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_demo_keeps_its_promises():
    result = run("demo")
    assert (result.returncode, result.stderr) == (0, "")
    assert "capsule before: 'dltensor_versioned'" in result.stdout
    assert "capsule after:  'used_dltensor_versioned'" in result.stdout
    assert "the deleter of NumPy's tensor: 1 time" in result.stdout
    assert "the deleter of refarray's tensor: 1 time" in result.stdout


def test_a_reader_that_stops_early_is_no_error():
    code = f"{sys.executable} -m refarray demo | head -n 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_info_says_what_is_missing_for_cuda(tmp_path):
    hidden = {"CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "refarray", "info"],
        env={**os.environ, **hidden},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"refarray    {refarray.__version__}" in done.stdout
    assert re.search(r"numpy +\d+\.\d+", done.stdout)
    assert "CUDA        not usable: " in done.stdout
    assert "simulated_cuda" in done.stdout


def test_info_on_a_machine_with_devices(capsys):
    with simulated_cuda(devices=2, memory=1 << 20, version=12040, force=True):
        info.run()
    text = capsys.readouterr().out
    assert "the driver runs CUDA 12.4" in text
    assert "cuda:1: 1,048,576 of 1,048,576 bytes free" in text
    assert "pip install 'refarray[cuda12]'" in text or "CuPy        cupy" in text
