"""A virtual environment for each library of adapters/ and tests/field/.

    python tools/environments.py torch jax

What it is made of stands in lines at the top of adapters/NAME.py, or if that has no
such line, of tests/field/test_NAME.py:

    Install: torch==2.13.0             what pip installs; `-e /my/library` a folder of
                                       yours, always as it is now
    Python: 3.12                       the interpreter; `3.12, else any` takes another
    System: libusb-1.0-0               Debian packages, unpacked into it where they miss
    Environment: NAME={folder}/lib     a variable for its processes; {system} is where
                                       the Debian packages are unpacked
    Apart: needs NumPy 1               why it cannot share a process with refarray

refarray itself is this checkout. The environments are kept in .environments/, or in the
folder that the variable ENVIRONMENTS names. If the lines change, they are made anew.

PYTHON names another interpreter to make them with. No environment gets packages for
GPUs unless ANY_SIZE=1: they take several GB each.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = ROOT / "adapters"
FIELD = ROOT / "tests" / "field"

#: Packages that only a build for GPUs depends on.
FOR_GPUS = re.compile(r"nvidia-|(pytorch-)?triton")

#: Seconds that an installation may take.
PATIENCE = float(os.environ.get("INSTALL_PATIENCE", "1800"))


@cache
def always() -> list[str]:
    """Return what refarray and its tests need wherever they run."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)
    tools = map(str, project["dependency-groups"]["test"])
    pytest = [tool for tool in tools if re.match("pytest[<>=]", tool)]
    return [*project["project"]["dependencies"], *pytest]


class NotInstalled(Exception):
    """A library could not be installed; says why."""


class LeftOut(NotInstalled):
    """A library was not installed, because of what this machine is."""


@dataclass(frozen=True)
class Environment:
    """The environment of one library."""

    name: str

    @property
    def files(self) -> list[Path]:
        """The files that say what it is made of."""
        files = [ADAPTERS / f"{self.name}.py", FIELD / f"test_{self.name}.py"]
        return [path for path in files if path.exists()]

    def lines(self, key: str) -> list[str]:
        """Return what the lines `key:` of the first file that has any say."""
        for path in self.files:
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found = re.findall(rf"^{key}:(.*)$", text, re.MULTILINE)
            if found:
                return [line.strip() for line in found]
        return []

    def line(self, key: str) -> str:
        """Return what the line `key:` says; nothing if there is none."""
        return " ".join(self.lines(key))

    @property
    def requirements(self) -> list[str]:
        """What is to be installed."""
        if not self.lines("Install"):
            names = " or ".join(str(path) for path in self.files)
            raise NotInstalled(f"there is no line `Install:` at the top of {names}")
        return self.line("Install").split()

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
        """Return the interpreter to make it with. Raises LeftOut."""
        usual = os.environ.get("PYTHON", sys.executable)
        if not self.line("Python"):
            return usual
        version, _, otherwise = self.line("Python").partition(",")
        found = find_python(version.strip())
        if found is None and not otherwise:
            raise LeftOut(f"needs Python {version}, which was not found")
        return found or usual

    def variables(self) -> dict[str, str]:
        """Return the environment variables for its processes."""
        system = self.folder / "system"
        variables = dict(os.environ)
        if system.exists():
            folders = sorted({str(path.parent) for path in system.rglob("*.so*")})
            folders += filter(None, [variables.get("LD_LIBRARY_PATH")])
            variables["LD_LIBRARY_PATH"] = os.pathsep.join(folders)
        for line in self.lines("Environment"):
            name, _, value = line.partition("=")
            variables[name] = value.format(folder=self.folder, system=system)
        return variables

    def build(self) -> None:
        """Create it, or bring it up to date. Raises NotInstalled."""
        ours = [] if self.line("Apart") else always()
        packages = self.line("System").split()
        interpreter, version = self.interpreter(), ""
        if self.line("Python"):
            version = _version(interpreter)
        wanted = "\n".join([*ours, *self.requirements, *packages, version]).rstrip()
        stamp = self.folder / "installed"
        if stamp.exists() and stamp.read_text() == wanted:
            return
        if not self.python.exists() or version not in ("", _version(self.python)):
            _run(interpreter, "-m", "venv", "--clear", str(self.folder))
        if os.environ.get("ANY_SIZE") != "1":
            self._refuse_gpu_packages()
        if ours or self.requirements:
            self._pip("install", *ours, *self.requirements)
        self._unpack(packages)
        if ours:
            ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
            folder = _run(str(self.python), "-c", ask).strip()
            Path(folder, "refarray_checkout.pth").write_text(f"{ROOT}\n")
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
            raise LeftOut(f"pip would bring {', '.join(extra)}; ANY_SIZE=1 allows")

    def _unpack(self, packages: list[str]) -> None:
        """Unpack the Debian packages that the system lacks."""
        missing = [name for name in packages if not _has_package(name)]
        if not missing:
            return
        if shutil.which("apt-get") is None:
            raise LeftOut(f"needs the Debian packages {', '.join(missing)}")
        archives = self.folder / "archives"
        archives.mkdir(exist_ok=True)
        for name in missing:
            _run("apt-get", "download", "-qq", name, where=archives)
        for archive in archives.glob("*.deb"):
            _run("dpkg-deb", "-x", str(archive), str(self.folder / "system"))


