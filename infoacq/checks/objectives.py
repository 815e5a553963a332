"""Checks of what does the choosing: objectives, what these return, constraints and maximisers."""

import reprlib
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq.checks.arguments import several


def _named(objective: object) -> str:
    """The objective's class; for one around another both, such as Constrained(EPIG).

    What the library itself puts around an objective, for pending candidates, is not named: nobody has written it.
    """
    inner, name = getattr(objective, "objective", None), type(objective).__name__
    if not hasattr(inner, "gains"):
        return name
    return _named(inner) if name == "Conditioned" else f"{name}({_named(inner)})"


def _innermost(objective: object) -> object:
    """The objective that others are around."""
    inner = getattr(objective, "objective", None)
    return _innermost(inner) if hasattr(inner, "gains") else objective


def gains(values: np.ndarray, index: np.ndarray, objective: object) -> None:
    """Check that an objective gave each candidate a gain. −inf is a gain: that of a candidate ruled out.

    Raises:
        ValueError: if a gain is NaN or plus infinity, or there is not one a candidate.
    """
    name = _named(objective)
    if values.shape != index.shape:
        raise ValueError(
            f"{name}.gains must return one gain a candidate, shape {index.shape}; got shape {values.shape}."
        )
    bad = np.isnan(values) | (values == np.inf)
    if bad.any():
        raise ValueError(
            f"{name}.gains returned {values[bad][0]} for candidate {index[bad][0]} "
            f"({int(bad.sum())} such candidates). A gain must be a number; see what the objective does there."
        )


def no_negative_gain(values: np.ndarray, rounding: float, objective: object) -> None:
    """Check that no gain is below 0 by more than `rounding`; −inf is a candidate ruled out.

    Raises:
        ValueError: if one is.
    """
    bad = np.flatnonzero((values < -rounding) & (values > -np.inf))
    if bad.size:
        raise ValueError(
            f"gains must not be negative to be raised to a power; {_named(objective)} gave candidate {bad[0]} "
            f"{values[bad[0]]:g}. Use SoftmaxSampling or SoftRankSampling, which take gains of any sign."
        )


def capability(objective: object, flag: str, maximiser: str, instead: str) -> None:
    """Check that an objective declares what a maximiser relies on; one that cannot may say why, as `not_submodular`.

    Raises:
        ValueError: if it does not.
    """
    # A modular objective is submodular too.
    if not (getattr(objective, flag, False) or getattr(objective, "modular", False)):
        why_not = getattr(_innermost(objective), f"not_{flag}", None)
        if why_not:
            raise ValueError(
                f"{maximiser} needs a {flag} objective; {_named(objective)} is none: {why_not}. Use {instead}."
            )
        raise ValueError(
            f"{maximiser} needs a {flag} objective; {_named(objective)} does not say that it is one. "
            f"Use {instead}, or set `{flag} = True` on its class if that is a fact."
        )


def objective(value: object) -> None:
    """Check that `value` has the three verbs of an objective.

    Raises:
        TypeError: if it has not; a class instead of an instance is the common slip.
    """
    missing = [verb for verb in ("init", "gains", "update") if not callable(getattr(value, verb, None))]
    if isinstance(value, type) or missing:
        way_out = f"Write {value.__name__}()." if isinstance(value, type) else f"It lacks {', '.join(missing)}."
        raise TypeError(f"objective must be an instance with init, gains and update; got {value!r}. {way_out}")


def summand(value: object) -> None:
    """Check that `value` is an objective whose gains can be added to another's.

    Raises:
        TypeError: if it is not, or reports other gains than those it ranks by.
    """
    objective(value)
    if hasattr(value, "reported"):
        name = type(value).__name__
        raise TypeError(f"{name} is to go around a sum: {name}(WeightedSum(...), ...), not into one; got {value!r}.")


def constraint(value: object) -> None:
    """Check that `value` has the three verbs of a constraint.

    Raises:
        TypeError: if it has not.
    """
    missing = [verb for verb in ("init", "ruled_out", "update") if not callable(getattr(value, verb, None))]
    if isinstance(value, type) or missing:
        way_out = f"Write {value.__name__}(...)." if isinstance(value, type) else f"It lacks {', '.join(missing)}."
        raise TypeError(f"a constraint must be an instance with init, ruled_out and update; got {value!r}. {way_out}")


def group_numbers(groups: Any) -> Int[np.ndarray, " n"]:
    """A number for each candidate's group, the same where the names of `groups` are equal.

    Raises:
        TypeError: if they are no names, one a candidate, that can be compared.
        ValueError: if one is NaN, which is not equal to itself.
    """
    several(groups, "groups", '["a", "a", "b"], a name for each candidate')
    numbered: dict[Any, int] = {}
    try:
        # Entries of arrays and tensors compare as Python's numbers do, not by where they are kept.
        each = groups.tolist() if hasattr(groups, "tolist") else list(groups)
        names = [name.item() if hasattr(name, "item") else name for name in each]
        numbers = np.array([numbered.setdefault(name, len(numbered)) for name in names], dtype=np.int64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"groups must be one name (or number) for each candidate; got {reprlib.repr(groups)}."
        ) from error
    unnamed = [i for i, name in enumerate(names) if name != name]
    if unnamed:
        raise ValueError(
            f"groups must not be NaN: candidate {unnamed[0]} has no group ({len(unnamed)} such candidates). Give each "
            "one that is in no group a name of its own."
        )
    return numbers


def callable_object(value: object, name: str, such_as: str) -> None:
    """Check that `value` can be called.

    Raises:
        TypeError: if it cannot, or is a class of this kind of callable (the common slip) and no instance.
    """
    # The built-in map is itself a class, but its instances cannot be called.
    unmade = isinstance(value, type) and "__call__" in vars(value)
    if unmade or not callable(value):
        way_out = f"Write {value.__name__}()." if isinstance(value, type) else f"Give {such_as}."
        raise TypeError(f"{name} must be something to call, such as {such_as}; got {value!r}. {way_out}")


def allowed(position: int, gain: float, objective: object) -> None:
    """Check that a candidate that must be had may be had.

    Raises:
        ValueError: if its gain is −inf.
    """
    if gain == -np.inf:
        raise ValueError(
            f"candidate {position} must be had, and {_named(objective)} rules it out (gain −inf): it is "
            "pending, or breaks a constraint together with those before it."
        )


def some_chosen(chosen: int, objective: object) -> None:
    """Check that a selection is not empty.

    Raises:
        ValueError: if it is: the objective ruled out every candidate.
    """
    if not chosen:
        raise ValueError(
            f"{_named(objective)} rules out (gain −inf) every candidate: nothing can be chosen. "
            "Loosen its constraints, or leave candidates out of pending."
        )


def raced(can: bool, objective: object) -> None:
    """Check that an objective can compare candidates on a sample of its configurations.

    Raises:
        ValueError: if it cannot.
    """
    if not can:
        raise ValueError(
            f"RacingGreedy needs an objective with sketch and differences; {_named(objective)} has none. "
            "Use LazyGreedy()."
        )
