#!/bin/sh
# The browser of the dashboard's tests: Debian's chromium, installed if it is missing and may be.
set -eu
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing chromium for the dashboard's tests"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  exit 0
fi
echo "The dashboard's tests need chromium: install it (Debian: sudo apt-get install chromium)." >&2
exit 1
