"""Resource graph definitions are compiled by `headgate validate`, with file and line."""

from pathlib import Path

from click.testing import CliRunner

from headgate.cli.main import headgate

DEFINITION = """\
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: app}
spec:
  schema:
    apiVersion: v1alpha1
    kind: App
    spec: {name: string}
  resources:
  - id: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${schema.spec.NAME}"}
"""


def test_a_definition_that_compiles_is_right(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(DEFINITION.replace("NAME", "name"))
    assert CliRunner().invoke(headgate, ["validate", "-f", str(file)]).exit_code == 0


def test_a_wrong_expression_is_told_with_its_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(DEFINITION.replace("NAME", "nam"))
    result = CliRunner().invoke(headgate, ["validate", "-f", str(file)])
    assert result.exit_code == 1
    assert f"{file}:14: spec.resources[0].template.metadata.name" in result.output
    assert "did you mean 'name'?" in result.output
