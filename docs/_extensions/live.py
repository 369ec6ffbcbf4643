"""Directives for those parts of the reference that the code itself knows best.

    ```{struct} DLTensor
    ```
        The fields of a C struct: offset, type and size, as the compiler laid them out.

    ```{members} refarray._standard.set_functions
    ```
        Each public function of a module, after the errors that they have in common.

    ```{operators}
    ```
        Which operator is which function of the standard.

    ```{constants} refarray.dlpack.structs.TypeCode
    ```
        The names and values of an enumeration.

    ```{dtypes}
    ```
        Every dtype, with its kind and what DLPack calls it.

Each writes Markdown or reStructuredText, which Sphinx then reads.
"""

from __future__ import annotations

import inspect
import operator
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

import refarray
from refarray._base.dtypes import HELD, STANDARD
from refarray._native import ffi
from refarray.dlpack.structs import TypeCode

# So that autodoc finds them by their public names: they are no files of their own.
for name in ("linalg", "fft"):
    sys.modules[f"refarray.{name}"] = getattr(refarray, name)


class Written(Directive):
    """A directive that writes Markdown from its argument."""

    optional_arguments = 1

    def write(self, argument: str) -> list[str]:
        """Return lines of Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Have them read as if they stood in the page."""
        lines = self.write(*self.arguments[:1])
        parent = nodes.Element()
        source = self.state.document["source"]
        self.state.nested_parse(StringList(lines, source), self.content_offset, parent)
        return parent.children


class Struct(Written):
    """The directive `struct`."""

    def write(self, argument: str) -> list[str]:
        """Return the table of its fields, with those of structs within."""
        struct = ffi.typeof(argument)
        size = ffi.sizeof(struct)
        rows = ["| offset | field | C type | bytes |", "| ---: | --- | --- | ---: |"]
        rows += [f"| {o} | `{n}` | `{t}` | {s} |" for o, n, t, s in fields(struct)]
        return [*rows, "", f"{size} bytes in all, aligned to {ffi.alignof(struct)}."]


def fields(struct: Any, path: str = "", base: int = 0) -> list[tuple[Any, ...]]:
    """Return offset, path, type and size of each field that is no struct itself."""
    out = []
    for name, field in struct.fields:
        where = base + field.offset
        if field.type.kind == "struct":
            out += fields(field.type, f"{path}{name}.", where)
        else:
            size = ffi.sizeof(field.type)
            out.append((where, path + name, field.type.cname, size))
    return out


class Members(Written):
    """The directive `members`."""

    def write(self, argument: str) -> list[str]:
        """Return the module's own words and the entries of its public functions."""
        module = import_module(argument)
        namespace, names = public(module)
        lines = about(module) if namespace == "refarray" else []
        lines += ["", "```{eval-rst}"]
        lines += [f".. currentmodule:: {namespace}", ""]
        for name in names:
            thing = getattr(sys.modules[namespace], name)
            if not callable(thing):
                continue  # a constant has no docstring of its own
            kind = "class" if inspect.isclass(thing) else "function"
            lines += [f".. auto{kind}:: {namespace}.{name}"]
            lines += ["   :members:", ""] if kind == "class" else [""]
        return [*lines, "```"]


def public(module: ModuleType) -> tuple[str, list[str]]:
    """Return the namespace that a module's functions belong to, and their names."""
    category = module.__name__.rpartition(".")[2]
    if category in ("linalg", "fft"):
        return f"refarray.{category}", list(module.__all__)
    if not module.__name__.startswith("refarray._standard"):
        return module.__name__, list(module.__all__)
    names = [name for name in refarray.__all__ if name in vars(module)]
    mine = [name for name in names if getattr(refarray, name) is vars(module)[name]]
    return "refarray", [
        name
        for name in mine
        if getattr(getattr(refarray, name), "__module__", "") == module.__name__
        or name in EXTRA.get(category, ())
    ]


#: What a category has from elsewhere: from_dlpack begins in C.
EXTRA = {"creation_functions": ("from_dlpack",)}


