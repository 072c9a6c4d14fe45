"""`python -m dsgui …`."""

import sys

from dsgui.cli import main

if __name__ == "__main__":
    sys.exit(main())
