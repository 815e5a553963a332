"""Checks that an objective can read what a pool holds."""

READS = {
    "classes": "class probabilities (n, k, c), for which there is BatchBALD",
    "outputs": "probabilities of several outputs (n, k, l, c), for which there is MultiOutputBatchBALD",
    "values": "values of a Gaussian model (n, k), for which there is GaussianBatchBALD",
}


def outcome(pool: object, objective: object) -> None:
    """Check that the objective reads predictions of the kind that the pool holds.

    Raises:
        ValueError: if it reads others.
    """
    held, read = (str(getattr(x, "outcome", "classes")) for x in (pool, objective))
    if read not in ("any", held):
        raise ValueError(
            f"{type(objective).__name__} reads {_named(read)}; the pool holds {_named(held)}. "
            f"If your own objective reads these, set `outcome = {held!r}` on its class."
        )


def _named(outcome: str) -> str:
    return READS.get(outcome, outcome)


def alike(given: tuple[int, ...], wanted: tuple[int, ...], name: str, of: str) -> None:
    """Check that an array is of the same candidates under the same draws as another.

    Raises:
        ValueError: if it is not.
    """
    if given != wanted:
        raise ValueError(
            f"{name} must be of the same candidates and draws as {of}, (n, k) = {wanted}; got {given}. "
            "Predict all under one set of masks (or one ensemble)."
        )
