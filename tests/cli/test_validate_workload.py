"""`headgate validate` judges PodCliqueSets as the API does."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: llm}
spec:
  replicas: 1
  updateStrategy: {type: RollingUpdate, rollingUpdate: %s}
  template:
    cliques:
      - name: web
        spec: {replicas: 1, minAvailable: %d, podSpec: {}}
"""
MANIFESTS = Path(__file__).parents[2].parent / "shared" / "data" / "manifests" / "grove"


def validate(path: Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(headgate, ["validate", "-f", str(path)])
    return result.exit_code, result.stdout, result.stderr


def test_every_problem_is_printed_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    file.write_text(SET % ("{maxUnavailable: 2}", 2))
    code, out, _ = validate(file)
    assert code == 1
    assert f"{file}:10: spec.template.cliques[0].spec.minAvailable" in out
    assert f"{file}:6: spec.updateStrategy.rollingUpdate.maxUnavailable" in out


def test_a_warning_is_said_and_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    file.write_text(SET % ("{maxUnavailable: 1, maxSurge: 0}", 1))
    code, out, err = validate(file)
    assert code == 0
    assert out == "1 document, no problem\n"
    assert "spec.updateStrategy.rollingUpdate: warning: " in err


@pytest.mark.skipif(not MANIFESTS.is_dir(), reason="the example manifests are not there")
def test_manifests_in_use_are_accepted_unchanged() -> None:
    code, out, _ = validate(MANIFESTS)
    assert (code, out) == (0, "13 documents, no problem\n")
