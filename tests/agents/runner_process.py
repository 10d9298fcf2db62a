"""A runner in a process of its own, to be killed: arguments are the store, the folder of commands, and a report file."""

import asyncio
import sys
import time
from pathlib import Path

from headgate.agents.exec import ExecAgent
from headgate.agents.runner import AgentRunner
from headgate.fleet.model.changes import JobReported
from headgate.store.sql.opening import open_store


async def main() -> None:
    url, folder, reports = sys.argv[1:]

    async def report(workspace: str, change: JobReported) -> None:
        with open(reports, "a", encoding="utf-8") as file:
            file.write(f"{change.status}\n")

    runner = AgentRunner(
        open_store(url),
        report,
        lambda: time.time_ns() // 1_000,
        f"process-{time.time_ns()}",
        [ExecAgent(Path(folder))],
        lease_seconds=1,
        poll_seconds=0.05,
    )
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main())
