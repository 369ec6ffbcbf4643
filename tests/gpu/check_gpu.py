"""Check refarray on a GPU: one script, under four minutes, one JSON line a check.

    python tests/gpu/check_gpu.py                  the CUDA driver of this machine
    python tests/gpu/check_gpu.py --fake           the fake of tests/cuda/fake, compiled
    python tests/gpu/check_gpu.py --simulated      refarray.testing.simulated_cuda

Each line says the check, its status (ok, failed or skipped), the reason, the seconds,
what was measured, and which parts were left out and why. The lines are also written to
check_gpu.jsonl in the folder `--out`, or that of the environment variable OUT. Each
check has a process and a time limit of its own, so a crash is one failed check. None
begins after `--deadline` seconds. Exit status: 1 if a check failed.

CuPy, torch, JAX and numba are used where they are installed. README.md says how to
prepare a machine that has a GPU and no network.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# The checkout first, then what tests of other folders share.
TESTS = HERE.parent
PATHS = [ROOT, HERE, TESTS, TESTS / "cuda", TESTS / "field"]
sys.path[:0] = map(str, PATHS)

from record import Record, merge  # noqa: E402


class Check(NamedTuple):
    """A function of a file here, and the seconds that it may take."""

    name: str
    file: str
    limit: int


CHECKS = (
    Check("environment", "checks_driver", 20),
    Check("contract", "checks_suites", 60),
    Check("contexts", "checks_driver", 45),
    Check("attributes", "checks_driver", 20),
    Check("order", "checks_exchange", 60),
    Check("exchange", "checks_exchange", 75),
    Check("jax_minus_one", "checks_exchange", 30),
    Check("pinned_and_managed", "checks_exchange", 45),
    Check("lifetime", "checks_exchange", 40),
    Check("compute", "checks_compute", 60),
    Check("costs", "checks_driver", 30),
    Check("negative", "checks_driver", 40),
    Check("import_orders", "checks_compute", 90),
    Check("speed", "checks_compute", 45),
    Check("array_api_tests", "checks_suites", 160),
)


def main() -> int:
    """Run the checks, or, in its process, one of them."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description="Check refarray on a GPU.")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--fake", action="store_const", const="fake", dest="target")
    target.add_argument(
        "--simulated", action="store_const", const="simulation", dest="target"
    )
    parser.add_argument("--deadline", type=float, default=225, metavar="SECONDS")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--suite", type=Path, help="a checkout of array-api-tests")
    parser.add_argument("--out", type=Path, default=os.environ.get("OUT"))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.set_defaults(target="driver")
    chosen = parser.parse_args()
    if chosen.child:
        return child(chosen)
    if chosen.out:
        chosen.out = Path(chosen.out)
        chosen.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        return run_all(chosen, Path(folder))


def run_all(chosen: argparse.Namespace, folder: Path) -> int:
    """Run the chosen checks one after the other; 1 if one failed."""
    start = time.monotonic()
    environ = environment(chosen, folder)
    failed = 0
    for check in CHECKS:
        if check.name not in chosen.only:
            continue
        left = chosen.deadline - (time.monotonic() - start)
        if left < 5:
            reason = f"the deadline of {chosen.deadline:g} s leaves no time"
            line: dict[str, Any] = {"status": "skipped", "reason": reason}
        else:
            line = run(check, chosen, folder, environ, min(left, check.limit))
        line = {"check": check.name, "target": chosen.target, **line}
        failed += line["status"] == "failed"
        text = json.dumps(line)
        print(text, flush=True)
        if chosen.out:
            with (chosen.out / "check_gpu.jsonl").open("a") as file:
                file.write(text + "\n")
    return 1 if failed else 0


def environment(chosen: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Return the environment variables of the children, by which they find a driver."""
    # JAX would take most of the memory at its first use.
    environ = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    paths = [*map(str, PATHS), environ.get("PYTHONPATH", "")]
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if chosen.target == "fake":
        from targets import compile_fake

        library = compile_fake(folder)
        others = environ.get("LD_LIBRARY_PATH", "")
        found = filter(None, [str(library.parent), others])
        environ["LD_LIBRARY_PATH"] = os.pathsep.join(found)
    if chosen.target == "simulation":
        environ["CUDA_VISIBLE_DEVICES"] = ""
    return environ


def run(
    check: Check,
    chosen: argparse.Namespace,
    folder: Path,
    environ: dict[str, str],
    limit: float,
) -> dict[str, Any]:
    """Run a check in a process of its own; what its line says."""
    path = folder / f"{check.name}.jsonl"
    command = [sys.executable, str(Path(__file__).resolve())]
    command += ["--child", check.name, str(path), str(limit)]
    if chosen.suite:
        command += ["--suite", str(chosen.suite.resolve())]
    option = {"fake": "--fake", "simulation": "--simulated"}.get(chosen.target)
    command += [option] if option else []
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        ended = f"ended with {process.returncode}" if process.returncode else ""
    except subprocess.TimeoutExpired:
        # With all that it started.
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        ended = f"stopped after {limit:.0f} s"
    line = merge(path)
    line["seconds"] = round(time.monotonic() - start, 2)
    if ended:
        line["status"] = "failed"
        line["reason"] = "; ".join(filter(None, [line["reason"], ended]))
    if line["status"] == "failed":
        line["output"] = output[-2000:]
    return line


def child(chosen: argparse.Namespace) -> int:
    """Run one check in this process, and write what it finds."""
    name, path, limit = chosen.child
    (check,) = (check for check in CHECKS if check.name == name)
    record = Record(Path(path), chosen.target, chosen.suite, float(limit))
    devices: Any = nullcontext()
    if chosen.target == "simulation":
        from refarray.testing.simulated_driver import simulated_cuda

        # Some checks leave out a wait, to see that it matters.
        devices = simulated_cuda(on_race="collect")
    with record.part(name), devices:
        getattr(__import__(check.file), name)(record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
