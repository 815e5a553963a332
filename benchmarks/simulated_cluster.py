"""A Dask cluster of very many workers on one machine: a scheduler's process, and a few processes full of workers.

The scheduler is the real one, in a process of its own whose seconds are counted; workers are real ones, which talk to
it over TCP, but hundreds of them share a process: their work must be waiting.

    python -m benchmarks.simulated_cluster ADDRESS NUMBER       # is what such a process runs
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import psutil

A_PROCESS = 50  # workers
# Hundreds of workers that share two cores watch themselves less often than they would on machines of their own.
SETTINGS = {
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
}


@contextmanager
def simulated(workers: int) -> Iterator[tuple[Any, psutil.Process]]:
    """A client of a new cluster of so many workers of one thread each, and the scheduler's process."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "scheduler.json"
        command = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        started = [_process(*command, "--scheduler-file", str(said))]
        try:
            client = distributed.Client(scheduler_file=str(said), timeout=60)
            address = client.scheduler.address
            for first in range(0, workers, A_PROCESS):
                number = min(A_PROCESS, workers - first)
                started.append(_process("-m", "benchmarks.simulated_cluster", address, str(number)))
            client.wait_for_workers(workers, timeout=600)
            with client:
                yield client, psutil.Process(started[0].pid)
        finally:
            for process in started:
                process.kill()
                process.wait()


def _process(*command: str) -> "subprocess.Popen[bytes]":
    silent = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, *command], stdout=silent, stderr=silent, env=os.environ | SETTINGS)


async def _work(address: str, number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"nthreads": 1, "memory_limit": 0, "local_directory": folder, "dashboard": False}
        workers = [distributed.Worker(address, **options) for _ in range(number)]
        await asyncio.gather(*workers)
        await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1], int(sys.argv[2])))
