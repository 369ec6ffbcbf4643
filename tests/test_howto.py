"""The code of the how-to pages runs, as a reader would run it."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[1] / "docs" / "howto"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_what_find_what_is_not_portable_prints(capsys):
    page = "find-what-is-not-portable.md"
    text = (PAGES / page).read_text()
    namespace = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), namespace)
    promised = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
    assert capsys.readouterr().out == promised


@pytest.fixture
def add_dlpack():
    namespace = {}
    for block in blocks("add-dlpack.md"):
        exec(compile(block, "add-dlpack.md", "exec"), namespace)
    return namespace


def test_the_mapped_file_of_add_dlpack(add_dlpack, tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4.0).tobytes())
    a = np.from_dlpack(add_dlpack["Mapped"](path))
    a[1] = 7.0
    b = np.from_dlpack(add_dlpack["Mapped"](path))
    assert b.tolist() == [0.0, 7.0, 2.0, 3.0]


def test_the_address_of_add_dlpack(add_dlpack):
    a = np.from_dlpack(add_dlpack["tensor"])
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not a.flags.writeable
