"""What a page says is printed, held against what is printed.

A page that runs says after each cell what it prints:

    ```{code-cell}
    print(x.shape, hex(address))
    ```

    ```{output}
    (2, 3) 0x...
    ```

The page shows what was really printed. `...` stands for anything within a line, and on
a line of its own for any lines. A cell that prints text and says nothing of it is an
error. For a cell with the tag `raises-exception`, the output ends with the last line of
the traceback. What a cell shows as a picture or table needs no text; if there is one,
it is compared with `str()` of what is shown.

In a sentence, {printed}`80` is text that a cell further up has printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from expected import agrees, has_printed, tidy
from myst_nb.core import render
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

log = logging.getLogger(__name__)


class expected_output(nodes.Element):
    """What the cell before it has to print; gone when it has been compared."""


class Output(Directive):
    """The directive `output`."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the node that waits for the comparison."""
        node = expected_output(text="\n".join(self.content))
        node.source, node.line = self.state_machine.get_source_and_line(self.lineno)
        return [node]


def printed(
    role: str, raw: str, text: str, line: int, *_: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the literal of the role `printed`."""
    node = nodes.literal(text, text, classes=["printed"])
    node.line = line
    return [node], []


class Compare(SphinxTransform):
    """Walk through a page that was run: cells, their outputs, what is said of them."""

    # Before the outputs are chosen for a builder: all of their forms are still there.
    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Compare, and take the expectations away."""
        above: list[str] = []
        unsaid: tuple[nodes.Element, str] | None = None
        rich: str | None = None  # what the cell just above prints, if it may be unsaid
        for node in list(self.document.findall(_is_of_interest)):
            if isinstance(node, nodes.literal):
                self._find(node, above)
                continue
            if isinstance(node, expected_output):
                real = unsaid[1] if unsaid else rich
                unsaid = rich = None
                self._hold_against(node, real)
                node.parent.remove(node)
                continue
            if unsaid:
                self._complain_unsaid(*unsaid)
            text, must_be_said = _text_of(node)
            above.append(text)
            unsaid = (node, text) if must_be_said else None
            rich = None if must_be_said else text
        if unsaid:
            self._complain_unsaid(*unsaid)

    def _hold_against(self, node: nodes.Element, real: str | None) -> None:
        said = node["text"]
        if real is None:
            log.warning("no cell stands before this output", location=node)
        elif not agrees(said, real):
            log.warning(
                "the cell does not print what the page says.\n--- said\n%s\n"
                "--- printed\n%s",
                *(tidy(said), tidy(real)),
                location=node,
            )

    def _complain_unsaid(self, node: nodes.Element, text: str) -> None:
        log.warning(
            "the page does not say what this cell prints; after it belongs\n"
            "```{output}\n%s\n```",
            tidy(text),
            location=node,
        )

    def _find(self, node: nodes.literal, above: list[str]) -> None:
        text = node.astext()
        if not any(has_printed(output, text) for output in above):
            log.warning("no cell above has printed %r", text, location=node)


def _is_of_interest(node: nodes.Node) -> bool:
    if isinstance(node, nodes.literal):
        return "printed" in node.get("classes", ())
    return isinstance(node, expected_output) or (
        isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"
    )


def _text_of(cell: nodes.container) -> tuple[str, bool]:
    """Return what a cell prints, and whether the page has to say so."""
    parts = list(_outputs(cell))
    return "\n".join(text for text, _ in parts), any(must for _, must in parts)


def _outputs(cell: nodes.container) -> Iterator[tuple[str, bool]]:
    for output in cell.children:
        if output.get("nb_element") != "cell_code_output":
            continue
        for part in output.children:
            if part.get("nb_element") == "mime_bundle":
                forms = {form.get("mime_type"): form for form in part.children}
                if "text/plain" in forms:
                    yield forms["text/plain"].astext(), len(forms) == 1
            elif isinstance(part, nodes.literal_block):
                yield part.astext().rstrip("\n"), True


def whole_streams(outputs: list[Any]) -> list[Any]:
    """Merge the pieces in which a stream arrived, before myst-nb does.

    A busy kernel may send half a line, and myst-nb ends a line after each piece.
    """
    merged: list[Any] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        stream = output["output_type"] == "stream" and output["name"]
        if stream and stream == last.get("name"):
            last["text"] += output["text"]
        else:
            merged.append(type(output)(output))  # the notebook keeps its own
    return _merge(merged)


_merge = render.coalesce_streams


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, the role and the comparison."""
    render.coalesce_streams = whole_streams
    app.add_node(expected_output)
    app.add_directive("output", Output)
    app.add_role("printed", printed)
    app.add_transform(Compare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