def _has_package(name: str) -> bool:
    """Whether the system has a Debian package."""
    if shutil.which("dpkg-query") is None:
        return False
    ask = ["dpkg-query", "-W", "-f", "${Status}", name]
    return "ok installed" in subprocess.run(ask, capture_output=True, text=True).stdout


def find_python(version: str) -> str | None:
    """Return an interpreter of that version (`3.12`), or None."""
    for python in _candidates(version):
        try:
            if _version(python) == version:
                return str(python)
        except (NotInstalled, OSError):
            continue  # pyenv's stand-in for one that is not chosen
    return None


def _candidates(version: str) -> Iterator[str | Path]:
    yield from filter(None, [os.environ.get("PYTHON"), sys.executable])
    yield from (Path(folder, f"python{version}") for folder in os.get_exec_path())
    # pyenv keeps on the path only what is chosen.
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    yield from sorted(versions.glob(f"*/bin/python{version}"), reverse=True)


def _version(python: str | Path) -> str:
    """Return the version of an interpreter, as `3.12`."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return _run(str(python), "-c", ask).strip()


def copy_sources(folder: Path) -> None:
    """Copy what refarray is built from, without what was built in the checkout."""
    built = shutil.ignore_patterns(
        *("__pycache__", "*.so", "_native.c", "_forge.c", "_cuda_driver.py")
    )
    for name in ("refarray", "_cffi_build"):
        shutil.copytree(ROOT / name, folder / name, ignore=built)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)


def known() -> list[str]:
    """Return the names of all adapters."""
    return sorted(path.stem for path in ADAPTERS.glob("[a-z]*.py"))


def in_the_field() -> list[str]:
    """Return the names of the libraries that tests/field/ is about."""
    names = [path.stem.removeprefix("test_") for path in FIELD.glob("test_*.py")]
    return sorted(name for name in names if not Environment(name).line("Library"))


def choose(names: list[str], among: list[str] | None = None) -> list[Environment]:
    """Return the environments of these names; of all adapters, or `among`, for none."""
    possible = known() if among is None else among
    for name in names:
        if name not in possible:
            sys.exit(f"there is no library {name!r}; known: {', '.join(possible)}")
    return [Environment(name) for name in names or possible]


def _run(*command: str, where: Path | None = None) -> str:
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=where,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"the installation took over {PATIENCE:g} s") from None
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or ended.stdout.strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")] or said[-1:]
        raise NotInstalled("; ".join(errors[:2]) or f"{command[0]} failed")
    return ended.stdout


def main() -> None:
    """Build the environments that are named."""
    everything = sorted({*known(), *in_the_field()})
    for environment in choose(sys.argv[1:], everything):
        try:
            environment.build()
            print(f"{environment.name}: {environment.python}")
        except NotInstalled as reason:
            print(f"{environment.name}: not installed: {reason}")


if __name__ == "__main__":
    main()
