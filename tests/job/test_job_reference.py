"""docs/job-file.md says what the schema says, and its example is a job."""

import re
from pathlib import Path

from weft.job import job_schema, load_job
from weft.job.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "job-file.md"


def test_the_reference_is_that_of_the_schema():
    assert PAGE.read_text().split("<!-- reference -->\n")[1] == reference()


def test_every_section_of_the_schema_is_in_the_reference():
    text = reference()
    for name, section in job_schema()["$defs"].items():
        for field in section.get("properties", {}):
            assert f"| `{field}` |" in text, (name, field)


def test_the_example_is_a_job(tmp_path):
    example = re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    (tmp_path / "job.yaml").write_text(example[1])
    sql = "-- name: a\nSELECT min(price) AS lo FROM trades GROUP BY window(ts, '1 hour')"
    (tmp_path / "monitoring.sql").write_text(sql)
    (tmp_path / "alerts.yaml").write_text("[{name: b, aggs: {n: count(*)}, range: 1 hour}]")
    job = load_job(tmp_path / "job.yaml")
    assert [query.name for query in job.queries] == ["big_trades", "hourly_hi", "a", "b"]
    assert job.source.watermark == "30 seconds"
