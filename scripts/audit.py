"""Known vulnerabilities in what the lock installs: `python scripts/audit.py`, by pip-audit.

It asks a service on the network. pip-audit itself ends well where that service answers nothing, so
the answers are counted here: exit code 0 means every package was looked up and nothing found, 1
that something was found, 2 that packages were not looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent.parent / "requirements-dev.lock"


def verdict(report: dict[str, Any]) -> tuple[int, str]:
    """The exit code and words for a report of pip-audit.

    >>> verdict({"dependencies": [{"name": "a", "skip_reason": "not found"}]})[0]
    2
    """
    packages = report["dependencies"]
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    found = [(one["name"], v["id"]) for one in packages for v in one.get("vulns", ())]
    lines = [f"audit: {name}: {vulnerability}" for name, vulnerability in found]
    if skipped or not packages:
        lines.append(
            f"audit: NOT CHECKED: {len(skipped)} of {len(packages)} packages were not looked up, "
            f"because the vulnerability service does not know them or cannot be reached from here"
        )
    else:
        lines.append(f"audit: {len(packages)} packages looked up, {len(found)} vulnerabilities")
    return (1 if found else 2 if skipped or not packages else 0), "\n".join(lines)


def main() -> int:
    """Audit the lock, or say that it was not audited."""
    command = ["uv", "tool", "run", "pip-audit", "--requirement", str(LOCK), "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        print(f"audit: NOT CHECKED: pip-audit gave no report ({type(error).__name__})")
        return 2
    code, said = verdict(report)
    print(said)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
