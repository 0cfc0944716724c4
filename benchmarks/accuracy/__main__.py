"""Measure accuracy on tables and corpora that are not shipped, and write docs/accuracy.md.

python -m benchmarks.accuracy           all parts
python -m benchmarks.accuracy text      some of them; the others stay as they were measured before
"""

import sys

from benchmarks.accuracy import calibrated, evidence, mail, tables, text, words
from benchmarks.run import DATA, Page

FIRST = (
    "Written by `make accuracy` (some parts of it: `python -m benchmarks.accuracy text`) from `accuracy.json`. "
    "The tables and documents are not shipped: most sources state no licence."
)
PARTS = {
    "evidence": evidence.part,
    "tables": tables.part,
    "calibrated": calibrated.part,
    "text": text.part,
    "words": words.part,
    "mail": mail.part,
}
PAGE = Page("accuracy", "Accuracy", FIRST, PARTS)

if __name__ == "__main__":
    if not DATA.exists():
        sys.exit(f"there is no data in {DATA}; set TALLYBAYES_DATA")
    PAGE.main()
