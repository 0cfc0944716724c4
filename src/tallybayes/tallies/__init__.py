"""Sufficient statistics that add up: moments, counts of categories, sums of counts, words."""

from tallybayes.tallies.blocks import Support, TallyBlock, register_block
from tallybayes.tallies.codes import Codes
from tallybayes.tallies.counts import Counts
from tallybayes.tallies.moments import Moments
from tallybayes.tallies.scatter import Scatters
from tallybayes.tallies.tally import Tally
from tallybayes.tallies.word_counts import WordCounts

__all__ = [
    "Codes",
    "Counts",
    "Moments",
    "Scatters",
    "Support",
    "Tally",
    "TallyBlock",
    "WordCounts",
    "register_block",
]
