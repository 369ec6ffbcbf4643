"""`from_dlpack(copy=False)` raises two exceptions.

If a copy is needed and not allowed, the text of `copy` names BufferError, the text of
`device` and the section "Raises" name ValueError. A library that is to keep both has to
raise an exception of both kinds.

Rule: 57
Says: array API 2025.12, from_dlpack
Reported: no report found
Needs: a clone of array-api-tests with its submodule to run in
"""

import ast
import re
import sys
from pathlib import Path

stub = Path("array-api/src/array_api_stubs/_2025_12/creation_functions.py").read_text()
texts = {
    node.name: ast.get_docstring(node)
    for node in ast.parse(stub).body
    if isinstance(node, ast.FunctionDef)
}
parts = re.split(r"\n(?=(?:device|copy): |Returns\n|Raises\n)", texts["from_dlpack"])
for part in parts:
    name = part.split("\n")[0].split(":")[0]
    if name in ("device", "copy"):
        print(f"{name}:", sorted(set(re.findall(r"\w+Error", part))))
named = [set(re.findall(r"\w+Error", part)) for part in parts if part[:4] == "copy"]
sys.exit("ValueError" not in named[0] or "BufferError" in named[0])
