"""The bill of materials has what the lock has, and the audit never passes if it could not check."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"weft_{name}", ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_has_every_package_of_the_lock(tmp_path, capsys):
    script("sbom").main([str(tmp_path / "sbom.json")])
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "weft"
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", lock, re.MULTILINE)
    listed = [(one["name"], one["version"]) for one in bill["components"]]
    assert listed == [(re.sub(r"[-_.]+", "-", n).lower(), v) for n, v in pinned]
    assert len(listed) > 20
    for one in bill["components"]:
        assert one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert one["hashes"]
        assert all(re.fullmatch("[0-9a-f]{64}", digest["content"]) for digest in one["hashes"])
    assert len({one["bom-ref"] for one in bill["components"]}) == len(listed)
    assert sum(len(one["hashes"]) for one in bill["components"]) == lock.count("--hash=sha256:")


def test_packages_of_this_environment_have_a_licence():
    listed = script("sbom").components((ROOT / "requirements.lock").read_text())
    licences = {one["name"]: one.get("licenses") for one in listed}
    assert licences["pyspark"]
    assert licences["numpy"]


@pytest.mark.parametrize(
    ("packages", "code"),
    [
        ([], 2),
        ([{"name": "a", "version": "1", "vulns": []}], 0),
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "?"}], 2),
        ([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}], 1),
    ],
)
def test_an_audit_that_looked_nothing_up_does_not_pass(packages, code):
    found, said = script("audit").verdict({"dependencies": packages})
    assert found == code
    assert ("NOT CHECKED" in said) == (code == 2)
