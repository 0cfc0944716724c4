"""What the page on Spark shows runs."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_code_on_the_page_runs_from_top_to_bottom(spark, pools, capsys):
    space = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        exec(block, space)
    assert space["live"].state.learnt == 200
    scored = spark.read.parquet(f"{space['folder']}/scored")
    assert scored.count() == 200
    assert "is the best" in capsys.readouterr().out
