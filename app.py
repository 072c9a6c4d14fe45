"""Starts dsgui from a checkout: `python app.py`, then open the URL it prints."""

import sys

from dsgui.cli import main

if __name__ == "__main__":
    sys.exit(main(["serve", *sys.argv[1:]]))
