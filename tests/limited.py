"""A limit on the number of threads, as a user sets it."""

import os
from unittest.mock import patch


def limited_to(threads):
    """Use so many threads inside the block."""
    return patch.dict(os.environ, TALLYBAYES_THREADS=str(threads))
