"""`python -m dsgui …`, which is `dsgui …` where the command isn't on PATH."""

import sys

from dsgui.cli import main

if __name__ == "__main__":
    sys.exit(main())
