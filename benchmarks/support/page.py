"""Writes the table and the pictures of docs/papers.md from the CSVs only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.support.draw import draw
from benchmarks.support.harness import ROOT, Bench

PAGE = ROOT / "docs" / "papers.md"
README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "img" / "papers"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEADINGS = {
    "figures.sigmod06": "On-the-fly sharing (SIGMOD'06)",
    "figures.weave": "WeaveShare (CIKM'11)",
    "figures.f1": "F1 (CIKM'15)",
    "figures.flatfit": "FlatFIT (SSDBM'17)",
    "figures.factor": "Factor windows (cost-based rewriting)",
    "studies": "Beyond the papers",
    "peers": "Peers",
}
"""The heading for the benchmarks in each folder."""
HEADLINES = {
    "team": "one query, ten mixed ones as a team has them, and windows by the dozen, in a batch",
    "sigmod06_figure13": "256 queries whose windows differ, against one by one on Spark",
    "sigmod06_figure14": "the same, predicates differ",
    "sigmod06_figure15": "the same, both differ, regular",
    "sigmod06_figure16": "the same, both differ, little to share",
    "weave_headline": "cost of a plan, against not sharing",
    "f1_table2": "planning, against Bit Set",
    "f1_headline": "a million queries planned",
    "flatfit_figure13": "final aggregation, one range",
    "flatfit_figure15": "final aggregation, every range",
    "factor_example": "factor windows on the paper's example",
    "beyond_cost_model": "predicted cost against measured time on Spark, by rank",
    "beyond_auto": "strategy `auto` within a tenth of the fastest one measured",
    "peers_batch": "sliding windows by key in a batch, beside other engines",
    "peers_stream": "the same on a stream",
}
"""The rows of the README's table: the papers' main claims, and what we add."""


def draw_all(benches: Sequence[Bench], folder: Path = PICTURES) -> list[Path]:
    """Draw every benchmark that has a picture and has been run."""
    drawn = []
    folder.mkdir(parents=True, exist_ok=True)
    for bench in benches:
        if bench.file.exists() and bench.module.PICTURE is not None:
            drawn.append(folder / f"{bench.name}.svg")
            draw(bench.module.PICTURE, bench.rows(), bench.headline, drawn[-1])
    return drawn


def write_page(text: str, page: Path = PAGE) -> None:
    """Replace the text between the markers of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


def headlines(benches: Sequence[Bench]) -> str:
    """The README's table."""
    lines = ["", "| what | paper | weft |", "|---|---|---|"]
    for bench in benches:
        if bench.name in HEADLINES and bench.file.exists():
            claim = bench.claim()
            lines.append(_line(HEADLINES[bench.name], claim.paper, claim.ours))
    return "\n".join([*lines, "", ""])


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def section(benches: Sequence[Bench]) -> str:
    """The text between the markers."""
    done = [bench for bench in benches if bench.file.exists()]
    claims = {bench.name: bench.claim() for bench in done}
    held = sum(claim.holds for claim in claims.values())
    lines = [
        "",
        f"{len(done)} of {len(benches)} benchmarks were run; in {held} the paper's shape, or our "
        "own target, holds. Ratio: ours over the paper's, more is better. Form: quick or full, "
        "with the commit that was measured.",
    ]
    lines += _missing([bench for bench in benches if bench not in done])
    for folder, heading in HEADINGS.items():
        some = [bench for bench in done if bench.folder == folder]
        if not some:
            continue
        lines += [
            "",
            f"### {heading}",
            "",
            "| claim | paper | ours | ratio | holds | form | comment |",
            "|---|---|---|---|---|---|---|",
        ]
        for bench in some:
            claim, row = claims[bench.name], bench.rows()[0]
            cells = (
                f"[{_title(bench)}](#{bench.name})" if bench.module.PICTURE else _title(bench),
                claim.paper,
                claim.ours,
                "" if claim.ratio is None else f"{claim.ratio:,.3g}",
                "yes" if claim.holds else "**no**",
                f"{row['form']}, {row['commit']}",
                claim.comment,
            )
            lines.append(_line(*cells))
        for bench in some:
            if bench.module.PICTURE:
                alt = _title(bench)
                lines += ["", f'<a id="{bench.name}"></a>', ""]
                lines += [f"![{alt}](img/papers/{bench.name}.svg)"]
    machines = dict.fromkeys(bench.rows()[0]["machine"] for bench in done)
    lines += ["", f"Measured on: {'; '.join(machines)}.", ""]
    return "\n".join(lines)


def _title(bench: Bench) -> str:
    return bench.headline.rstrip(".")


def _missing(benches: Sequence[Bench]) -> list[str]:
    names = ", ".join(f"`{bench.name}`" for bench in benches)
    return ["", f"Not run yet: {names}."] if names else []
