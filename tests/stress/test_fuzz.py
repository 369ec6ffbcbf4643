"""The fuzzer and the machine: they run, and they see what is planted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("mprotect")

HERE = Path(__file__).parent
PLANTED = """
import sys
sys.path.insert(0, {here!r})
import fuzz_capsules
from refarray import dlpack
from refarray.testing.forge import Raw, _forge
true = dlpack.from_capsule
kept = []
{fault}
dlpack.from_capsule = wrong
fuzz_capsules.check(b"")
"""

#: What a wrong importer does after it took a plain array of three float64.
FAULTS = {
    "reads one byte too far": """
def wrong(capsule):
    import ctypes
    end = Raw(capsule).first + 24
    out = true(capsule)
    ctypes.string_at(end, 1)
    return out
""",
    "reads the elements at once": """
def wrong(capsule):
    Raw(capsule).values()
    return true(capsule)
""",
    "reads another axis": """
def wrong(capsule):
    Raw(capsule).managed.dl_tensor.shape[1]
    return true(capsule)
""",
    "deletes twice": """
def wrong(capsule):
    raw = Raw(capsule)
    out = true(capsule)
    raw.delete()
    return out
""",
    "never deletes": """
def wrong(capsule):
    kept.append(true(capsule))
    return kept[0]
""",
    "leaves the capsule as it was": """
def wrong(capsule):
    out = true(capsule)
    _forge.rename_capsule(capsule, "dltensor_versioned")
    return out
""",
    "has other elements": """
def wrong(capsule):
    return true(capsule)[::-1]
""",
    "refuses it": """
def wrong(capsule):
    raise BufferError("no")
""",
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python on some arguments, with refarray from this checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=HERE.parents[1],
        env={"PYTHONPATH": str(HERE.parents[1]), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_random_capsules_are_refused_or_right():
    ended = run(str(HERE / "fuzz.py"), "--random", "0.05", "1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "no find" in ended.stdout


def test_without_a_fault_nothing_is_found():
    fault = "wrong = true"
    ended = run("-c", PLANTED.format(here=str(HERE), fault=fault))
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault):
    ended = run("-c", PLANTED.format(here=str(HERE), fault=FAULTS[fault]))
    died = ended.returncode < 0
    assert died == ("reads" in fault), ended.stderr
    assert died or "AssertionError" in ended.stderr, ended.stderr


def test_the_input_that_ends_the_child_is_told(tmp_path):
    program = (HERE / "fuzz.py").read_text(encoding="utf-8")
    broken = program.replace(
        "            check(data)\n", "            os._exit(9)\n", 1
    )
    assert broken != program
    file = tmp_path / "fuzz.py"
    file.write_text(broken, encoding="utf-8")
    (tmp_path / "fuzz_capsules.py").write_text("check = None", encoding="utf-8")
    ended = run(str(file), "--random", "0.05", "1")
    assert ended.returncode == 1
    assert "--input " in ended.stdout


def test_the_machine_runs():
    ended = run(str(HERE / "machine.py"), "--runs", "12", "1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("12 runs")


def test_the_machine_sees_a_view_that_is_none():
    program = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import machine
import refarray as xp
true = xp.flip
xp.flip = lambda x: xp.asarray(true(x), copy=True)
machine.try_runs(30, 1)
"""
    ended = run("-c", program)
    assert ended.returncode != 0
    assert "AssertionError" in ended.stderr
