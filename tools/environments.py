"""A virtual environment for each library that has an adapter in adapters/.

    python tools/environments.py torch jax

What to install stands in the adapter's docstring, in the line `Install:`. refarray
itself is this checkout. The environments are kept in .environments/, or in the folder
that the variable ENVIRONMENTS names. If `Install:` changes, so does the environment.

PYTHON names another interpreter to make them with. No environment gets packages for
GPUs unless ANY_SIZE=1: they take several GB each.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = ROOT / "adapters"

#: What refarray needs wherever it runs.
ALWAYS = ["numpy>=2.1", "cffi>=2.0"]

#: Packages that only a build for GPUs depends on.
FOR_GPUS = re.compile(r"nvidia-|(pytorch-)?triton")

#: Seconds that an installation may take.
PATIENCE = float(os.environ.get("INSTALL_PATIENCE", "1800"))


class NotInstalled(Exception):
    """A library could not be installed; says why."""


@dataclass(frozen=True)
class Environment:
    """The environment of one library."""

    name: str

    @property
    def adapter(self) -> Path:
        """The file of its adapter."""
        return ADAPTERS / f"{self.name}.py"

    @property
    def requirements(self) -> list[str]:
        """What its adapter wants installed."""
        text = ast.get_docstring(ast.parse(self.adapter.read_text(encoding="utf-8")))
        found = re.search(r"^Install:(.*)$", text or "", re.MULTILINE)
        if found is None:
            raise NotInstalled(f"{self.adapter} has no line `Install:` at its top")
        return found[1].split()

    @property
    def folder(self) -> Path:
        """Where it lies."""
        parent = os.environ.get("ENVIRONMENTS", str(ROOT / ".environments"))
        return Path(parent).resolve() / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def interpreter(self) -> str:
        """Return the interpreter to make it with."""
        return os.environ.get("PYTHON", sys.executable)

    def build(self) -> None:
        """Create it, or bring it up to date. Raises NotInstalled."""
        wanted = "\n".join([*ALWAYS, *self.requirements])
        stamp = self.folder / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return
        if not self.python.exists():
            _run(self.interpreter(), "-m", "venv", str(self.folder))
        if os.environ.get("ANY_SIZE") != "1":
            self._refuse_gpu_packages()
        self._pip("install", *ALWAYS, *self.requirements)
        packages = _run(
            *(str(self.python), "-c"),
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        )
        Path(packages.strip(), "refarray_checkout.pth").write_text(f"{ROOT}\n")
        stamp.write_text(wanted)

    def _pip(self, *arguments: str) -> str:
        quiet = ("--disable-pip-version-check", "--no-input", "-qq")
        return _run(str(self.python), "-m", "pip", *quiet, *arguments)

    def _refuse_gpu_packages(self) -> None:
        if not self.requirements:
            return
        plan = self._pip("install", "--dry-run", "--report", "-", *self.requirements)
        names = [item["metadata"]["name"] for item in json.loads(plan)["install"]]
        extra = sorted(name for name in names if FOR_GPUS.match(name.lower()))
        if extra:
            raise NotInstalled(f"pip would bring {', '.join(extra)}; ANY_SIZE=1 allows")


def known() -> list[str]:
    """Return the names of all adapters."""
    return sorted(path.stem for path in ADAPTERS.glob("[a-z]*.py"))


def choose(names: list[str]) -> list[Environment]:
    """Return the environments of these names; all of them for none."""
    for name in names:
        if name not in known():
            sys.exit(f"there is no adapter {name!r}; known: {', '.join(known())}")
    return [Environment(name) for name in names or known()]


def _run(*command: str) -> str:
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"the installation took over {PATIENCE:g} s") from None
    if ended.returncode:
        said = ended.stderr.strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")] or said[-1:]
        raise NotInstalled("; ".join(errors[:2]) or f"{command[0]} failed")
    return ended.stdout


def main() -> None:
    """Build the environments that are named."""
    for environment in choose(sys.argv[1:]):
        try:
            environment.build()
            print(f"{environment.name}: {environment.python}")
        except NotInstalled as reason:
            print(f"{environment.name}: not installed: {reason}")


if __name__ == "__main__":
    main()
