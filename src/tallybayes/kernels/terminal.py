"""Whether a word may be said on the terminal about work that takes long.

The library says so on its own: that kernels are being compiled, how many folds are done. A program
that speaks to its users itself, such as the command line when it is told to be quiet, turns it off.
"""

from __future__ import annotations

silent = False
