"""No byte before or behind a document is read: its neighbours are pages that kill who reads them.

Documents stand at the very end or the very beginning of the memory that may be read, through an
Arrow array over that memory. The reading is done in a process of its own, which must survive.
"""

import subprocess
import sys
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("needs mprotect, with the constants of Linux", allow_module_level=True)

GUARDED = """
import ctypes, mmap
import numpy as np
import pyarrow as pa

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
held = []

def guarded(pages):
    '''Return the address and the size of memory between two pages that nobody may touch.'''
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    held.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (start, start + (pages + 1) * PAGE):
        assert libc.mprotect(guard, PAGE, 0) == 0, ctypes.get_errno()
    return start + PAGE, pages * PAGE

def in_arrow(address, size, offset, n, kind=pa.binary()):
    '''Return n bytes of some memory as an Arrow array of one document.'''
    edges = pa.py_buffer(np.array([offset, offset + n], np.int32))
    return pa.Array.from_buffers(kind, 1, [None, edges, pa.foreign_buffer(address, size)])
"""

READ = """
import sys
sys.path.insert(0, sys.argv[1])
from tokenizer.readers import compiled_bags, plain_bags
from tallybayes import Words
from tallybayes.tokenizer.documents import Documents
from tallybayes.tokenizer.terms import Buckets, Terms

address, size = guarded(2)
ALPHABETS = ["aB 1_.", "aé\u0301Σ ", "日本 語", "\U0001f600\u200dΣa", "Σ", " ", "\u3000", "\u0301Σ"]
sizes = range(0, 36, 3)
raw = ["".join(a[k % len(a)] for k in range(n)).encode() for a in ALPHABETS for n in sizes]
# cut anywhere, inside a character too; and bytes that are no text
raw = sorted({each[:n] for each in raw for n in range(max(0, len(each) - 4), len(each) + 1)})
tails = [b"", b"\\xc3", b"\\xe2", b"\\xe2\\x82", b"\\x80", b"\\xff"]
tails += [b"\\xf0", b"\\xf0\\x9f", b"\\xf0\\x9f\\x98"]
raw += [b"Ab" * k + b"\\xce\\xa3" * j + tail for k in range(9) for j in (0, 1) for tail in tails]
raw += [tail + b"\\xce\\xa3b" * j for j in range(4) for tail in tails]
raw += [b"a" * (size - 1) + b"\\xf0", b"\\x80" * size, b"ab " * (size // 3)]
raw += [b"\\xce\\xa3" * (size // 2)]
every = [Words(), Words("unicode", (1, 2), strip_accents=True), Words("characters", (1, 3))]
every += [Words("whitespace", stop_words=["ab"], lowercase=False)]

def check(words, texts, known=None):
    for text in texts:
        expected = plain_bags(words, [text.decode("utf-8", "replace")], known)
        for offset in (0, size - len(text)):
            ctypes.memset(address, 0x41, size)  # letters all around
            ctypes.memmove(address + offset, text, len(text))
            documents = Documents(pa.chunked_array([in_arrow(address, size, offset, len(text))]))
            assert compiled_bags(words, documents, known) == expected, (words, text)

for words in every:
    check(words, raw)
    check(words, raw[::5], Buckets(100))
    check(words, raw[::5], Terms.of(["a", "ab", "b1_", "aaaaaaaaaaaaaaaaab"]))
print("read", len(raw))
"""

TOUCH = """
address, size = guarded(1)
ctypes.string_at(address, size)
print("alive", flush=True)
ctypes.string_at(address {}, 1)
print("still alive")
"""


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-c", GUARDED + script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_documents_beside_a_guard_page_are_read_without_touching_it():
    done = run(READ, str(Path(__file__).parents[1]))
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("read")


@pytest.mark.parametrize("where", ["+ size", "- 1"])
def test_a_guard_page_kills_who_reads_it(where):
    """Otherwise the test above would prove nothing."""
    done = run(TOUCH.replace("{}", where))
    assert done.stdout == "alive\n"
    assert done.returncode != 0
