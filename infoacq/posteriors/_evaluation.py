"""Running models without leaving a trace in them or in the random state of the caller."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def device_of(model: nn.Module) -> torch.device:
    """The device of the model's first parameter or buffer; the CPU if it has none."""
    for tensor in (*model.parameters(), *model.buffers()):
        return tensor.device
    return torch.device("cpu")


def on_device(model: nn.Module, device: torch.device | str | None) -> nn.Module:
    """The model itself if all of it is there, else a copy; None: where it is.

    Raises:
        RuntimeError: it is elsewhere and cannot be copied.
    """
    if device is None:
        return model
    there = torch.empty(0, device=device).device  # "cuda" is no device that a tensor has: its index is the current one
    if all(tensor.device == there for tensor in (*model.parameters(), *model.buffers())):
        return model
    return _copied(model, there).to(there)


def _copied(model: nn.Module, there: torch.device) -> nn.Module:
    try:
        return copy.deepcopy(model)
    except Exception as error:  # whatever a module keeps may refuse, each in its own way
        raise RuntimeError(
            f"{type(model).__name__} is not on {there}, and no copy of it can be made. Move the model itself, "
            f"model.to({str(there)!r}), and leave device out; or remove what it keeps of earlier passes (activations "
            f"with their graph). What copying it gave: {type(error).__name__}: {error}"
        ) from error


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode; each module has its own flag again at the end."""
    flags = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in flags:
            module.training = False
        yield
    finally:
        for module, flag in flags:
            module.training = flag


@contextmanager
def untouched(device: torch.device) -> Iterator[None]:
    """No graph is recorded, and PyTorch's global random state (loaders draw from it) is the same afterwards."""
    devices = [device] if device.type == "cuda" else []
    with torch.inference_mode(False), torch.no_grad(), torch.random.fork_rng(devices=devices):
        yield


def warn_of_batch_statistics(model: nn.Module) -> None:
    """Warn if a layer normalises by the batch even in evaluation mode."""
    for name, module in model.named_modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is None:
            warnings.warn(
                f"the layer {name!r} keeps no running statistics: it normalises each batch by itself, so a "
                "candidate's predictions depend on the others in its batch. Set track_running_stats=True.",
                stacklevel=3,
            )
