"""Profiles by command line: `python -m refarray run`, and the plugin for pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import refarray as xp
if __name__ == "__main__":
    print(xp.zeros(1).device, *sys.argv[1:])
    if "fail" in sys.argv:
        raise SystemError("as asked")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_runs_under_a_profile(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(
        *(tmp_path, "refarray", "run", "--profile", "gpu", "program.py", "a", "--b")
    )
    assert (done.returncode, done.stdout) == (0, "gpu a --b\n"), done.stderr
    done = run(tmp_path, "refarray", "run", "--profile", "gpu", "-m", "program", "a")
    assert (done.returncode, done.stdout) == (0, "gpu a\n"), done.stderr
    done = run(tmp_path, "refarray", "run", "program.py")
    assert (done.returncode, done.stdout) == (0, "cpu\n"), done.stderr


def test_a_failure_says_under_which_profile(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(
        *(tmp_path, "refarray", "run", "--profile", "adversarial,seed=7"),
        *("program.py", "fail"),
    )
    assert done.returncode == 1
    assert "refarray profile: adversarial,seed=7" in done.stderr
    assert "SystemError: as asked" in done.stderr


def test_an_unknown_profile_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "refarray", "run", "--profile", "gqu", "program.py")
    assert done.returncode == 2
    assert "known profiles: strict" in done.stderr
    done = run(
        *(tmp_path, "pytest", "-p", "refarray.testing.profile"),
        *("--refarray-profile", "gqu"),
    )
    assert done.returncode == 4
    assert "known profiles: strict" in done.stderr


def test_a_suite_runs_under_a_profile(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import refarray as xp\n"
        "def test_device(): assert xp.zeros(1).device.name == 'cpu'\n"
    )
    plugin = ("pytest", "-p", "refarray.testing.profile", "-p", "no:cacheprovider")
    done = run(tmp_path, *plugin)
    assert done.returncode == 0, done.stdout
    assert "refarray profile: strict" in done.stdout
    done = run(tmp_path, *plugin, "--refarray-profile", "gpu+adversarial,seed=7")
    assert done.returncode == 1
    header, _, failure = done.stdout.partition("FAILURES")
    assert "refarray profile: gpu+adversarial,seed=7" in header
    assert "gpu+adversarial,seed=7" in failure
