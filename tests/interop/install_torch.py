"""Install torch for the tests here, if the build that pip finds is for the CPU only.

On the public index, torch for Linux comes with several GB of CUDA libraries, which no
test here needs. So pip is asked first what it would install. The environment variable
TORCH_ANY=1 takes whatever it finds.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from typing import Any

#: The release whose behaviour test_torch.py states.
TORCH = "torch==2.13.0"

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]

#: Packages that only a build for GPUs depends on.
FOR_GPUS = re.compile(r"nvidia-|cuda-|(pytorch-)?triton")

LEFT_OUT = """\
torch is left out, and tests/interop/test_torch.py will be skipped: {reason}.
To run it, let pip find a build for the CPU (versions of these end in +cpu), through
PIP_FIND_LINKS or PIP_INDEX_URL, and run `make interop` again; or put any torch into
.venv yourself; or take the one that pip found with `make interop TORCH_ANY=1`."""


def plan() -> list[dict[str, Any]] | str:
    """Return the packages that pip would install, or why there is no torch."""
    result = subprocess.run(
        [*PIP, "install", "--dry-run", "--report", "-", TORCH],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode == 0:
        return [item["metadata"] for item in json.loads(result.stdout)["install"]]
    if "No matching distribution" in result.stderr:
        return f"pip finds no {TORCH} for Python {sys.version.split()[0]}"
    sys.exit(f"pip could not say what {TORCH} would install:\n{result.stderr}")


def objection(packages: list[dict[str, Any]]) -> str | None:
    """Return why these are not for the CPU only, or None."""
    extra = sorted(p["name"] for p in packages if FOR_GPUS.match(p["name"].lower()))
    version = next(p["version"] for p in packages if p["name"].lower() == "torch")
    if extra:
        return (
            f"torch {version} is a build for GPUs and brings {len(extra)} packages for "
            f"them, several GB: {', '.join(extra[:3])}, ..."
        )
    local = version.partition("+")[2]
    if local not in ("", "cpu"):
        return f"torch {version} is a build for {local}"
    return None


def main() -> None:
    """Install torch, or say why not."""
    try:
        print(f"torch {importlib.metadata.version('torch')} is installed already")
        return
    except importlib.metadata.PackageNotFoundError:
        pass
    if os.environ.get("TORCH_ANY") != "1":
        packages = plan()
        reason = packages if isinstance(packages, str) else objection(packages)
        if reason:
            print(LEFT_OUT.format(reason=reason))
            return
    sys.exit(subprocess.call([*PIP, "install", TORCH]))


if __name__ == "__main__":
    main()
