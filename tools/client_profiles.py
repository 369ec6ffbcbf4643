"""Run the tests of array-api-extra under each profile, and say why some fail.

    python tools/client_profiles.py              every profile
    python tools/client_profiles.py gpu mps      these again; the others stay

Its backend `array_api_strict` is refarray, under the profile in REFARRAY_PROFILE, in
the environment that `clients.py` makes. Each failure belongs to one of the causes
below, or the tool ends with status 1. Writes docs/reference/client-profiles.md, and its
data to client-profiles.json beside it.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from client_suites import SUITES
from clients import ROOT, Environment, build_wheel, environment_of, report_of, run_suite

from refarray import profiles

PAGE = ROOT / "docs" / "reference" / "client-profiles.md"
DATA = PAGE.with_suffix(".json")

EXTRA = next(suite for suite in SUITES if suite.name == "array-api-extra")
CLIENT, DESIGN = "the client's", "by design"

# A seed, so that the page says the same each time.
PROFILES = tuple(
    "adversarial,seed=1" if name == "adversarial" else name
    for name in profiles.NAMES
    if name != "strict"
)


@dataclass(frozen=True)
class Cause:
    """Why tests fail: where and with what words, whose fault that is, and why."""

    where: str
    says: str
    fault: str
    why: str


_NO_VALUES = r"needs the values|no NumPy array can share|on another device"
_NO_SHAPES = r"no data-dependent shapes|no boolean indexing"
_TESTS = r"^(tests|testing)/"

CAUSES = (
    Cause(
        r"^_at\.py",
        r"immutable",
        CLIENT,
        "`at` writes to the array, since `is_writeable_array` takes every array of an "
        "unknown library for writable. There is no way for a library to say no.",
    ),
    Cause(
        r"^_at\.py",
        _NO_SHAPES,
        CLIENT,
        "`at` with a mask uses boolean indexing. It has another way, with `where`, but "
        "chooses it by the name of the library, Dask or JAX, not by its capabilities.",
    ),
    Cause(
        r"^_agnostic/_indexing\.py",
        _NO_SHAPES,
        CLIENT,
        "`tril_indices` and `triu_indices` use `nonzero`, whose result has a size that "
        "depends on values; theirs does not. Its tests expect that of `strictest`.",
    ),
    Cause(
        r"^(_agnostic/_set|_lib/_helpers|_lazy)\.py",
        _NO_SHAPES,
        DESIGN,
        "The function is one of sets, with a result whose size depends on values, or "
        "was given one to apply.",
    ),
    Cause(
        r"^tests/main/test_at\.py",
        r"Regex pattern did not match",
        DESIGN,
        "The test expects the error about dtypes, and another one comes first.",
    ),
    Cause(
        _TESTS,
        _NO_SHAPES,
        DESIGN,
        "The test itself makes an array whose size depends on values, or uses a mask.",
    ),
    Cause(
        r"^_lazy\.py",
        _NO_VALUES,
        DESIGN,
        "`lazy_apply(as_numpy=True)` gives the array to NumPy, which cannot have it.",
    ),
    Cause(
        _TESTS,
        _NO_VALUES,
        DESIGN,
        "The test looks at the result, and under this profile nobody can without "
        "saying so: with Dask it would compute first, with a GPU copy to the host.",
    ),
    Cause(
        r"^(_agnostic|_lib)/",
        _NO_VALUES,
        CLIENT,
        "The function goes on by the value of an array, as in `if xp.any(...)`; under "
        "JAX's `jit` that is an error.",
    ),
    Cause(
        r"^_at\.py",
        r"None depends on values|selected shape \(None",
        DESIGN,
        "`at` with a mask, and values for the elements under it, whose number nobody "
        "knows here. Dask refuses too.",
    ),
    Cause(
        r"^_lib/_helpers\.py",
        r"Unsupported lazy shape",
        DESIGN,
        "The function needs a size, and says itself that it is not known.",
    ),
    Cause(
        r"^_lib/_helpers\.py",
        r"on lazy backends raises",
        CLIENT,
        "The function asserts that `unique_values` of a lazy library raises. It may "
        "also give an array of unknown size.",
    ),
    Cause(
        _TESTS,
        r"assert None not in actual_shape",
        DESIGN,
        "The assertion refuses unknown sizes, but for those of Dask, which it knows.",
    ),
    Cause(
        _TESTS,
        r"does not support (u?int|float|complex)\d+",
        DESIGN,
        "The test asks for a dtype that the device does not have.",
    ),
    Cause(
        r"^tests/main/test_inspection\.py",
        r"AssertionError",
        CLIENT,
        "The test takes for granted that the default dtypes are the same on every "
        "device; `info.default_dtypes(device=...)` says that they need not be.",
    ),
    Cause(
        r"^_agnostic/_statistical\.py",
        r"does not support float64",
        CLIENT,
        "`cov` computes in float64, whether or not the device has it.",
    ),
    Cause(
        _TESTS,
        r"dtypes do not match: int32 != int64",
        DESIGN,
        "The test compares with NumPy, whose default integers are int64.",
    ),
    Cause(
        _TESTS,
        r"(?s)test_set\.py.*Arrays are not equal",
        CLIENT,
        "`union1d` and `setdiff1d` promise sorted results, and return what "
        "`unique_values` gives; the order of that is left open by the standard.",
    ),
    Cause(
        r"^(_searching\.py|testing/)",
        r"(?s)searchsorted with NaN|test_searching\.py.*Arrays are not equal",
        CLIENT,
        "The tests of `searchsorted` look for NaN, and count on its place being the "
        "last; the standard leaves open where NaN is sorted.",
    ),
    Cause(
        _TESTS,
        r"(?s)test_elementwise\.py.*Max relative difference among violations: .*e-16",
        CLIENT,
        "The tests of `sinc` and `angle` compare the last binary digit, which the "
        "accuracy that the standard asks for does not promise.",
    ),
    Cause(
        r"^(_agnostic/_statistical|_lib/_helpers)\.py",
        r"UnspecifiedError: (bool\(\)|iteration) of an array on Device",
        CLIENT,
        "`cov`, `isin` and others read single values of an array that is on a device, "
        "one copy to the host for each; the standard leaves open whether they can.",
    ),
    Cause(
        r"^_agnostic/_elementwise\.py",
        r"UnspecifiedError: subtract with a result that uint\d+ cannot hold",
        CLIENT,
        "`isclose` subtracts unsigned integers; a negative difference wraps around.",
    ),
    Cause(
        _TESTS,
        r"UnspecifiedError: asarray",
        CLIENT,
        "The test makes an array in a way that the standard leaves open: 2 as a bool, "
        "no values without a dtype, a list of arrays without dimensions.",
    ),
    Cause(
        _TESTS,
        r"inf location mismatch",
        DESIGN,
        "The test wants the largest float64, which it has as a number by the name of "
        "the library; under this profile float32 is the default.",
    ),
    Cause(
        _TESTS,
        r"in test_(complex|2d)\n[\s\S]*relative difference .*: \d\.\d+e-08",
        CLIENT,
        "The test wants exact results of `atan2`. In float32, the default under this "
        "profile, NumPy's kernel for AVX-512 is off by less than the spacing of such "
        "numbers; on other processors the test passes.",
    ),
)


def frames(report: str) -> list[str]:
    """Return the files of array-api-extra in a report of pytest, innermost last."""
    return re.findall(r'File "[^"]*/array_api_extra/([^"]+)", line', report)


def cause_of(report: str) -> int | None:
    """Return the number of the first cause that the report of a failure fits."""
    where = (frames(report) or [""])[-1]
    for number, cause in enumerate(CAUSES):
        if re.search(cause.where, where) and re.search(cause.says, report):
            return number
    return None


def run(profile: str, environment: Environment) -> dict[str, Any]:
    """Run the tests under a profile, and return counts, and failures by cause."""
    suite = replace(
        EXTRA,
        name=f"profile {profile}",
        arguments=(*EXTRA.arguments[:-1], "strict and not strictest", "--tb=native"),
        variables={"REFARRAY_PROFILE": profile},
    )
    found = run_suite(suite, environment, "refarray")
    return summary(found, report_of(suite, environment, "refarray"))


def summary(found: dict[str, Any], report: Path) -> dict[str, Any]:
    """Return the counts of a run, and its failures by cause."""
    causes: Counter[int] = Counter()
    unexplained = {}
    for case in ElementTree.parse(report).iter("testcase"):
        for failure in (*case.findall("failure"), *case.findall("error")):
            number = cause_of(failure.text or "")
            if number is None:
                message = (failure.get("message") or "").partition("\n")[0]
                unexplained[f"{case.get('classname')}::{case.get('name')}"] = message
            else:
                causes[number] += 1
    return {
        "passed": found["passed"],
        "failed": found["failed"] + found["errors"],
        "skipped": found["skipped"],
        "causes": {str(number): causes[number] for number in sorted(causes)},
        "unexplained": unexplained,
    }


HEAD = """\
# array-api-extra under each profile

