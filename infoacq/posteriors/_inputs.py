"""Reading the pool: a tensor or a loader, as batches of inputs in the loader's order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

TENSOR_BATCH = 256


def batches(loader_or_tensor: Iterable[Any] | Tensor) -> Iterator[Tensor]:
    """The inputs of each batch; a loader may yield them alone or first in a tuple.

    Raises:
        TypeError: a batch holds something else.
    """
    if isinstance(loader_or_tensor, Tensor):
        loader_or_tensor = torch.split(loader_or_tensor, TENSOR_BATCH)
    for batch in loader_or_tensor:
        inputs = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
        if not isinstance(inputs, Tensor):
            raise TypeError(
                f"a batch must be a tensor or a tuple that starts with one; got {type(batch).__name__}. "
                "Wrap the loader in a generator that yields the model's input tensor."
            )
        if len(inputs):
            yield inputs


def pool_size(loader_or_tensor: Iterable[Any] | Tensor) -> int | None:
    """The number of candidates, or None where only reading them would tell.

    Raises:
        ValueError: the loader would leave candidates out.
    """
    if isinstance(loader_or_tensor, Tensor):
        return len(loader_or_tensor)
    if not isinstance(loader_or_tensor, DataLoader) or isinstance(
        loader_or_tensor.dataset, torch.utils.data.IterableDataset
    ):
        return None
    if loader_or_tensor.batch_size is None:  # batches made by the data set or by a sampler of the user's own
        return None
    size = len(loader_or_tensor.sampler)  # type: ignore[arg-type]
    if loader_or_tensor.drop_last and size % loader_or_tensor.batch_size:
        left = size % loader_or_tensor.batch_size
        raise ValueError(
            f"the loader drops its last batch, so {left} of {size} candidates would have no predictions. "
            "Make it with drop_last=False."
        )
    return size


def device_of(model: torch.nn.Module) -> torch.device:
    """The device of the model's first parameter or buffer; the CPU if it has none."""
    for tensor in (*model.parameters(), *model.buffers()):
        return tensor.device
    return torch.device("cpu")
