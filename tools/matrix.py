"""Check every library in an environment of its own, and publish what was found.

    python tools/matrix.py             all libraries
    python tools/matrix.py torch jax   these again; the others stay as they are

Writes docs/reference/dlpack-matrix.md, and its data to dlpack-matrix.json beside it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from environments import ADAPTERS, ROOT, Environment, NotInstalled, choose

from refarray.testing.rules import RULES

PAGE = ROOT / "docs" / "reference" / "dlpack-matrix.md"
DATA = PAGE.with_suffix(".json")

SIGNS = {"pass": "+", "fail": "**✗**", "weak": "✗", "crash": "**†**", "skip": ""}
SIGNS["unasked"] = "?"  # the rule is newer than what is known of the library

HEAD = """\
# DLPack in other libraries

Each library was held against the rules of [rules.md](rules.md) by
`python -m refarray check`, through its adapter in `adapters/`, on the CPU. `make
dlpack-matrix` writes this page.

**+** kept; **✗** broken; ✗ not kept, but only recommended; **†** the process crashed or
hung; empty: not applicable. What is said of one version may be repaired in the next.

"""


def check(environment: Environment) -> dict[str, Any]:
    """Check a library, and return what the page needs of it."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found.json")
        command = ["-m", "refarray", "check", str(ADAPTERS / f"{environment.name}.py")]
        ended = subprocess.run(
            [environment.python, *command, "--json", str(found)],
            cwd=folder,
            env=environment.variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.exists():
            said = ended.stderr.strip() or f"the check ended with {ended.returncode}"
            raise NotInstalled(said.splitlines()[-1])
        result = json.loads(found.read_text(encoding="utf-8"))
    rules = result.pop("rules")
    result["rules"] = {str(rule["rule"]): shortened(rule) for rule in rules}
    return dict(result)


def shortened(rule: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a judgement what rules.md says already."""
    is_weak = rule["verdict"] == "fail" and rule["level"] != "must"
    short: dict[str, Any] = {"verdict": "weak" if is_weak else rule["verdict"]}
    if rule["verdict"] in ("fail", "crash"):
        found = [(f["seen"], f["reproduce"]) for f in rule["findings"]]
        short["findings"] = [lasting(f"{seen}, in {how}") for seen, how in found]
    return short


def lasting(text: str) -> str:
    """Return a text without what differs from run to run: addresses."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", " ".join(text.split()))


def page(data: dict[str, Any]) -> str:
    """Return the page."""
    checked = {name: found for name, found in data.items() if "rules" in found}
    rows = ["| Library | Version | Python | System | Date | Kept | Broken | Crashes |"]
    rows.append("| --- | --- | --- | --- | --- | ---: | ---: | ---: |")
    for name, found in checked.items():
        verdicts = [rule["verdict"] for rule in found["rules"].values()]
        counts = [verdicts.count(word) for word in ("pass", "fail", "crash")]
        cells = [f"[{name}](#{name})", *(found[key] for key in ABOUT), *counts]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    missing = [f"- {n}: {f['reason']}" for n, f in data.items() if "rules" not in f]
    rows += ["", "Not checked:", "", *missing, ""] if missing else [""]
    rows.append("## Rule by rule\n")
    rows.append("| Rule | " + " | ".join(checked) + " |")
    rows.append("| ---: |" + " :-: |" * len(checked))
    for number in map(str, RULES):
        unasked = {"verdict": "unasked"}
        judged = [found["rules"].get(number, unasked) for found in checked.values()]
        verdicts = [rule["verdict"] for rule in judged]
        rows.append(f"| {number} | " + " | ".join(SIGNS[v] for v in verdicts) + " |")
    rows.append("\n## What was seen\n")
    for name, found in checked.items():
        rows.append(f"### {name}\n")
        broken = {n: r for n, r in found["rules"].items() if "findings" in r}
        for number, rule in broken.items():
            word = {"weak": "should", "fail": "must", "crash": "crash"}[rule["verdict"]]
            rows.append(f"- {number} ({word}): {plain(rule['findings'])}")
        rows.append("" if broken else "Every rule is kept.\n")
    return HEAD + "\n".join(rows).rstrip() + "\n"


ABOUT = ("version", "python", "platform", "date")


def plain(findings: list[str]) -> str:
    """Return the first finding as text for a list in Markdown, and how many follow."""
    text = findings[0]
    for special in "\\`*_<>[]|":
        text = text.replace(special, "\\" + special)
    others = len(findings) - 1
    return text + (f" (and {others} more)" if others else "")


def main() -> None:
    """Check the libraries that are named, and write the page."""
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for environment in choose(sys.argv[1:]):
        print(f"{environment.name} ...", end=" ", flush=True)
        try:
            environment.build()
            data[environment.name] = check(environment)
            print(f"{data[environment.name]['version']} checked")
        except NotInstalled as reason:
            # An earlier result stays; it has its date.
            data.setdefault(environment.name, {"reason": str(reason)})
            print(f"not checked: {reason}")
        data = dict(sorted(data.items()))
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(data), encoding="utf-8")


if __name__ == "__main__":
    main()
