"""`python -m reproduce`."""

import sys

if __name__ == "__main__":
    from reproduce.cli import main  # not for worker processes, which read this file too

    sys.exit(main())
