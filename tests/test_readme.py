"""The README's first example runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example_plans_and_explains(capsys):
    code = re.search(r"## Ten lines\n```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert code is not None
    exec(compile(code.group(1), str(README), "exec"), {})
    assert "2 queries at 375 rows per second" in capsys.readouterr().out


def test_every_page_it_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert (README.parent / link).exists(), link
