"""One caller who asks without pause over several connections: `python -m bench.flood ADDRESS METHOD PATH CONNECTIONS`.

The body comes on standard input, the token in HEADGATE_TOKEN. A process of its own, so that it takes nothing from whoever
measures. It ends when it is told to, and then prints how often it was answered, by status.
"""

from __future__ import annotations

import collections
import contextlib
import http.client
import os
import signal
import sys
import threading


def main(address: str, method: str, path: str, connections: str) -> None:
    body = sys.stdin.buffer.read()
    headers = {"Authorization": f"Bearer {os.environ['HEADGATE_TOKEN']}", "Accept": "application/json"}
    if body:
        headers["Content-Type"] = "application/json"
    answers: collections.Counter[int] = collections.Counter()
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())

    def ask() -> None:
        while not ending.is_set():
            link = http.client.HTTPConnection(address, timeout=60)
            with contextlib.suppress(OSError, http.client.HTTPException):
                while not ending.is_set():
                    link.request(method, path, body or None, headers)
                    answer = link.getresponse()
                    answer.read()
                    answers[answer.status] += 1
            link.close()

    for _ in range(int(connections)):
        threading.Thread(target=ask, daemon=True).start()
    print("ready", flush=True)
    ending.wait()
    print(" ".join(f"{status}:{count}" for status, count in sorted(answers.items())), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
