"""Sets over time, as a person sees them in a terminal and on the page."""

import json
import re

from headgate.screens import page, timeline_text, workload_text
from simulate.workloads.little import clique, group, new_image, play, play_trivially, pod_clique_set

SURGING = {**clique("web", 1), "updateStrategy": {"maxUnavailable": 0, "maxSurge": 1}}

EXPECTED = """\
PodCliqueSet llm
           Day 1 09:00                         Day 1 09:01:22                         Day 1 09:02:44
replica 0
  web 0    .::::::::::::::::1111111111111111111111111111111111111111xxxxxx.::::::::::::::::222222222
  web 1 +                                          ..::::::::::::::::222222222222222222222xxxxxx
           . waits for a node   : starts   1 2 3 ready, by revision   x terminates   + surge
"""


def test_the_chart_shows_every_place_with_its_surge() -> None:
    result = play(new_image("app:2", SURGING, at="+1m15s"), objects=[pod_clique_set(SURGING)])
    text = "\n".join(workload_text.render(result)) + "\n"
    assert text == EXPECTED


def test_groups_are_headings_of_their_own() -> None:
    objects = [pod_clique_set(clique("p"), groups=(group("g", "p", replicas=2),))]
    text = timeline_text.render(play(objects=objects))
    labels = [line[:10].rstrip() for line in text.split("PodCliqueSet llm\n")[1].splitlines()[1:6]]
    assert labels == ["replica 0", "  g 0", "    p 0", "  g 1", "    p 0"]


def test_a_large_set_is_shown_by_clique_in_tenths() -> None:
    many = clique("web", 50)
    text = "\n".join(workload_text.render(play_trivially(objects=[pod_clique_set(many)])))
    row = next(line for line in text.splitlines() if line.startswith("replica 0 web (50)"))
    assert re.fullmatch(r"replica 0 web \(50\)  0+#+", row)


def test_the_timeline_names_pods_by_their_place() -> None:
    text = timeline_text.render(play(objects=[pod_clique_set(clique("web"))]))
    assert re.search(r"llm-0-web-0 +web r1 +created", text)
    assert re.search(r"llm-0-web-0 +web r1 +ready", text)


def test_the_peak_of_every_used_budget_is_told() -> None:
    result = play(new_image("app:2", SURGING), objects=[pod_clique_set(SURGING)])
    assert "  1 of 1  maxSurge of llm-0-web, peak at 09:05:00" in timeline_text.render(result)


def test_the_page_holds_the_pods_and_draws_no_empty_chart_of_jobs() -> None:
    result = play(new_image("app:2", SURGING), objects=[pod_clique_set(SURGING)])
    rendered = page.render(result)
    held = re.search(r'id="data">(.*?)</script>', rendered, re.DOTALL)
    assert held is not None
    data = json.loads(held.group(1))
    assert [row[2:] for row in data["workloads"][0]["rows"]] == [["web", 0, False], ["web", 1, True]]
    assert [pod[2] for pod in data["workloads"][0]["pods"]] == [1, 2, 2]
    assert data["workloadBudgets"] == [["maxSurge", "llm-0-web", 1, 1]]
    assert "/*WORKLOADS*/" not in rendered
