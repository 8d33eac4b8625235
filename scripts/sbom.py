"""The bill of materials: `python scripts/sbom.py [sbom.json]`, CycloneDX 1.6, made from the lock.

Every package that an installation from requirements.lock may have, with its version, the hashes
that pip insists on, the platforms it is for, and its licence where it is installed here.
"""

from __future__ import annotations

import json
import re
import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)(?P<rest>.*)$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, Any]]:
    """The packages of a lock file, in its order."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        pin = _PIN.match(line.strip())
        if pin is not None and not line.startswith(("#", " ")):
            name = re.sub(r"[-_.]+", "-", pin["name"]).lower()
            purl = f"pkg:pypi/{name}@{pin['version']}"
            marker = pin["rest"].strip(" ;\\")
            one: dict[str, Any] = {
                "type": "library",
                "bom-ref": f"{purl}#{len(found)}",
                "name": name,
                "version": pin["version"],
                "purl": purl,
                **licence(name),
                "hashes": [],
            }
            if marker:
                one["properties"] = [{"name": "weft:marker", "value": marker}]
            found.append(one)
        if found:
            hashes = [{"alg": "SHA-256", "content": digest} for digest in _HASH.findall(line)]
            found[-1]["hashes"] += hashes
    return found


def licence(name: str) -> dict[str, Any]:
    """The licence that an installed package declares."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:  # for another platform or Python
        return {}
    said = about.get("License-Expression") or next(
        (
            entry.rsplit("::", 1)[-1].strip()
            for entry in about.get_all("Classifier") or []
            if entry.startswith("License ::")
        ),
        None,
    )
    plain = (about.get("License") or "").strip()
    said = said or (plain if plain and "\n" not in plain else None)
    return {"licenses": [{"license": {"name": said}}]} if said else {}


def bill(project: dict[str, Any], lock: str) -> dict[str, Any]:
    """The whole document; the same files always give the same bill."""
    packages = components(lock)
    own = {
        "type": "library",
        "bom-ref": "weft",
        "name": project["name"],
        "version": project["version"],
        "licenses": [{"license": {"id": project["license"]}}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": packages,
        "dependencies": [{"ref": "weft", "dependsOn": [one["bom-ref"] for one in packages]}],
    }


def main(arguments: list[str]) -> None:
    """Write the bill, and say what is in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    document = bill(project, (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    target = Path(arguments[0]) if arguments else ROOT / "sbom.json"
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: CycloneDX {document['specVersion']}, {len(document['components'])} packages")


if __name__ == "__main__":
    main(sys.argv[1:])
