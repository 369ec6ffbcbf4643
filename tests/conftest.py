"""What tests of several folders share."""

from __future__ import annotations

import gc

import pytest

from refarray.memory import statistics


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
