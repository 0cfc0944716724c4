"""Text: what its words are, and documents as bags of them."""

from tallybayes.tokenizer.bagged import Bagged
from tallybayes.tokenizer.bags import Bags, Reading, expect_text
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.idf import Idf
from tallybayes.tokenizer.terms import Buckets, Terms
from tallybayes.tokenizer.words import Words

__all__ = [
    "Bagged",
    "Bags",
    "Buckets",
    "Documents",
    "Idf",
    "Reading",
    "Terms",
    "Words",
    "expect_text",
]
