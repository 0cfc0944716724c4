"""Sufficient statistics that add up: moments, counts of categories, sums of counts, words."""

from tallybayes.tallies.codes import Codes
from tallybayes.tallies.counts import Counts
from tallybayes.tallies.moments import Moments
from tallybayes.tallies.tally import Tally, TallyBlock
from tallybayes.tallies.words import WordCounts

__all__ = ["Codes", "Counts", "Moments", "Tally", "TallyBlock", "WordCounts"]
