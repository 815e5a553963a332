"""Objectives that workers import: one of them ends the worker's process."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoacq import BatchBALD, Candidates


@dataclass(frozen=True)
class Dying(BatchBALD):
    """BatchBALD, but the first worker that scores with two labels known is killed in the midst of it."""

    marker: Path | None = None
    every_time: bool = False

    def gains(self, joint: Any, candidates: Candidates) -> Any:
        assert self.marker is not None
        known = len(joint.configurations) > 4
        if known and (self.every_time or not self.marker.exists()) and os.getpid() != int(self.marker.stem):
            self.marker.with_suffix(".killed").write_text(str(os.getpid()))
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().gains(joint, candidates)
