"""What tests of several folders share."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

import pytest

from refarray import _native
from refarray._base import profile
from refarray.memory import statistics

COMPILER = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"

#: What a test may say that it needs of the system: whether it is there, and the words
#: with which the test is skipped if not.
NEEDS = {
    "GIL": (
        not sysconfig.get_config_var("Py_GIL_DISABLED"),
        "this Python is free-threaded",
    ),
    "fork": (hasattr(os, "fork"), "this system has no fork"),
    "C compiler": (
        sys.platform != "win32" and shutil.which(COMPILER.split()[0]) is not None,
        "no C compiler that is called as cc is",
    ),
    "bash": (
        sys.platform != "win32" and shutil.which("bash") is not None,
        "no bash that starts this Python by its path",
    ),
    "wait4": (hasattr(os, "wait4"), "this system does not say what a child cost"),
    "RLIMIT_AS": (
        sys.platform == "linux",
        "this system does not limit the address space of a process",
    ),
    "mprotect": (sys.platform != "win32", "closes pages with mprotect"),
    "glibc": (
        sys.platform == "linux",
        "reads /proc, and asks glibc to give memory back",
    ),
    "fake CUDA driver": (
        sys.platform == "linux",
        "the fake CUDA driver is a Linux library",
    ),
    "shadow": (
        sys.platform == "linux",
        "the host can read device memory of the simulation on this system",
    ),
}


def pytest_configure(config):
    """Tell pytest of the marker."""
    config.addinivalue_line(
        "markers", f"needs(what): skipped where there is none ({', '.join(NEEDS)})"
    )


def pytest_runtest_setup(item):
    """Skip a test where the system lacks what it is marked to need."""
    for mark in item.iter_markers("needs"):
        for what in mark.args:
            there, words = NEEDS[what]
            if not there:
                pytest.skip(words)


class Balance:
    """Assert, on leaving, that memory and tensors are where they were on entering."""

    def __enter__(self):
        gc.collect()
        self.before = statistics()
        return self

    def __exit__(self, *error):
        if error[0] is None:
            gc.collect()
            after = statistics()
            for name in ("live_bytes", "live_buffers"):
                assert getattr(after, name) == getattr(self.before, name), name
            for made, deleted in (
                ("exported", "exports_deleted"),
                ("imported", "imports_deleted"),
            ):
                held = getattr(self.before, made) - getattr(self.before, deleted)
                assert getattr(after, made) - getattr(after, deleted) == held, made


def pytest_collection_finish():
    """Let no collection of garbage look through the tests that pytest has found.

    There are thousands, kept to the end, and many tests collect garbage.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def balance():
    """`with balance:` asserts that what is made inside is given back inside."""
    return Balance()


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if no profile had been used: after one was, refarray takes no shortcut."""
    was_used = profile.guarded
    monkeypatch.setattr(profile, "guarded", False)
    _native.register_guard(None, None)
    yield
    if was_used:
        for hook in profile.on_guard:
            hook()
