"""`python -m dsgui …`."""

import sys

from dsgui.validate import main

if __name__ == "__main__":
    sys.exit(main())