The tests of array-api-extra that run on array-api-strict, on refarray in its place,
under each of the [profiles](profiles.md): what stops working when a library cannot do
what NumPy can, and whose fault that is. `tools/client_profiles.py` writes this page.

"""


def page(data: dict[str, Any]) -> str:
    """Return the page."""
    rows = [
        f"{data['date']}, array-api-extra {data['array-api-extra']}.",
        "",
        f"| Profile | Passed | Failed: {CLIENT} | {DESIGN} | Unexplained | Causes |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for profile, found in data["profiles"].items():
        faults: Counter[str] = Counter()
        causes = []
        for number, count in found["causes"].items():
            faults[CAUSES[int(number)].fault] += count
            causes.append(f"[{int(number) + 1}](#{int(number) + 1}): {count}")
        cells = (
            f"`{profile}`",
            found["passed"],
            *(faults[CLIENT], faults[DESIGN], len(found["unexplained"])),
            ", ".join(causes),
        )
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    rows += ["", "## The causes", ""]
    for number, cause in enumerate(CAUSES, 1):
        rows += [
            f"### {number}",
            "",
            f"**{cause.fault.capitalize()}.** {cause.why}",
            "",
        ]
    return HEAD + "\n".join(rows).rstrip() + "\n"


def main() -> int:
    """Run the tests under the profiles that are named, and write the page."""
    chosen = sys.argv[1:] or list(PROFILES)
    for name in chosen:
        if name not in PROFILES:
            sys.exit(f"there is no profile {name!r} here; known: {' '.join(PROFILES)}")
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    results: dict[str, Any] = data.get("profiles", {})
    environment = environment_of(EXTRA)
    with tempfile.TemporaryDirectory() as folder:
        environment.build(build_wheel(Path(folder)))
    for profile in chosen:
        results[profile] = found = run(profile, environment)
        print(f"{profile}: {found['passed']} passed, {found['failed']} failed")
        for name, message in found["unexplained"].items():
            print(f"  {name}: {message}")
        data = {
            "date": datetime.date.today().isoformat(),
            "array-api-extra": environment.installed["array-api-extra"],
            "profiles": {name: results[name] for name in PROFILES if name in results},
        }
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(data), encoding="utf-8")
    return int(any(found["unexplained"] for found in data["profiles"].values()))


if __name__ == "__main__":
    sys.exit(main())
