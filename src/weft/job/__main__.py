"""`python -m weft.job`: the reference tables of docs/job-file.md."""

from __future__ import annotations

from weft.job.reference import reference

if __name__ == "__main__":
    print(reference(), end="")
