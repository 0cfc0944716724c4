"""The lecture on a page: one record worked through by hand, as text, Markdown, LaTeX and HTML."""

from tallybayes.explanations.working.html_page import STYLE
from tallybayes.explanations.working.working import Working, working

__all__ = ["STYLE", "Working", "working"]