def about(module: ModuleType) -> list[str]:
    """Return what a category says of all its functions."""
    paragraphs = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    first = paragraphs[0].split(". ", 1)
    kept = [first[1]] if len(first) == 2 and "Source:" in first[1] else []
    kept += [text for text in paragraphs[1:] if not text.startswith("Next:")]
    return "\n\n".join(kept).split("\n")


class Operators(Written):
    """The directive `operators`."""

    def write(self, argument: str = "") -> list[str]:
        """Return the table of operators, found by using each of them."""
        binary = {
            "x1 + x2": operator.add,
            "x1 - x2": operator.sub,
            "x1 * x2": operator.mul,
            "x1 / x2": operator.truediv,
            "x1 // x2": operator.floordiv,
            "x1 % x2": operator.mod,
            "x1 ** x2": operator.pow,
            "x1 @ x2": operator.matmul,
            "x1 & x2": operator.and_,
            "x1 | x2": operator.or_,
            "x1 ^ x2": operator.xor,
            "x1 << x2": operator.lshift,
            "x1 >> x2": operator.rshift,
            "x1 == x2": operator.eq,
            "x1 != x2": operator.ne,
            "x1 < x2": operator.lt,
            "x1 <= x2": operator.le,
            "x1 > x2": operator.gt,
            "x1 >= x2": operator.ge,
        }
        unary = {
            "-x": operator.neg,
            "+x": operator.pos,
            "~x": operator.invert,
            "abs(x)": operator.abs,
        }
        rows = ["| operator | function |", "| --- | --- |"]
        for text, use in (binary | unary).items():
            name = _asked_for(use, 2 if text in binary else 1)
            shown = text.replace("|", "\\|")
            rows.append(f"| `{shown}` | {{py:func}}`refarray.{name}` |")
        return rows


class Constants(Written):
    """The directive `constants`."""

    def write(self, argument: str) -> list[str]:
        """Return the table of an enumeration."""
        module, _, name = argument.rpartition(".")
        rows = ["| value | name |", "| ---: | --- |"]
        for member in getattr(import_module(module), name):
            rows.append(f"| {int(member)} | `{member.name}` |")
        return rows


class Dtypes(Written):
    """The directive `dtypes`."""

    def write(self, argument: str = "") -> list[str]:
        """Return the table of dtypes."""
        rows = ["| dtype | kind | type code | bits |", "| --- | --- | --- | ---: |"]
        for dtype in STANDARD + HELD:
            code = f"`{TypeCode(dtype.code).name} = {dtype.code}`"
            name = f"`refarray.{dtype}`" if dtype in STANDARD else f"`{dtype}`"
            rows.append(f"| {name} | {dtype.family} | {code} | {dtype.bits} |")
        return rows


class _Witness:
    """A namespace that remembers which function was wanted."""

    def __init__(self) -> None:
        self.asked = ""

    def __getattr__(self, name: str) -> Any:
        self.asked = name
        return getattr(refarray, name)


def _asked_for(use: Any, operands: int) -> str:
    from refarray._compute import operators

    x = refarray.ones((2, 2), dtype=refarray.int64)
    witness, real = _Witness(), operators.standard
    operators.use_functions(witness)  # type: ignore[arg-type]
    try:
        use(*[x] * operands)
    except TypeError:
        pass  # no integers for `/`; it was asked for all the same
    finally:
        operators.use_functions(real)
    return witness.asked


def skip(app: Sphinx, kind: str, name: str, thing: Any, out: bool, _: Any) -> bool:
    """Leave out what says no more than its name: the fields of a named tuple."""
    return out or str(getattr(thing, "__doc__", "")).startswith("Alias for field")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.connect("autodoc-skip-member", skip)
    app.add_directive("struct", Struct)
    app.add_directive("members", Members)
    app.add_directive("operators", Operators)
    app.add_directive("constants", Constants)
    app.add_directive("dtypes", Dtypes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
