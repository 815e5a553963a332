"""A progress bar over the shards that are scored."""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any

from infoacq.maximiser import Map


@contextmanager
def progress_bar(map: Map = map, *, shown: bool = True) -> Iterator[Map]:
    """`map` with a bar on standard error that moves as shards are scored; its total grows by each pass over them.

    Raises:
        ImportError: if a bar is to be shown and tqdm is not installed.
    """
    if not shown:
        yield map
        return
    from tqdm import tqdm

    with tqdm(unit=" shards", total=0, file=sys.stderr) as bar:

        def counted(function: Callable[[Any], Any], shards: Iterable[Any]) -> Iterator[Any]:
            bar.total = (bar.total or 0) + (len(shards) if isinstance(shards, Sized) else 0)
            bar.refresh()
            for result in map(function, shards):
                bar.update()
                yield result

        yield counted


def is_wanted() -> bool:
    """Whether somebody is likely to look at a bar: standard error is a terminal, and tqdm is installed."""
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
