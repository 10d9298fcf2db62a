"""The demo on a fleet that is there already."""

import subprocess
import sys
from pathlib import Path

from . import fleet
from .client import Client
from .server import Server


def test_a_demo_whose_rest_waits_for_somebody_says_so_and_ends(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        client = Client(server.address, server.token)
        client.apply(
            fleet.manifest("JobAgent", "puller"),
            fleet.manifest("Environment", "prod", resourceSelector="true"),
            fleet.resource("node-1"),
            fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
            fleet.manifest("Policy", "asked", rules=[{"approval": {"minApprovals": 1}}]),
        )
        client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    finally:
        server.stop()
    command = [sys.executable, "-m", "headgate", "up", "--data", str(tmp_path / "data"), "--port", "0"]
    ended = subprocess.run(
        [*command, "--demo", "--exit-when-done"], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 1
    assert "The rest waits for somebody: `headgate status` says for what." in ended.stdout
    assert "not everything is up to date" in ended.stderr
