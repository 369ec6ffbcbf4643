"""Install the wheel in dist/ as a user would, without a compiler, and test it.

    python tools/test_wheel.py [--oldest] python3.11 /opt/python3.14/bin/python3

For each interpreter: a new environment, in which everything is installed from wheels
only and CC names a compiler that fails; then the tests that need no checkout, from a
copy of what [tool.cibuildwheel] in pyproject.toml names as `test-sources`, with its
`test-command`. So what passes here is what the builds of all systems run. With
--oldest the dependencies are the oldest that pyproject.toml allows, not the newest.
Exit status 1 when anything failed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(command: list[str | Path], folder: Path) -> bool:
    """Run a command without a compiler; show what it says only if it fails."""
    environment = {**os.environ, "CC": "/bin/false", "CXX": "/bin/false"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    print("\n".join(lines[-40:] if done.returncode else lines[-1:]), flush=True)
    return done.returncode == 0


def try_on(interpreter: str, wheel: Path, is_oldest: bool) -> bool:
    """Install the wheel for one interpreter and run the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    settings = project["tool"]["cibuildwheel"]
    tools = [t for t in project["dependency-groups"]["test"] if isinstance(t, str)]
    if is_oldest:
        tools += [d.replace(">=", "==") for d in project["project"]["dependencies"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in settings["test-sources"]:
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, folder / source, ignore=ignored)
            else:
                shutil.copy(ROOT / source, folder / source)
        python = folder / "venv" / "bin" / "python"
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        command = shlex.split(settings["test-command"])
        return (
            run([interpreter, "-m", "venv", folder / "venv"], folder)
            and run([*pip, "--only-binary=:all:", wheel, *tools], folder)
            and run([python, *command[1:]], folder)
        )


def main() -> int:
    """Try all; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("interpreters", nargs="*", default=[sys.executable])
    parser.add_argument("--oldest", action="store_true", help="oldest dependencies")
    options = parser.parse_args()
    (wheel,) = (ROOT / "dist").glob("*.whl")
    failed = []
    for interpreter in options.interpreters:
        start = time.monotonic()
        print(f"{wheel.name} on {interpreter}", flush=True)
        if not try_on(interpreter, wheel, options.oldest):
            failed.append(interpreter)
        print(f"{time.monotonic() - start:.0f} s", flush=True)
    if failed:
        print(f"failed on {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
