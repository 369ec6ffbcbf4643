"""The table of README.md: refarray beside its neighbours, from what was measured.

    python tools/comparison.py             writes the table into README.md
    python tools/comparison.py --measure   measures pydlpack again first

It is made of the files in docs/reference/: which rules of DLPack were kept
(dlpack-matrix.json), which functions deviate from the standard (deviations.md), and the
times (speed.json), in units of NumPy's. pydlpack is none of the libraries of
`make bench`; its time stands in comparison.json.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from environments import ROOT, Environment

REFERENCE = ROOT / "docs" / "reference"
README = ROOT / "README.md"
DATA = REFERENCE / "comparison.json"
BEGIN, END = "<!-- tools/comparison.py -->\n\n", "<!-- end -->"

#: Heading, and the names in dlpack-matrix.json, deviations.md and speed.json.
COLUMNS = {
    "refarray": ("refarray", "refarray", "refarray"),
    "NumPy": ("numpy", "NumPy", "numpy"),
    "array-api-strict": ("array_api_strict", "array-api-strict", "array-api-strict"),
    "tvm-ffi": ("tvm_ffi", "", "tvm-ffi"),
    "pydlpack": ("pydlpack", "", "pydlpack"),
}

EXPORT = "numpy.from_dlpack(own array)"
WORKS = {
    "from_dlpack(numpy array)": "an import from NumPy",
    EXPORT: "an export to NumPy",
    "add(a, b), 3 elements": "an addition of 3 elements",
    "x[1:3]": "a slice",
}

#: Times an export by pydlpack and one by NumPy in turns; prints both, in seconds.
MEASURE = """
import timeit, numpy as np, dlpack
a = np.arange(3.0)
works = (lambda: np.from_dlpack(dlpack.asdlpack(a)), lambda: np.from_dlpack(a))
least = [1.0, 1.0]
for _ in range(40):
    for i, work in enumerate(works):
        least[i] = min(least[i], timeit.timeit(work, number=2000) / 2000)
print(*least)
"""


def read(name: str) -> Any:
    """Return the data of a page."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def measure() -> None:
    """Time pydlpack, in its environment."""
    environment = Environment("pydlpack")
    environment.build()
    said = subprocess.run(
        [environment.python, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    pydlpack, numpy = map(float, said.stdout.split()[:2])
    DATA.write_text(
        json.dumps({"work": EXPORT, "pydlpack": pydlpack, "numpy": numpy}) + "\n",
        encoding="utf-8",
    )


def deviating(name: str) -> int | None:
    """Return how many functions of a library deviate; None if it was not examined."""
    if name == "refarray":
        return 0  # the page says so, and the tests
    text = (REFERENCE / "deviations.md").read_text(encoding="utf-8")
    for section in text.split("\n## ")[1:]:
        if name and section.startswith(f"{name} "):
            demanded = section.partition("\nQuality, ")[0]
            return len(set(re.findall(r"^\| `([\w.]+)`", demanded, re.MULTILINE)))
    return None


def ratio(work: str, name: str) -> str:
    """Return a library's time for a work, in units of NumPy's."""
    rows = [row for rows in read("speed.json")["subjects"].values() for row in rows]
    values = next(row["values"] for row in rows if row["work"] == work)
    if name == "pydlpack" and work == EXPORT:
        values = read("comparison.json")
    if name not in values:
        return "-"
    times = values[name] / values["numpy"]
    return f"{times:.1f}" if times < 9.5 else f"{times:.0f}"


def table() -> str:
    """Return the table."""
    matrix = read("dlpack-matrix.json")

    def count(name: str, *verdicts: str) -> str:
        rules = matrix[name]["rules"].values()
        return str(sum(rule["verdict"] in verdicts for rule in rules))

    def functions(name: str) -> str:
        number = deviating(name)
        return "-" if number is None else str(number)

    # What each row says, and which of a column's three names it asks for.
    rows: dict[str, tuple[int, Callable[[str], str]]] = {
        "version": (0, lambda name: str(matrix[name]["version"])),
        "rules of DLPack kept": (0, lambda name: count(name, "pass")),
        "broken": (0, lambda name: count(name, "fail", "crash")),
        "array API 2025.12: functions that deviate": (1, functions),
    }
    for work, words in WORKS.items():
        rows[f"time of {words}"] = (2, lambda name, work=work: ratio(work, name))
    lines = [f"| | {' | '.join(COLUMNS)} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    for title, (which, cell) in rows.items():
        cells = [cell(names[which]) for names in COLUMNS.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def place(text: str) -> str:
    """Return a text with the table in its place."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{README.name} has no place for the table")
    return f"{before}{BEGIN}{table()}\n{END}{after}"


def main() -> None:
    """Write the table into README.md."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--measure", action="store_true", help="measure pydlpack")
    if parser.parse_args().measure:
        measure()
    README.write_text(place(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
