"""Every character with a name is cut by the compiled loops as Python cuts it."""

# ruff: noqa: RUF001 - letters that look like others are the point

import sys
import unicodedata
from collections import Counter

import pytest

from tallybayes import Words
from tiers import crossed
from tokenizer.readers import compiled_bags

ALL = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
TOKENS = ["words", "unicode", "whitespace", "characters"]


def is_one_of_many(char):
    """Tell whether a character is nobody's, an ideograph or a syllable: some of those will do."""
    name = unicodedata.name(char, "")
    return not name or name.startswith(("CJK UNIFIED", "HANGUL SYLLABLE", "TANGUT IDEOGRAPH"))


CHARACTERS = [char for k, char in enumerate(ALL) if k % 97 == 0 or not is_one_of_many(char)]


@pytest.mark.parametrize(
    ("tokens", "lowercase", "strip"), crossed(TOKENS, [True, False], [True, False], every=3)
)
def test_every_character_between_letters(tokens, lowercase, strip):
    """Each is a word of its own, or ends one, or joins two."""
    words = Words(
        tokens,
        lowercase=lowercase,
        strip_accents=strip,
        min_length=None if tokens == "characters" else 1,
    )
    lines = [
        " ".join(f"{k % 256:x}q{char}Q" for k, char in enumerate(CHARACTERS[start : start + 4096]))
        for start in range(0, len(CHARACTERS), 4096)
    ]
    assert compiled_bags(words, lines) == [Counter(words.terms(line)) for line in lines]


def test_a_capital_sigma_is_final_only_behind_a_letter():
    words = Words(min_length=1)
    documents = ["ΟΔΟΣ", "Σ", "ΣΑΣ", "ΑΣ ΑΣ", "Α.Σ.", "ΑΣ.Α", "ΑΣ9", "9Σ", "ΑΣ\u0301", "ΑΣ\u0301Α"]
    found = compiled_bags(words, documents)
    assert found == [Counter(words.terms(text)) for text in documents]
    assert found[0] == {"οδος": 1}
    assert found[1] == {"σ": 1}
    assert found[2] == {"σας": 1}


def test_the_dotted_capital_becomes_two_characters():
    assert compiled_bags(Words("whitespace"), ["İstanbul"]) == [{"i\u0307stanbul": 1}]
    assert compiled_bags(Words("unicode"), ["İstanbul"]) == [{"i\u0307stanbul": 1}]
    assert compiled_bags(Words(), ["İstanbul"]) == [{"stanbul": 1}]
    assert compiled_bags(Words(strip_accents=True), ["İstanbul"]) == [{"istanbul": 1}]


def test_a_character_may_become_many():
    """The longest of them in its compatibility form has 18 letters."""
    text = "\ufdfa" * 1000
    for tokens in TOKENS:
        words = Words(tokens, strip_accents=True)
        assert compiled_bags(words, [text]) == [Counter(words.terms(text))]
