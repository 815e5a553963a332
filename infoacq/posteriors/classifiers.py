"""Draws from scikit-learn: the members of a fitted ensemble, or any list of fitted classifiers.

Nothing of scikit-learn is imported: a member is whatever has `predict_proba` and `classes_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from tqdm import tqdm


def predict_probs(
    members: Any, inputs: Any, *, classes: Sequence[Any] | None = None, progress: bool = True
) -> Float[np.ndarray, "n k c"]:
    """Class probabilities of each candidate under each member; draw j is member j.

    Args:
        members: a fitted ensemble (`RandomForestClassifier`, `BaggingClassifier`, `VotingClassifier`, ...), or a list
            of fitted classifiers; members may have seen different classes.
        inputs: candidates (n, features), as the ensemble or the classifiers take them.
        classes: the classes in the order of the columns. None: the ensemble's `classes_`; for a list, all classes that
            some member has seen, sorted. A class that a member has not seen has probability 0 under it; one that no
            member has seen, under all.
        progress: show a progress bar on stderr.

    Raises:
        TypeError: a member is not fitted, gives no probabilities, or predicts several outputs; the members of an
            ensemble do not predict its classes, or may mean several of them; a list has seen numbers and text.
        ValueError: no members, no candidates, or a member has seen a class that is not among `classes`.
    """
    parts = _members(members)
    if (inputs.shape[0] if hasattr(inputs, "shape") else len(inputs)) == 0:
        raise ValueError("the pool is empty: there is no candidate to predict.")
    order = _as_list(_default_order(members, parts) if classes is None else classes)
    return np.stack([_aligned(p, inputs, order) for p in tqdm(parts, unit="member", disable=not progress)], axis=1)


@dataclass(frozen=True)
class _Member:
    classifier: Any
    seen: np.ndarray  # the classes of its columns
    features: np.ndarray | None = None  # the columns of the inputs that it looks at; None: all


def _default_order(members: Any, parts: list[_Member]) -> Any:
    if _is_ensemble(members):
        return members.classes_
    seen = {label for part in parts for label in part.seen.tolist()}
    try:
        return sorted(seen)
    except TypeError as error:
        raise TypeError(
            f"the members have seen classes of several kinds, {sorted(seen, key=str)}, which have no order. Fit all of "
            "them on labels of one kind, all numbers or all text, or give classes in the order that you want."
        ) from error


def _as_list(classes: Any) -> list[Any]:
    """Not by way of an array, which makes text of all if some are text."""
    return classes.tolist() if hasattr(classes, "tolist") else list(classes)


def _is_ensemble(members: Any) -> bool:
    return hasattr(members, "estimators_")


def _members(members: Any) -> list[_Member]:
    if not _is_ensemble(members) and hasattr(members, "fit"):
        raise TypeError(
            f"{type(members).__name__} is one classifier, or an ensemble that is not fitted. Fit it first; if it is no "
            "ensemble, give a list of fitted classifiers (trained on different resamples, say)."
        )
    parts = np.ravel(members.estimators_).tolist() if _is_ensemble(members) else list(members)
    if not parts:
        raise ValueError("members is empty: give at least one fitted classifier.")
    seen = [_seen(part) for part in parts]
    if not _is_ensemble(members):
        return [_Member(part, of_part) for part, of_part in zip(parts, seen, strict=True)]
    features = getattr(members, "estimators_features_", [None] * len(parts))
    return [_Member(*fields) for fields in zip(parts, _decoded(members, seen), features, strict=True)]


def _seen(member: Any) -> np.ndarray:
    name = type(member).__name__
    if not hasattr(member, "predict_proba"):
        raise TypeError(
            f"{name} has no predict_proba. Use a classifier with probabilities, or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    if not hasattr(member, "classes_"):
        raise TypeError(f"{name} is not fitted: it has no classes_. Call its fit first.")
    if isinstance(member.classes_, list):
        raise TypeError(f"{name} predicts several outputs; fit one classifier for each output.")
    return np.asarray(member.classes_)


def _decoded(ensemble: Any, seen: list[np.ndarray]) -> list[np.ndarray]:
    """Most ensembles number the classes before they fit their members: back to the classes themselves."""
    classes = np.asarray(ensemble.classes_)
    union = {label for of_member in seen for label in of_member.tolist()}
    labels, numbers = set(classes.tolist()), set(range(len(classes)))
    as_labels, as_numbers = union <= labels, union <= numbers
    # A bag's resamples may leave any class out, and it always numbers them. Of other ensembles it is not known: two of
    # several classes may as well be the yes and no of members that each answer a question of their own (one-vs-rest).
    bag = any(kind.__name__ == "BaggingClassifier" for kind in type(ensemble).__mro__)
    if not bag and len(union) <= 2 < len(classes):
        as_labels = as_numbers = False
    if as_numbers and (bag or not as_labels):
        return [classes[of_member.astype(int)] for of_member in seen]
    if as_labels and (not as_numbers or labels == numbers):
        return seen
    given = f"classes {classes.tolist()} but {sorted(union, key=str)}"
    wrong = "which may be these or their places among them" if as_labels else "so they are no draws of one classifier"
    raise TypeError(
        f"the members of {type(ensemble).__name__} do not predict its {given}, {wrong}. Give a list of classifiers "
        "that each predict the classes."
    )


def _aligned(member: _Member, inputs: Any, order: list[Any]) -> Float[np.ndarray, "n c"]:
    places = {label: place for place, label in enumerate(order)}
    missing = [label for label in member.seen.tolist() if label not in places]
    if missing:
        raise ValueError(f"{type(member.classifier).__name__} has seen the classes {missing}, which classes lacks.")
    rows = inputs
    if hasattr(inputs, "to_numpy") and not hasattr(member.classifier, "feature_names_in_"):
        rows = inputs.to_numpy()  # fitted on an array, as the members of most ensembles are
    probs = np.asarray(member.classifier.predict_proba(rows if member.features is None else rows[:, member.features]))
    aligned = np.zeros((len(probs), len(order)), dtype=probs.dtype)
    aligned[:, [places[label] for label in member.seen.tolist()]] = probs
    return aligned
