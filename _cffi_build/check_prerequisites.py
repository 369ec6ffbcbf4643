"""Before the first build, check that everything is here; name the package if not.

Run by the Makefile with whatever `python3` is, so the syntax is that of Python 3.6
and nothing is imported that an old or trimmed Python lacks. Exit status 1 and one
paragraph per missing item on standard error; silent when all is well.
"""

import importlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

OLDEST = (3, 11)

PROBE = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"


def explain(what, debian, fedora, macos):
    """Name the item that is missing and the package that brings it, per system."""
    return (
        "{}\n    Debian, Ubuntu:  apt-get install {}\n    Fedora:          dnf install "
        "{}\n    macOS:           {}".format(what, debian, fedora, macos)
    )


def check_interpreter(version, implementation, executable):
    """CPython, new enough."""
    if implementation != "cpython":
        return (
            "refarray needs CPython (its native module uses CPython's limited API); "
            "{} is {}.\n    Choose another: make PYTHON=python3".format(
                executable, implementation
            )
        )
    if tuple(version[:2]) < OLDEST:
        return explain(
            "refarray needs Python {}.{} or newer; {} is {}.{}.\n    Choose another: "
            "make PYTHON=python3.12, or install one:".format(
                OLDEST[0], OLDEST[1], executable, version[0], version[1]
            ),
            "python3 (Debian 12, Ubuntu 24.04 or newer)",
            "python3",
            "brew install python",
        )
    return None


def check_venv(load=importlib.import_module):
    """The modules that make a virtual environment with pip in it."""
    try:
        load("venv")
        load("ensurepip")
    except ImportError as error:
        return explain(
            "The Python module {} is missing, so .venv cannot be made.".format(
                error.name
            ),
            "python3-venv  (or python{}.{}-venv)".format(*sys.version_info[:2]),
            "python3-libs",
            "brew install python",
        )
    return None


def check_headers(include):
    """Python.h, which the C files include."""
    if not Path(include, "Python.h").exists():
        return explain(
            "Python.h is missing (looked in {}).".format(include),
            "python3-dev  (or python{}.{}-dev)".format(*sys.version_info[:2]),
            "python3-devel",
            "xcode-select --install",
        )
    return None


def check_compiler(command):
    """A C compiler that is there and finds the C library's headers."""
    packages = ("gcc libc6-dev", "gcc", "xcode-select --install")
    if shutil.which(command[0]) is None:
        return explain(
            "No C compiler: {} is not on the PATH (CC=... chooses another).".format(
                command[0]
            ),
            *packages,
        )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE)
        process = subprocess.run(
            [*command, "-c", str(source), "-o", str(source.with_suffix(".o"))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    if process.returncode != 0:
        return explain(
            "The C compiler cannot build a program that includes stdlib.h:\n"
            + process.stdout.decode("utf-8", "replace").strip(),
            *packages,
        )
    return None


def problems():
    """Everything that is missing, as a list of paragraphs."""
    interpreter = check_interpreter(
        sys.version_info, sys.implementation.name, sys.executable
    )
    if interpreter:
        return [interpreter]  # what another interpreter lacks is not known yet
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    found = [
        check_venv(),
        check_headers(sysconfig.get_path("include")),
        check_compiler(shlex.split(compiler)),
    ]
    return [problem for problem in found if problem]


def main():
    """Print what is missing; 1 if anything is."""
    found = problems()
    if found:
        print("refarray cannot be built here yet.\n", file=sys.stderr)
        print("\n\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
