"""The code beside the text: a page for each file of the code that is linked to.

A link in a page of docs/ that leads out of it, such as
`[add](../../refarray/_standard/elementwise_functions.py#L49)`, works where the files
lie. In the built pages it leads to the same line of a highlighted copy,
`code/....html`; so do the links "[source]" in the API.
"""

from __future__ import annotations

import html
import inspect
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+)(#[^)\s]*)?(?=\))")

#: What is shown whether or not a page links to it: what "[source]" may lead to.
ALWAYS = ("refarray/*.py", "refarray/*/*.py", "_cffi_build/*.[ch]")


def redirect(app: Sphinx, docname: str, content: list[str]) -> None:
    """Let the links of a page that lead to code lead to its copy."""
    if not app.env.doc2path(docname).suffix == ".md":
        return
    here = posixpath.dirname(docname)

    def copied(found: re.Match[str]) -> str:
        path = file_of(here, found[1])
        if path is None:
            return found[0]
        return f"code:{posixpath.relpath(address(path), here or '.')}{found[2] or ''}"

    content[0] = LINK.sub(copied, content[0])


def file_of(folder: str, link: str) -> str | None:
    """Return the file that a link means, by its path in the repository, or None."""
    path = posixpath.normpath(posixpath.join("docs", folder, link))
    outside = not path.startswith(("docs/", ".."))
    return path if outside and (ROOT / path).is_file() else None


def address(path: str) -> str:
    """Return where the copy of a file stands."""
    return f"code/{path}.html"


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the link "[source]" of an entry in the API; all stand in reference/api."""
    thing: Any = sys.modules.get(info["module"])
    try:
        for name in info["fullname"].split("."):
            thing = getattr(thing, name)
        thing = inspect.unwrap(getattr(thing, "fget", thing))
        path = Path(inspect.getsourcefile(thing) or "").resolve()
        line = inspect.getsourcelines(thing)[1]
        file = path.relative_to(ROOT).as_posix()
    except (AttributeError, TypeError, ValueError, OSError):
        return None  # written in C, or a constant
    return f"../../{address(file)}#L{line}"


def linked(app: Sphinx) -> set[str]:
    """Return the files that any page links to."""
    found = set()
    for docname in app.env.found_docs:
        text = app.env.doc2path(docname).read_text(encoding="utf-8")
        for link in LINK.finditer(text):
            found.add(file_of(posixpath.dirname(docname), link[1]))
    return {path for path in found if path}


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the copies."""
    if app.builder.format != "html":
        return
    files = linked(app)
    for some in ALWAYS:
        files |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob(some)}
    for path in sorted(files):
        text = (ROOT / path).read_text(encoding="utf-8")
        body = f"<h1><code>{html.escape(path)}</code></h1>\n{coloured(path, text)}"
        context = {"title": path, "body": body}
        yield address(path).removesuffix(".html"), context, "page.html"


def coloured(path: str, text: str) -> str:
    """Return a file as HTML, each line with its number for an id: `L49`."""
    try:
        lexer = get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    formatter = HtmlFormatter(linenos="inline", linespans="L", wrapcode=True)
    lines = highlight(text, lexer, formatter).replace('id="L-', 'id="L')
    return f'<div class="code-file">{lines}</div>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite the links as pages are read; write the copies when all is read."""
    app.connect("source-read", redirect)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
