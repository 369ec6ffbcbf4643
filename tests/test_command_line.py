"""`python -m refarray`: what it lists, and how it ends."""

import subprocess
import sys

import refarray


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
