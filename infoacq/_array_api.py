"""What opt_einsum asks of a backend, in the words of the array-API standard: for makers that it has not met."""

from collections.abc import Sequence

from array_api_compat import array_namespace

from infoacq._arrays import Array


def tensordot(x: Array, y: Array, axes: Sequence[Sequence[int]]) -> Array:
    """The contraction of `x` and `y` over `axes`."""
    return array_namespace(x, y).tensordot(x, y, axes=(tuple(axes[0]), tuple(axes[1])))


def transpose(x: Array, axes: Sequence[int]) -> Array:
    """`x` with its axes in the order `axes`."""
    return array_namespace(x).permute_dims(x, tuple(axes))
