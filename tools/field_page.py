"""The page docs/reference/field.md, from the data that field.py collects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HEAD = """\
# Exchange with other libraries

Arrays went to and fro between refarray and each library: real packages, on a CPU unless
it says otherwise. Each library has a file of tests in `tests/field/`, and most of them
go through the same battery, `exchange.py`: values of every data type, addresses, eleven
layouts, writes seen on the other side, read-only memory, copies, and the life of the
memory, whoever goes first. What a library refuses or does wrong is a test too, so that
its repair is noticed. `make field` writes this page; `make field LIBRARIES="torch jax"`
writes two rows of it.

**Takes** counts the data types that the library takes of refarray's fourteen (those of
the standard, and float16), **gives** those that refarray takes from it. What is said of
one version may be repaired in the next. Which rules of DLPack each library keeps says
[the other table](dlpack-matrix.md).

"""

#: How many data types the battery has.
ALL = 14


def page(data: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page."""
    titles = ("Library", "Version", "Python", "Date", "Direction", "Takes", "Gives")
    counts = ("Works", "Refuses", "Bugs", "Tests")
    lines = ["| " + " | ".join((*titles, *counts)) + " |"]
    lines.append("| " + "--- | " * 5 + "---: | " * 6)
    lines[-1] = lines[-1].rstrip()
    for key, row in data.items():
        lines.append("| " + " | ".join([anchor(key, row), *cells(row)]) + " |")
    for key, row in data.items():
        lines += ["", f"(field-{key.replace('_', '-')})=", f"## {row['name']}", ""]
        lines += section(row)
    return HEAD + "\n".join(lines) + "\n"


def anchor(key: str, row: Mapping[str, Any]) -> str:
    """Return a link to the section of a library."""
    return f"[{row['name']}](#field-{key.replace('_', '-')})"


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row after the first."""
    if "reason" in row:
        return ["", row["python"], row["date"], "not installed", *[""] * 6]
    takes, gives = (types(row, word) for word in ("takes", "gives"))
    return [
        row["version"],
        row["python"],
        row["date"],
        row["directions"],
        *(str(len(names)) if names else "" for names in (takes, gives)),
        *(str(len(row[kind]) or "") for kind in ("works", "refuses", "bug")),
        str(row["tests"]),
    ]


def types(row: Mapping[str, Any], word: str) -> set[str]:
    """Return the data types of all statements about a library."""
    return {name for told in row["exchange"] for name in told.get(word, [])}


def section(row: Mapping[str, Any]) -> Iterator[str]:
    """Say all that is known of a library."""
    if "reason" in row:
        yield f"Tried: `{row['tried']}` (Python {row['python']}, {row['platform']})."
        yield f"It ended with: {plain(row['reason'])}."
        if row.get("about"):
            yield f"\n{row['about']}"
        return
    yield (
        f"{row['version']}, Python {row['python']}, {row['platform']}, {row['date']}; "
        f"{row['tests']} tests."
    )
    for told in row["exchange"]:
        about = f" ({told['about']})" if len(row["exchange"]) > 1 else ""
        if told.get("takes"):
            yield f"\nIt takes{about}:\n"
            yield from (f"- {line}" for line in taking(told))
        if told.get("gives"):
            yield f"\nIt gives{about}:\n"
            yield from (f"- {line}" for line in giving(told))
    for kind, title in (("works", "Also works"), ("refuses", "Refused")):
        if row[kind]:
            yield f"\n{title}:\n"
            yield from (f"- {sentence}." for sentence in row[kind])
    if row["bug"]:
        yield "\nWrong in this version:\n"
        yield from (f"- {bug['text']}{report(bug['url'])}." for bug in row["bug"])


def taking(told: Mapping[str, Any]) -> Iterator[str]:
    """Say what becomes of our arrays in a library."""
    refused = f"; others: {names_of(told['refusal'])}"
    yield types_of(told["takes"]) + (refused if len(told["takes"]) < ALL else "")
    for mine, its in told["converts"].items():
        yield f"{mine} becomes {its}"
    yield from layouts(told)
    words = {
        "kept": "read-only memory stays read-only",
        "lost": "it forgets that memory is read-only",
        "copied": "read-only memory is copied",
    }
    yield words.get(told["read_only"], f"read-only memory: {told['read_only']}")
    if told["asks"] is not None:
        keywords = ", ".join(f"{k}={shown(v)}" for k, v in told["asks"].items())
        yield f"it asks `__dlpack__({keywords})`"


def layouts(told: Mapping[str, Any]) -> Iterator[str]:
    """Say which layouts a library shares, copies and refuses."""
    refused: dict[str, list[str]] = {}
    for name, error in told["refused_layouts"].items():
        refused.setdefault(names_of(error), []).append(name)
    for error, names in refused.items():
        yield f"layouts not taken: {', '.join(names)} ({error})"
    if told["copied_layouts"]:
        yield f"copied layouts: {', '.join(told['copied_layouts'])}"
    others = (
        "every other layout" if refused or told["copied_layouts"] else "every layout"
    )
    yield f"{others} is copied" if told["copies"] else f"{others} without a copy"


def giving(told: Mapping[str, Any]) -> Iterator[str]:
    """Say what becomes of a library's arrays in refarray."""
    yield types_of(told["gives"])
    version = told["gives_version"]
    if version == "legacy":
        yield "legacy capsules, without a version"
    elif version is not None:
        yield f"capsules of DLPack {'.'.join(map(str, version))}"
    if not told["gives_writable"]:
        yield "its arrays are immutable, and read-only here"
    words = {
        "kept": "its read-only arrays are read-only here",
        "lost": "its read-only arrays do not say that they are",
    }
    if told["given_read_only"] is not None and told["gives_writable"]:
        state = told["given_read_only"]
        yield words.get(state, f"its read-only arrays: {state}")


def types_of(names: Sequence[str]) -> str:
    """Return data types in words."""
    return "every data type" if len(names) == ALL else ", ".join(names)


def names_of(errors: str | Sequence[str]) -> str:
    """Return exceptions by name, and other words as they are."""
    if not isinstance(errors, str):
        return " or ".join(map(names_of, errors))
    return errors if " " in errors else f"`{errors}`"


def shown(value: Any) -> str:
    """Return a value of JSON as Python writes it."""
    return repr(tuple(value) if isinstance(value, list) else value)


def report(url: str | None) -> str:
    """Return a link to a report, of others or of docs/upstream/, or nothing."""
    if url is None:
        return ""
    if url.startswith("docs/"):
        return f" ([shown here](../{url.removeprefix('docs/')}))"
    parts = url.rstrip("/").split("/")
    return f" ([{parts[-3]}#{parts[-1]}]({url}))"


def plain(text: str) -> str:
    """Return a text as Markdown that shows it."""
    for special in "\\`*_<>[]|":
        text = text.replace(special, "\\" + special)
    return text.rstrip(".")
