"""Processes of the operator that can be killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kube import ControlPlane


class Processes:
    """Two of the operator, each replaced when it is killed."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._plane = plane
        self._namespace = namespace
        self.running = [self._start(), self._start()]

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "headgate", "operator", "run", "--health-port", "0"]
        command += ["--kubeconfig", str(self._plane.kubeconfig), "--lease-seconds", "3"]
        command += ["--namespace", self._namespace, "--lease-namespace", self._namespace]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, index: int) -> None:
        self.running[index].kill()
        self.running[index].wait()
        self.running[index] = self._start()

    def end(self) -> None:
        for process in self.running:
            process.kill()
            process.wait()


@contextmanager
def processes(plane: ControlPlane, namespace: str) -> Iterator[Processes]:
    found = Processes(plane, namespace)
    try:
        yield found
    finally:
        found.end()
