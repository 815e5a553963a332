"""Dropout that is not a layer: noticed, because no mask of ours can reach it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from infoacq.posteriors._compiled import uncompiled
from infoacq.posteriors._dropout import DropoutLayer
from infoacq.posteriors._masked import MaskedModel

_FUNCTIONS = (
    F.dropout,
    F.dropout1d,
    F.dropout2d,
    F.dropout3d,
    F.alpha_dropout,
    F.feature_alpha_dropout,
    F.multi_head_attention_forward,
)
_BUILTINS = (  # what F's call in their turn; without signatures: (input, p, train)
    *(torch.dropout, torch.alpha_dropout, torch.feature_dropout, torch.feature_alpha_dropout, torch.native_dropout),
    *(torch.dropout_, torch.alpha_dropout_, torch.feature_dropout_, torch.feature_alpha_dropout_),
)
_LAYERS = {kind.__name__ for kind in get_args(DropoutLayer)}
_WAY_OUT = "Put an nn.Dropout layer in its place: predict_probs gives it the masks of each draw."


@dataclass(frozen=True)
class DropoutCall:
    """A call that could drop units: who, with which probability, and whether in evaluation mode too."""

    name: str
    p: float
    active: bool


class _Watch(TorchFunctionMode):
    """Notes each call of a dropout function while it is on; the layers' hooks take their own out."""

    def __init__(self, noted: list[DropoutCall]) -> None:
        super().__init__()
        self._noted = noted

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func in (*_FUNCTIONS, *_BUILTINS, F.scaled_dot_product_attention):
            self._noted.append(_read_call(func, args, kwargs))
        return func(*args, **kwargs)


def _read_call(func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> DropoutCall:
    if func is F.scaled_dot_product_attention:  # a builtin without a signature; on whenever p is not 0
        return DropoutCall(func.__name__, float(kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0)), True)
    if func in _BUILTINS:
        p, train = (*args[1:], *(kwargs[name] for name in ("p", "train") if name in kwargs))
        return DropoutCall(func.__name__, float(p), train is None or bool(train))
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    p = given["dropout_p"] if "dropout_p" in given else given["p"]
    return DropoutCall(func.__name__, float(p), bool(given["training"]))


def notice_functional_dropout(runner: MaskedModel, batch: Tensor) -> None:
    """Run the model once and look for dropout that is not a layer.

    Raises:
        ValueError: nothing would vary between draws, or a function draws masks whatever the mode is.

    Warns:
        UserWarning: a dropout function stays off in all draws while dropout layers vary.
    """
    runner.watched.clear()
    with _Watch(runner.watched):
        runner(batch, draw=0, row=0)
    calls = [call for call in runner.watched if call.p > 0.0] + _out_of_sight(runner.model)
    runner.watched.clear()
    names = ", ".join(sorted({call.name for call in calls}))
    if not runner.masks.layers:
        found = f" It calls {names} in its forward, which has no masks that could be held fixed." if calls else ""
        raise ValueError(f"the model has no dropout layer, so all draws would be the same.{found} {_WAY_OUT}")
    if any(call.active for call in calls):
        raise ValueError(f"the model calls {names} with dropout always on: each batch gets new masks. {_WAY_OUT}")
    if calls:
        warnings.warn(f"the dropout inside {names} stays off in all draws. {_WAY_OUT}", stacklevel=5)


def refuse_dropout_that_is_on(member: nn.Module, batch: Tensor, number: int) -> None:
    """Run a member of an ensemble once, in evaluation mode, and look for dropout that is on all the same.

    Raises:
        ValueError: its predictions are random.
    """
    noted: list[DropoutCall] = []
    with _Watch(noted), uncompiled():
        member(batch.clone())
    names = ", ".join(sorted({call.name for call in noted if call.active and call.p > 0.0}))
    if names:
        raise ValueError(
            f"member {number} calls {names} with dropout always on, so its predictions are random. Use an nn.Dropout "
            "layer, which evaluation mode turns off, or pass training=self.training."
        )


def _out_of_sight(model: nn.Module) -> list[DropoutCall]:
    """Recurrent layers drop between their own stacked layers, and compiled scripts by themselves: not in Python."""
    recurrent = [m for m in model.modules() if isinstance(m, nn.RNNBase) and m.dropout > 0.0 and m.num_layers > 1]
    scripts = [m for m in model.modules() if isinstance(m, torch.jit.ScriptModule)]
    scripted = [m for m in scripts if m.original_name in _LAYERS and getattr(m, "p", 0.0) > 0.0]
    return [DropoutCall(type(m).__name__, m.dropout, active=False) for m in recurrent] + [
        DropoutCall(f"a scripted {m.original_name}", m.p, active=False) for m in scripted
    ]
