"""Secrets of a job appear in no output: JSON, repr, sentences, errors."""

from __future__ import annotations

import json

import pytest

from weft.job import load_job
from weft.job.variables import is_secret, redact

JOB = """
source:
  format: kafka
  options:
    kafka.bootstrap.servers: h:9092
    subscribe: trades
    kafka.sasl.jaas.config: >-
      org.apache.kafka.common.security.plain.PlainLoginModule required
      username="ann" password="hunter2-jaas";
    kafka.ssl.keystore.password: hunter2-store
    db.pwd: hunter2-pwd
    fs.azure.sas.token: ${WEFT_TEST_SAS}
  schema: ts TIMESTAMP, x INT
queries: [{name: q, aggs: {n: count(*)}, range: 1 hour}]
sink: {kind: kafka, servers: "h:1", topic: t, options: {kafka.ssl.key.password: hunter2-sink}}
checkpoint: s3a://ann:hunter2-url@bucket/ck
spark:
  spark.hadoop.fs.s3a.secret.key: hunter2-s3
  spark.hadoop.javax.jdo.option.ConnectionURL: jdbc:db://h/x?user=ann&password=hunter2-jdbc
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFT_TEST_SAS", "hunter2-sas")
    (tmp_path / "job.yaml").write_text(JOB)
    return load_job(tmp_path / "job.yaml")


def test_nothing_that_is_shown_has_it(job):
    shown = [
        json.dumps(job.to_dict()),
        repr(job),
        str(job),
        repr(job.source),
        repr(job.sink),
        str(job.sink),
        f"{job.source!s} {job.sink!r}",
    ]
    for text in shown:
        assert "hunter2" not in text
    assert "h:9092" in shown[0]


def test_what_spark_says_of_it_is_scrubbed(job):
    said = job.scrub(
        "cannot log in with hunter2-store, hunter2-pwd, hunter2-sas, hunter2-sink, hunter2-s3 or "
        'password="hunter2-jaas"; at s3a://ann:hunter2-url@bucket/ck and '
        "jdbc:db://h/x?user=ann&password=hunter2-jdbc"
    )
    assert "hunter2" not in said
    assert "user=ann" in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter2-pg@h/db?sslpassword=hunter2-ssl",
        "host=h user=ann password='hunter2 pg' sslpassword=hunter2-ssl",
        "postgresql://ann:${WEFT_TEST_SAS}@h/db",
    ],
)
def test_how_to_connect_to_postgres_is_shown_without_it(tmp_path, monkeypatch, url):
    monkeypatch.setenv("WEFT_TEST_SAS", "hunter2-sas")
    sink = json.dumps({"kind": "postgres", "url": url})
    head, tail = JOB.split("sink: {kind: kafka", 1)
    text = f"{head}sink: {sink}\n{tail.split(chr(10), 1)[1]}"
    (tmp_path / "job.yaml").write_text(text)
    job = load_job(tmp_path / "job.yaml")
    filled = job.fill(job.sink.url)
    assert "hunter2" in filled
    for text in (json.dumps(job.to_dict()), repr(job), repr(job.sink), str(job.sink)):
        assert "hunter2" not in text
        assert "ann" in text or text == "postgres"
    said = job.scrub(f"cannot connect by {filled}: password hunter2-sas is wrong")
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "name",
    [
        "kafka.sasl.jaas.config",
        "db.pwd",
        "db.pass",
        "fs.azure.sas",
        "apiKey",
        "aws_secret",
        "Token",
    ],
)
def test_names_of_secrets(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", ["monkey", "compass", "signal", "passenger", "subscribe", "sasl"])
def test_names_that_are_none(name):
    assert not is_secret(name)


@pytest.mark.parametrize(
    "text",
    [
        "query 'q': where='key = 5 AND partition_key = 7' fails",
        "path s3a://bucket/in/part.parquet at 10:20 does not exist",
        "column `user` cannot be resolved: did you mean `username`?",
    ],
)
def test_ordinary_messages_stay_as_they_are(text):
    assert redact(text) == text
