"""The page holds everything it shows and asks the network for nothing."""

import json
import re
from typing import Any

from headgate.screens import page
from simulate.small import fleet, manifest, play, publish


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    value: dict[str, Any] = json.loads(found.group(1))
    return value


LIMIT = manifest(
    "Policy",
    "limit",
    rules=[
        {
            "name": "slots",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 2},
        }
    ],
)


def test_the_page_is_one_file_without_addresses_of_others() -> None:
    html = page.render(play(publish(), objects=fleet(3)))
    assert "/*STYLE*/" not in html
    assert "/*SCRIPT*/" not in html
    assert "__DATA__" not in html
    own = re.sub(r"<script>.*?</script>", "", html.replace(json.dumps(data_of(html)), ""), flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=|url\(|https?://|@import""", own)
    assert "default-src 'none'" in own
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    assert script is not None
    assert not re.search(
        r"""fetch\(|XMLHttpRequest|EventSource|WebSocket|importScripts|import\(""", script[1]
    )


def test_every_job_has_a_bar_in_the_row_of_its_resource() -> None:
    data = data_of(page.render(play(publish(), objects=[*fleet(11), LIMIT])))
    assert data["resources"] == [f"node-{number}" for number in range(1, 12)]
    assert sorted(job[0] for job in data["jobs"]) == list(range(11))
    assert data["deployments"] == ["api"]
    assert data["jobs"][0][5] - data["jobs"][0][4] == 60_000


def test_a_budget_has_its_use_over_time() -> None:
    data = data_of(page.render(play(publish(), objects=[*fleet(3), LIMIT])))
    (budget,) = data["budgets"]
    assert (budget["peak"], budget["limit"], budget["label"]) == (2, 2, "limit, slots")
    assert [point[1] for point in budget["series"]] == [2, 1, 0]


def test_text_of_users_cannot_end_the_script() -> None:
    result = play(publish("</script><script>alert(1)</script>"))
    html = page.render(result)
    assert "</script><script>alert" not in html
    assert data_of(html)["jobs"][0][2] == "</script><script>alert(1)</script>"


def test_a_resource_in_two_environments_has_a_row_for_each() -> None:
    objects = [*fleet(1), manifest("Environment", "staging", resourceSelector="true")]
    data = data_of(page.render(play(publish(), objects=objects)))
    assert data["resources"] == ["prod/node-1", "staging/node-1"]
