"""Text: what its words are, and documents as bags of them."""

from tallybayes.tokenizer.bags import Bagged, BagReader, Bags, Reading
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.terms import Terms
from tallybayes.tokenizer.words import Idf, Words, WordWeights

__all__ = [
    "BagReader",
    "Bagged",
    "Bags",
    "Documents",
    "Idf",
    "Reading",
    "Terms",
    "WordWeights",
    "Words",
]
