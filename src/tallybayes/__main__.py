"""`python -m tallybayes` is the command `tallybayes`."""

import sys

from tallybayes.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
