"""Settings for all tests: a first compilation may take seconds, so no example has a deadline."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
