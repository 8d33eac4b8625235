#!/bin/sh
# One clear sentence when Python or Java is missing or too old, with the command that installs it.
python=${1:-python3}

fail() {
    echo "weft: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    fail "Python 3.10 to 3.13 is needed and '$python' was not found; on Debian or Ubuntu: apt-get install python3 python3-venv (or name another: make PYTHON=/path/to/python3)"
"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' ||
    fail "Python 3.10 to 3.13 is needed and '$python' is $("$python" -V 2>&1); name another: make PYTHON=/path/to/python3.12"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
    fail "'$python' cannot make virtual environments; on Debian or Ubuntu: apt-get install python3-venv"

java=java
[ -n "${JAVA_HOME:-}" ] && java="$JAVA_HOME/bin/java"
command -v "$java" >/dev/null 2>&1 ||
    fail "Java 17 or later is needed and '$java' was not found; on Debian or Ubuntu: apt-get install openjdk-17-jre-headless"
major=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${major:-0}" -ge 17 ] 2>/dev/null ||
    fail "Java 17 or later is needed and '$java' is version ${major:-unknown}; on Debian or Ubuntu: apt-get install openjdk-17-jre-headless"
