"""Where no control plane can be built, that is said in one sentence, and the tests that need it are skipped."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "kube"


def test_without_go_it_says_so_and_ends_with_77(tmp_path: Path) -> None:
    for name in ("sh", "dirname", "uname"):
        found = next(Path(folder) / name for folder in ("/bin", "/usr/bin") if (Path(folder) / name).exists())
        (tmp_path / name).symlink_to(found)
    for options in ((), ("--in-background",)):
        done = subprocess.run(
            [str(SCRIPT), *options],
            env={"PATH": str(tmp_path), "HOME": os.environ.get("HOME", "/")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (77, "")
        assert done.stderr == (
            "scripts/kube: there is no Go on this machine; the tests on a Kubernetes control plane will be skipped.\n"
        )
