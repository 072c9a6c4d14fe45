#!/bin/sh
# Creates .venv (once) and installs the given requirements file into it (only when the file has changed since).
# What is missing is named together with the command that provides it.
set -eu
requirements=$1
venv=.venv
stamp="$venv/.installed-$(basename "$requirements")"

fail() { printf 'dsgui: %s\n' "$1" >&2; exit 2; }
has_headers() {
    "$1" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null
}
is_311() { "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; }

find_python() {
    for candidate in ${PYTHON:-} python3.11 python3 python; do
        if command -v "$candidate" >/dev/null 2>&1 && is_311 "$candidate"; then command -v "$candidate"; return; fi
    done
    seen=$(python3 --version 2>/dev/null || echo 'no python3')
    fail "needs Python 3.11, found $seen.
  Debian or Ubuntu:  sudo apt-get install python3.11 python3.11-venv
  conda:             conda create -n py311 python=3.11, then  make run PYTHON=\$(conda run -n py311 which python)"
}

check_tools() {
    "$1" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "this Python has no venv module.  Debian or Ubuntu:  sudo apt-get install python3.11-venv"
    command -v "${CXX:-g++}" >/dev/null 2>&1 ||
        fail "no C++ compiler; DeepSpeed compiles its operators with one.  Debian or Ubuntu:  sudo apt-get install g++"
    has_headers "$1" ||
        fail "no Python.h; DeepSpeed's operators need it.  Debian or Ubuntu:  sudo apt-get install python3.11-dev"
}

if [ -f "$stamp" ] && cmp -s "$requirements" "$stamp" && [ -x "$venv/bin/python" ]; then exit 0; fi

python=$(find_python) || exit 2
check_tools "$python"
if ! { [ -x "$venv/bin/python" ] && is_311 "$venv/bin/python"; }; then
    echo "dsgui: creating $venv with $python"
    "$python" -m venv --clear "$venv"
fi

echo "dsgui: installing $requirements into $venv (the first time takes a few minutes)"
trap 'echo "dsgui: the installation stopped; run the same command again to go on." >&2' EXIT
"$venv/bin/python" "$(dirname "$0")/install.py" "$requirements"
trap - EXIT
cp "$requirements" "$stamp"
