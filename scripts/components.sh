#!/bin/sh
# What the tests of real components need besides Python packages: Maven and its jars, PostgreSQL,
# an older Spark. What cannot be had is told here, and the tests that need it fail with its name;
# WEFT_WITHOUT=kafka,postgres,delta,iceberg,cluster leaves components out, as in the tests.
set -eu
python="$1"
wanted() { case ",${WEFT_WITHOUT:-}," in *",$1,"*) return 1 ;; *) return 0 ;; esac; }
package() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing $1 for the tests of real components"
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null \
      && return 0
  fi
  echo "weft: $1 is not on this machine and cannot be installed (Debian: apt-get install $1)" >&2
}
fetched() { "$@" >/dev/null || echo "weft: not all that the tests need could be fetched" >&2; }

if wanted kafka || wanted delta || wanted iceberg; then
  command -v mvn >/dev/null 2>&1 || package maven
fi
if wanted postgres && ! command -v initdb >/dev/null 2>&1 \
  && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
then
  package postgresql
fi
if wanted kafka; then
  fetched "$python" -m weft.spark.connectors kafka avro
  fetched "$python" tests/integration/kafka_broker.py
fi
for lake in delta iceberg; do
  if wanted "$lake"; then
    fetched env PYTHONPATH="tests${PYTHONPATH:+:$PYTHONPATH}" \
      "$python" tests/integration/lake_spark.py "$lake"
  fi
done
