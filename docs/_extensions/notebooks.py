"""Each lesson, as a notebook to download: `notebooks/....ipynb`.

It holds the text and the cells, not what they printed: that is for the reader to see.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

#: What only Sphinx understands, and what stands for it in a notebook.
PLAIN = (
    (re.compile(r"^```\{output\}\n.*?^```\n?", re.DOTALL | re.MULTILINE), ""),
    (re.compile(r"^```\{literalinclude\} (\S+)\n.*?^```", re.DOTALL | re.MULTILINE),
     r"The program `\1`."),
    (re.compile(r"^:::+.*\n?", re.MULTILINE), ""),
    (re.compile(r"\{[\w:]+\}`([^`<]+?)(?: <[^`>]*>)?`"), r"`\1`"),
    (re.compile(r"\[([^\]]+)\]\{\.\w+\}"), r"*\1*"),
    (re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)"), r"\1"),
)  # fmt: skip


def notebook(text: str) -> nbformat.NotebookNode:
    """Return a page as a notebook."""
    out = read_myst_markdown_notebook(text)
    out.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for cell in out.cells:
        if cell.cell_type == "markdown":
            for pattern, replacement in PLAIN:
                cell.source = pattern.sub(replacement, cell.source)
            cell.source = cell.source.strip("\n")
    out.cells = [cell for cell in out.cells if cell.source]
    return out


def offer(
    app: Sphinx, docname: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Write the notebook of a page, and put the link to it under the page."""
    if not docname.startswith("tutorial/") or app.builder.format != "html":
        return
    text = app.env.doc2path(docname).read_text(encoding="utf-8")
    if not is_myst_markdown_notebook(text):
        return
    target = f"notebooks/{docname}.ipynb"
    path = Path(app.outdir) / target
    ensuredir(path.parent)
    nbformat.write(notebook(text), path)
    link = posixpath.relpath(target, posixpath.dirname(docname) or ".")
    context["body"] += (
        f'<p class="notebook"><a href="{link}" download>Download this page as a '
        "notebook</a>, to run it yourself.</p>"
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer a notebook where a lesson is written."""
    app.connect("html-page-context", offer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
