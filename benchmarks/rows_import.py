"""What `import refarray` costs: processor time of a fresh process, NumPy's included."""

from __future__ import annotations

from benchmarks.harness import Row, child_process


def rows() -> list[Row]:
    """Return the one row."""
    return [
        Row(
            "import, processor time",
            {
                "refarray": child_process("import refarray"),
                "numpy": child_process("import numpy"),
            },
            {"numpy": 1.15},
        )
    ]
