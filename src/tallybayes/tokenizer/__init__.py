"""Text: what its words are, and documents as bags of them."""

from tallybayes.tokenizer.bags import Bagged, Bags, Reader, Reading
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.terms import Terms
from tallybayes.tokenizer.words import Idf, Words, WordWeights

__all__ = [
    "Bagged",
    "Bags",
    "Documents",
    "Idf",
    "Reader",
    "Reading",
    "Terms",
    "WordWeights",
    "Words",
]
