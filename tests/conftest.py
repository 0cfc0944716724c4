"""Settings for all property tests.

A first compilation may take seconds, so no example has a deadline. Under CI the same examples are
tried every time; elsewhere each run looks for new ones.
"""

import os

from hypothesis import settings

settings.register_profile("patient", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("patient")
