"""Tallies of many pieces, added up in pairs.

To add a piece costs as much as the greater of the two tallies has keys. Adding each piece to the
sum of all before it is quadratic in the keys if every piece brings new ones, such as ids. So sums
of as many pieces are added, as a binary counter carries: each key takes part log2(pieces) times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallybayes.tallies.tally import Tally


class PairwiseSum:
    """The sum of tallies that come one by one, whose memory may be used again."""

    def __init__(self) -> None:
        self._sums: list[tuple[int, Tally]] = []  # pieces and their sum, ever fewer pieces

    def add(self, tally: Tally) -> None:
        """Take another piece into the sum."""
        pieces = 1
        while self._sums and self._sums[-1][0] == pieces:
            pieces *= 2
            tally = self._sums.pop()[1].plus(tally, reuse=True)
        self._sums.append((pieces, tally))

    def total(self) -> Tally | None:
        """Return the sum, and begin anew; None if there were no pieces."""
        total: Tally | None = None
        while self._sums:
            tally = self._sums.pop()[1]
            total = tally if total is None else tally.plus(total, reuse=True)
        return total
