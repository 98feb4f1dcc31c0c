"""How Sphinx renders the pages that docs/hooks/build_site.py lays out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "hooks"))

project = "spiel_dl"
html_title = "spiel_dl"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_static_path = [str(Path(__file__).parent / "stylesheets")]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "monokai"
python_maximum_signature_line_length = 80
add_module_names = False
python_use_unqualified_type_names = True
suppress_warnings = ["toc.not_included"]  # reports, which docs/results.md links
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4


def setup(app: Sphinx) -> None:
    """Formulas become MathML, which browsers show without any script."""

    def visit(self: Any, node: nodes.Element) -> None:
        is_inline = isinstance(node, nodes.math)
        self.body.append(latex2mathml.tex2mathml(node.astext(), as_block=not is_inline))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
