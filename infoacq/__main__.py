"""`python -m infoacq`: the `infoacq` command."""

import sys

from infoacq.cli import main

sys.exit(main())
