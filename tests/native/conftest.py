"""What the tests of the native module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from refarray import _native
from refarray._base import profile


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if no profile had been used: once one was, nothing is done in C."""
    was_used = profile.guarded
    monkeypatch.setattr(profile, "guarded", False)
    _native.register_guard(None, None)
    yield
    if was_used:
        for hook in profile.on_guard:
            hook()
