"""Where every random thing of a run gets its seed."""

import hashlib


def seed_of(experiment: str, trial: int, step: int, purpose: str) -> int:
    """A seed in [0, 2**63) that depends on these four and nothing else.

    The method is left out on purpose: all methods of a trial share their initial points, their validation set
    and the seeds of every step, so that only the choice differs. No state is carried from step to step, so a
    run that was killed goes on with the seeds that it would have had.
    """
    text = f"{experiment}/{trial}/{step}/{purpose}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
