#!/bin/sh
# Installs what checks the JavaScript (package-lock.json) into node_modules, only when the lock file has changed since.
set -eu
stamp=node_modules/.installed-package-lock.json
if cmp -s package-lock.json "$stamp"; then exit 0; fi
echo "dsgui: installing package-lock.json into node_modules"
PATH="$(pwd)/.venv/bin:$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
cp package-lock.json "$stamp"
