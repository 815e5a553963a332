"""Many small operations in a few Python threads, which need not wait for one another after each of them.

PyTorch's own threads meet at the end of every operation; for the small ones of a sub-network that is slow, and very
slow where other processes keep a core busy. PyTorch releases the interpreter's lock, so Python's threads do the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch

_MAX_WORKERS = 8  # each holds the activations of a draw

Given = TypeVar("Given")
Made = TypeVar("Made")


@runtime_checkable
class Map(Protocol):
    """As the builtin, but at once and to a list."""

    def __call__(self, function: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
        """The results in the order of the items."""


@contextmanager
def workers(number: int) -> Iterator[Map]:
    """A map in so many threads, among which PyTorch's own are divided; one: in the caller's own thread."""
    if number == 1:
        yield _in_this_thread
        return
    before = torch.get_num_threads()
    each = max(1, before // number)
    try:
        with ThreadPoolExecutor(number, initializer=torch.set_num_threads, initargs=(each,)) as pool:

            def in_threads(function: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
                return list(pool.map(lambda item: _without_graph(function, item), items))

            yield in_threads
    finally:
        torch.set_num_threads(before)


def fitting_number() -> int:
    """How many threads suit the processor; one inside autocast, which is a state of the caller's thread."""
    return 1 if torch.is_autocast_enabled("cpu") else min(_MAX_WORKERS, torch.get_num_threads())


def _in_this_thread(function: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
    return [function(item) for item in items]


def _without_graph(function: Callable[[Any], Made], item: Any) -> Made:
    with torch.no_grad():
        return function(item)
