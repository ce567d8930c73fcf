"""`python -m sessiontree`: the command."""

import sys

from .cli import main

sys.exit(main())
