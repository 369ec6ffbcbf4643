"""How Sphinx builds these pages: `make docs`.

Pages with `file_format: mystnb` at their top are run, each in a process of its own, and
show what they print; `_extensions/printed.py` compares that with what the page says.
The rest of `_extensions` makes those parts of the reference that the code knows best.
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_extensions"), str(ROOT)]

# Its first import builds a cache of fonts, and may print so: here, not on a page.
import matplotlib.font_manager  # noqa: E402, F401

# sphinx.ext.linkcode calls what has this name.
from sources import linkcode_resolve  # noqa: E402, F401

import refarray  # noqa: E402

project = "refarray"
author = "refarray developers"
copyright = "refarray developers, BSD 3-Clause"
version = release = refarray.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "sphinx_design",
    "printed",
    "live",
    "sources",
    "notebooks",
]
exclude_patterns = ["_build", "_extensions", "README.md"]

# ---- Pages -----------------------------------------------------------------------

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
# Links out of docs/ lead to copies of the files: `_extensions/sources.py` writes both.
myst_url_schemes = {"http": None, "https": None, "code": "{{path}}#{{fragment}}"}

# Every page that can be run is run, from nothing, and an error in it is an error here.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_merge_streams = True
os.environ.pop("REFARRAY_PROFILE", None)
os.environ["PYTHONPATH"] = str(ROOT)

# An expected error is shown by its last line, as IPython's mode `Minimal` has it.
_folder = tempfile.TemporaryDirectory(prefix="refarray-docs-")  # until the build ends
_ipython = Path(_folder.name)
(_ipython / "profile_default").mkdir()
(_ipython / "profile_default" / "ipython_kernel_config.py").write_text(
    'c = get_config()\nc.InteractiveShell.xmode = "Minimal"\n'
    'c.InteractiveShell.colors = "NoColor"\nc.HistoryManager.enabled = False\n'
    "c.IPKernelApp.log_level = 40\n"
)
os.environ["IPYTHONDIR"] = str(_ipython)

# ---- Docstrings --------------------------------------------------------------------

default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"

# ---- How it looks --------------------------------------------------------------------

html_theme = "furo"
html_title = "refarray"
html_static_path = ["_static"]
html_css_files = ["refarray.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "default"
pygments_dark_style = "github-dark"
