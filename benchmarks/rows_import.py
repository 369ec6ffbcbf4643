"""What `import refarray` costs: processor time of a fresh process, NumPy's included.

Next: report.py.
"""

from __future__ import annotations

from benchmarks.harness import Row, at_most, child_process
from benchmarks.libraries import libraries

MODULES = {
    "refarray": "refarray",
    "numpy": "numpy",
    "array-api-strict": "array_api_strict",
}


def rows() -> list[Row]:
    """Return the one row. torch and JAX take seconds, which this need not repeat."""
    measures = {
        name: child_process(f"import {module}")
        for name, module in MODULES.items()
        if name in libraries()
    }
    return [Row("import, processor time", measures, at_most(numpy=1.10))]
