"""Run refarray on distributed engines: the examples, and Cubed's own tests.

    python tools/engines.py             all of them
    python tools/engines.py mpi dask    these

Each engine is installed from the package index into an environment of its own; refarray
is this checkout. Ends with status 1 if an example does not get the right result, or if
Cubed's tests fail in another way than docs/howto/cubed.md says.

Cubed 0.28 needs Python 3.12: $PYTHON, or one that is found; without one it is 0.27.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clients import Failed, find_python
from environments import ROOT, Environment, NotInstalled

#: Seconds that a program may take.
PATIENCE = float(os.environ.get("ENGINE_PATIENCE", "1200"))

#: What to install for each engine, and how its example is started.
ENGINES = {
    "mpi": (
        ["mpi4py==4.1.2", "mpich==5.0.2"],
        ["mpiexec", "-n", "3", "python", "examples/distributed/mpi_ring.py"],
    ),
    "dask": (
        ["dask[array]==2026.8.0", "distributed==2026.8.0"],
        ["python", "examples/distributed/dask_workers.py"],
    ),
    "cubed": (
        [
            "cubed==0.28.0;python_version>='3.12'",
            "zarr==3.4.2;python_version>='3.12'",
            "cubed==0.27.0;python_version<'3.12'",
            "pytest>=8.2",
        ],
        ["python", "examples/distributed/cubed_workers.py"],
    ),
}

#: The tests of Cubed that do not pass, and why: they are not about refarray, or Cubed
#: does there what the standard does not have.
NOT_PASSING = {
    "test_matmul_cloud": "needs a store in a cloud, also with NumPy",
    "test_flip_zero_size_dim": "Zarr 3.4 refuses chunks of size 0, also with NumPy",
    "test_mean_axis_0": "divides by an array of integers",
    "test_mean_complex": "divides by an array of integers",
    "test_mean_int": "divides by an array of integers",
    "test_var": "mean(dtype=...)",
    "test_var_int": "mean(dtype=...)",
    "test_var__poorly_conditioned": "mean(dtype=...)",
    "test_std": "mean(dtype=...)",
    "test_concat_mixed_dtypes": "a common dtype of int32 and float64",
    "test_stack_mixed_dtypes": "a common dtype of int32 and float64",
}

#: How many must pass. With NumPy as the backend it is 346.
LEAST = 288


@dataclass(frozen=True)
class Engine(Environment):
    """The environment of one engine."""

    @property
    def requirements(self) -> list[str]:
        """What to install."""
        return ENGINES[self.name][0]

    @property
    def folder(self) -> Path:
        """Where it lies: beside those of the array libraries, and not among them."""
        return super().folder.with_name(f"engine-{self.name}")

    def interpreter(self) -> str:
        """Return the interpreter to make it with."""
        try:
            return find_python() if self.name == "cubed" else super().interpreter()
        except Failed:
            return super().interpreter()

    def run(self, command: list[str], where: Path = ROOT, **settings: str) -> int:
        """Run a command in it, with settings for the process; return its status."""
        program = self.folder / "bin" / command[0]
        ours = {k: v for k, v in os.environ.items() if not k.startswith("REFARRAY_")}
        path = f"{program.parent}{os.pathsep}{ours['PATH']}"
        try:
            ended = subprocess.run(
                [str(program), *command[1:]],
                cwd=where,
                env={**ours, "PATH": path, **settings},
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"it took over {PATIENCE:g} s")
            return 124
        return ended.returncode


def run_example(engine: Engine) -> bool:
    """Run the example, which checks its own results; tell whether they are right."""
    command = ENGINES[engine.name][1]
    print(f"\n{engine.name}: {' '.join(command)}", flush=True)
    return engine.run(command) == 0


def run_cubed_tests(engine: Engine) -> bool:
    """Run Cubed's tests of its array API; tell whether the result is as documented."""
    print("\ncubed: its own tests, with refarray as the backend", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        engine.run(
            [
                *("python", "-m", "pytest", "--pyargs", "cubed.tests.test_array_api"),
                *("-q", "--tb=no", "--no-summary", "-p", "no:cacheprovider"),
                f"--junit-xml={report}",
            ],
            where=Path(folder),
            CUBED_BACKEND_ARRAY_API_MODULE="refarray",
            REFARRAY_PROFILE="numpy_interop",
        )
        if not report.exists():
            print("the tests did not run to their end")
            return False
        return judge(ElementTree.parse(report).getroot())


def judge(report: ElementTree.Element) -> bool:
    """Print the counts and the reasons; tell whether both are as they should be."""
    counts, reasons, unexplained = Counter[str](), Counter[str](), []
    for case in report.iter("testcase"):
        name = case.get("name", "")
        if case.find("skipped") is not None:
            counts["skipped"] += 1
        elif case.find("failure") is None and case.find("error") is None:
            counts["passed"] += 1
        else:
            counts["failed"] += 1
            reason = NOT_PASSING.get(name.partition("[")[0])
            if reason is None:
                unexplained.append(name)
            else:
                reasons[reason] += 1
    for reason, number in reasons.most_common():
        print(f"  {number:3} fail: {reason}")
    for name in unexplained:
        print(f"  fails, and docs/howto/cubed.md does not say why: {name}")
    print(", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped")))
    if counts["passed"] < LEAST:
        print(f"at least {LEAST} should pass")
    return not unexplained and counts["passed"] >= LEAST


def run(name: str) -> bool:
    """Install one engine and run what there is for it; tell whether all is right."""
    engine = Engine(name)
    try:
        engine.build()
    except NotInstalled as reason:
        print(f"\n{name}: not installed: {reason}")
        return False
    right = run_example(engine)
    if name == "cubed":
        right &= run_cubed_tests(engine)
    return right


def main() -> None:
    """Run the engines that are named, all of them for none."""
    names = sys.argv[1:] or list(ENGINES)
    for name in names:
        if name not in ENGINES:
            sys.exit(f"there is no engine {name!r}; known: {', '.join(ENGINES)}")
    wrong = [name for name in names if not run(name)]
    if wrong:
        sys.exit(f"\nnot right: {', '.join(wrong)}")
    print(f"\nright: {', '.join(names)}")


if __name__ == "__main__":
    main()
