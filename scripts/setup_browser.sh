#!/bin/sh
# Installs Debian's Chromium for the browser tests, unless a Chromium is there already.
set -eu
if command -v chromium >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "dsgui: the browser tests need Chromium; install it with this system's package manager." >&2
    exit 2
fi
root=""
if [ "$(id -u)" -ne 0 ]; then root="sudo"; fi
echo "dsgui: installing Debian's chromium for the browser tests"
$root apt-get update -qq
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
