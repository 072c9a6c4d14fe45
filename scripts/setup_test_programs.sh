#!/bin/sh
# Installs what the tests use of Debian and is not there yet: Chromium without its own windows, sshd and pdsh for runs on two machines, Slurm.
# With --pictures, also a font that has Chinese: without one the pictures show boxes.
set -eu
missing=""
needs() { # program, package
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing="$missing $2"
}
needs chromium-headless-shell chromium-headless-shell
needs sshd openssh-server
needs ssh openssh-client
needs pdsh pdsh
needs ip iproute2
needs slurmctld slurm-wlm
needs munged munge
if [ "${1:-}" = --pictures ] && [ -z "$(fc-list :lang=zh-cn 2>/dev/null)" ]; then missing="$missing fontconfig fonts-noto-cjk"; fi
if [ -z "$missing" ]; then exit 0; fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "dsgui: the tests need$missing; install them with this system's package manager." >&2
    exit 2
fi
root=""
if [ "$(id -u)" -ne 0 ]; then root="sudo"; fi
echo "dsgui: installing Debian's$missing for the tests"
$root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
# RUNLEVEL=1: no daemon is started by being installed.
$root env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
