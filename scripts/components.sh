#!/bin/sh
# What the integration tests need besides Python packages: Maven, PostgreSQL, jars, another Spark.
# A component named in WEFT_WITHOUT (kafka,postgres,delta,iceberg) is left out, as in the tests.
set -eu
python="$1"
wanted() { case ",${WEFT_WITHOUT:-}," in *",$1,"*) return 1 ;; *) return 0 ;; esac; }
package() {
  echo "Installing $1"
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get install -qq -y "$1" >/dev/null || { apt-get update -qq && apt-get install -qq -y "$1" >/dev/null; }
  else
    echo "weft: the integration tests need $1, which is not on this machine" >&2
    exit 1
  fi
}
command -v mvn >/dev/null || package maven
if wanted postgres && ! command -v initdb >/dev/null && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
then
  package postgresql
fi
if wanted kafka; then
  "$python" -m weft.spark.connectors kafka avro >/dev/null
  "$python" tests/integration/kafka_broker.py >/dev/null
fi
if wanted delta || wanted iceberg; then
  "$python" tests/integration/lake_spark.py >/dev/null
fi
