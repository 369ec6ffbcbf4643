"""Compare the stubs of the compiled modules with the modules: part of `make types`.

stubtest of mypy, after the modules have got their functions, which they do at import of
what belongs to them. Exit status 1 if a stub is wrong or incomplete.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mypy import stubtest

import refarray.testing.exchange
import refarray.testing.forge  # noqa: F401 (both add functions to _forge)

MODULES = ["refarray._native", "refarray.testing._forge"]

#: Right, and not to be had otherwise: Python shows `__buffer__` from 3.12 on, and the
#: modulus of CPython's pow cannot be left out of its signature.
ALLOWED = r"""
refarray\._native\.(ArrayBase|Buffer)\.__buffer__
refarray\._native\.ArrayBase\.__r?pow__
"""


def main() -> int:
    """Run stubtest; its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "allowed"
        allowed.write_text(ALLOWED)
        options = ["--allowlist", str(allowed), "--ignore-unused-allowlist"]
        options += ["--ignore-disjoint-bases", "--concise", *MODULES]
        return stubtest.test_stubs(stubtest.parse_options(options))


if __name__ == "__main__":
    sys.exit(main())
