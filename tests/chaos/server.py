"""`headgate up` in a process of its own, to be killed; callers who never give up."""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chaos import rollout
from chaos.notebook import Notebook

_START_SECONDS = 60.0
_CALL_SECONDS = 10.0
_MAIN = "from headgate.cli.main import main; main()"


class Server:
    """Comes back at another address each time, as its port is a free one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.address = ""
        self.token = ""

    @property
    def url(self) -> str:
        return f"sqlite:///{self._folder / 'headgate.db'}"

    def start(self) -> None:
        command = [
            sys.executable,
            "-c",
            _MAIN,
            "up",
            "--data",
            str(self._folder),
            "--port",
            "0",
            "--lease",
            "1",
        ]
        with (self._folder.parent / "errors").open("a") as errors:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("Headgate is at "), f"it said {line!r}, and {self.errors()}"
        if not self.token:
            self.token = self._process.stdout.readline().split()[-1]
        self.address = line.split()[3]

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def stop(self) -> int:
        process, self._process = self._process, None
        assert process is not None
        process.terminate()
        process.communicate(timeout=_START_SECONDS)
        return process.returncode

    def errors(self) -> str:
        return (self._folder.parent / "errors").read_text()


class Caller:
    """Asks until there is an answer: the status and the document."""

    def __init__(self, server: Server, is_over: threading.Event) -> None:
        self._server = server
        self._is_over = is_over

    def call(self, method: str, path: str, body: object = None, key: str | None = None) -> tuple[int, Any]:
        while not self._is_over.is_set():
            answer = self._try(method, path, body, key)
            if answer is not None and answer[0] < 500:
                return answer
            self._is_over.wait(0.05)
        return 0, {}

    def _try(self, method: str, path: str, body: object, key: str | None) -> tuple[int, Any] | None:
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._server.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_CALL_SECONDS) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else {}
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.loads(refusal.read() or b"{}")
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return None


def ask_for_all(caller: Caller, notebook: Notebook, chance: random.Random, pause_seconds: float) -> None:
    for step in rollout.steps():
        notebook.write("asking", step=step.key)
        if step.unfreeze is not None:
            status, answer = caller.call("DELETE", f"/v1/freezes/{quote(step.unfreeze)}", key=step.key)
        else:
            status, answer = caller.call("POST", "/v1/apply", {"manifests": step.manifests}, key=step.key)
        assert status in (200, 204), f"{step.key}: {status} {answer}"
        notebook.write("acknowledged", step=step.key)
        time.sleep(chance.uniform(0, pause_seconds))


def is_everything_up_to_date(caller: Caller) -> bool:
    _, answer = caller.call("GET", "/v1/release-targets?limit=1000")
    return all(target["state"] == "upToDate" for target in answer["items"])


class Agent:
    def __init__(self, caller: Caller, notebook: Notebook, seed: int) -> None:
        self._caller = caller
        self._notebook = notebook
        self._chance = random.Random(seed)
        self._name = f"agent-{seed}"

    def run(self, is_over: threading.Event) -> None:
        wanted = {"limit": 1, "holder": self._name, "leaseSeconds": 5}
        while not is_over.is_set():
            _, answer = self._caller.call("POST", f"/v1/job-agents/{rollout.AGENT}/claim", wanted)
            jobs = answer.get("jobs", [])
            for job in jobs:
                self._work(job["job"], job["claim"]["token"])
            if not jobs:
                is_over.wait(0.05)

    def _work(self, job: dict[str, str], token: int) -> None:
        run = str(uuid.uuid4())
        target = f"{job['deployment']}/{job['environment']}/{job['resource']}"
        self._notebook.write("began", job=job["id"], run=run, target=target)
        time.sleep(self._chance.uniform(0, 0.02))
        status, answer = self._caller.call("POST", f"/v1/jobs/{job['id']}/heartbeat", {"token": token})
        if status != 200 or answer["cancelled"]:
            return
        self._notebook.write("ended", job=job["id"], run=run, target=target)
        outcome = rollout.outcome(job["id"], self._chance)
        report = {"token": token, "status": outcome}
        status, answer = self._caller.call("POST", f"/v1/jobs/{job['id']}/report", report, key=run)
        if status == 200:
            is_taken = answer["status"] == outcome
            self._notebook.write("reported" if is_taken else "late", job=job["id"], status=outcome)
