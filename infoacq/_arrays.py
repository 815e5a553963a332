"""The one room that knows that arrays have different makers (NumPy, PyTorch, JAX, CuPy, any array-API library)."""

import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import einops
import numpy as np
import opt_einsum
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_jax_array,
    is_numpy_array,
    is_torch_array,
    to_device,
)

Function = TypeVar("Function", bound=Callable[..., Any])
Array: TypeAlias = Any
"""An array of any maker. Its honest static type is Any; shape and dtype are said by jaxtyping around it."""

# Numbers in one temporary: on a processor what stays in a core's cache (2 MiB of float32), on a device what
# fills it without crowding out the predictions.
HOST_BLOCK = 1 << 19
DEVICE_BLOCK = 1 << 26


def namespace(x: Array) -> ModuleType:
    """The array-API namespace that `x` belongs to."""
    return array_namespace(x)  # type: ignore[no-any-return]


def is_array(x: object) -> bool:
    """Whether `x` is an array of a known maker."""
    return bool(is_array_api_obj(x))


def is_floating(x: Array) -> bool:
    """Whether `x` holds real floating-point numbers, half precision included."""
    return bool(namespace(x).isdtype(x.dtype, "real floating"))


def maker(x: Array) -> str:
    """The name of the library that made `x`."""
    return namespace(x).__name__.replace("array_api_compat.", "").partition(".")[0]


def place(x: Array) -> str:
    """The maker and the device of `x`, which two arrays must share to be computed with together."""
    return f"{maker(x)} on {device(x)}"


def dtype_name(x: Array) -> str:
    """The name of the dtype of `x` without its library, such as 'float32'."""
    # A NumPy dtype's name, unlike its string, is the same in either byte order.
    return str(getattr(x.dtype, "name", x.dtype)).rpartition(".")[2]


def detached(x: Array) -> Array:
    """`x` without a gradient graph, so that no result carries one."""
    return x.detach() if is_torch_array(x) else x


def compact(x: Array) -> Array:
    """`x` with no more memory behind it than its own: a view of a torch tensor pickles its whole storage."""
    return x.clone() if is_torch_array(x) and x.untyped_storage().nbytes() > x.nbytes else x


def widened(x: Array) -> Array:
    """`x` in the dtype in which it is computed with: half precision becomes float32, the rest stays."""
    xp = namespace(x)
    return xp.astype(x, xp.float32) if xp.finfo(x.dtype).bits < 32 else x


def resolution(x: Array) -> float:
    """The difference below which two gains are equal (nats): the order of a sum depends on where a block is cut."""
    wide = widened(x[:1, ...])
    return 16.0 * float(namespace(wide).finfo(wide.dtype).eps)


def to_host(x: Array) -> np.ndarray:
    """`x` as a NumPy array of float64, where decisions are taken."""
    if not is_array(x):
        return np.asarray(x, dtype=np.float64)
    x = widened(detached(x)) if is_floating(x) else x
    return np.asarray(to_device(x, "cpu") if is_torch_array(x) or is_cupy_array(x) else x).astype(np.float64)


def from_host(values: np.ndarray, like: Array) -> Array:
    """Numbers of the host as an array of `like`'s maker, device and computing dtype."""
    wide = widened(like[:1, ...])
    return namespace(like).asarray(np.array(values), dtype=wide.dtype, device=device(like))


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of `like`'s maker, device and dtype."""
    return namespace(like).zeros(shape, dtype=like.dtype, device=device(like))


def identity(size: int, like: Array) -> Array:
    """The identity matrix of `like`'s maker, device and dtype."""
    return namespace(like).eye(size, dtype=like.dtype, device=device(like))


def take(x: Array, index: np.ndarray) -> Array:
    """The rows `index` of `x`, copied."""
    if is_numpy_array(x):
        return np.take(x, index, axis=0)
    xp = namespace(x)
    return xp.take(x, xp.asarray(np.array(index), device=device(x)), axis=0)


def known_to_einops(x: Array) -> bool:
    return bool(is_numpy_array(x) or is_torch_array(x) or is_jax_array(x) or is_cupy_array(x))


def rearrange(x: Array, pattern: str) -> Array:
    """einops.rearrange, on every maker."""
    if known_to_einops(x):
        return einops.rearrange(x, pattern)
    # For a maker that einops has not met, einops moves the positions and the array-API `take` follows them.
    xp = namespace(x)
    moved = einops.rearrange(np.arange(math.prod(x.shape)).reshape(x.shape), pattern)
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.asarray(moved.reshape(-1)), axis=0), moved.shape)


def contract(equation: str, *operands: Array) -> Array:
    """The einsum of `operands` by opt_einsum, on every maker; of two, the first has the last axes of the result."""
    backend = "auto" if known_to_einops(operands[0]) else "infoacq._array_api"
    return _contraction(equation, *(tuple(x.shape) for x in operands))(*operands, backend=backend)


@functools.lru_cache(maxsize=512)
def _contraction(equation: str, *shapes: tuple[int, ...]) -> Any:
    # Finding the path of a small product takes longer than the product.
    return opt_einsum.contract_expression(equation, *shapes)


def with_log_taken(x: Array) -> Array:
    """The logarithm of x, written over `x` where its maker allows: for temporaries."""
    if is_torch_array(x):
        return x.log_()
    return np.log(x, out=x) if is_numpy_array(x) and x.ndim else namespace(x).log(x)


def with_product_taken(x: Array, y: Array) -> Array:
    """x·y, written over `x` where its maker allows: for temporaries."""
    if is_torch_array(x):
        return x.mul_(y)
    return np.multiply(x, y, out=x) if is_numpy_array(x) and x.ndim else x * y


def compiled(function: Function) -> Function:
    """`function` of arrays as it is, but under jax.jit for those of JAX, which else compiles operation by operation."""

    @functools.wraps(function)
    def call(*arrays: Array) -> Any:
        return _jitted(function)(*arrays) if is_jax_array(arrays[0]) else function(*arrays)

    return cast(Function, call)


@functools.cache
def _jitted(function: Function) -> Function:
    # The framework of an array that exists has been imported: the core imports none.
    return cast(Function, sys.modules["jax"].jit(function))


def rows_to_evaluate(count: int, like: Array) -> int:
    """As how many rows to evaluate `count`: JAX compiles anew for each shape, so few sizes serve for all."""
    return max(64, 4 ** math.ceil(math.log(count, 4))) if is_jax_array(like) else count


def concatenated(parts: Sequence[Array]) -> Array:
    """`parts` joined along their first axis; one part is returned as it is."""
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(list(parts), axis=0)


def block_size(x: Array) -> int:
    """How many numbers a temporary beside `x` may hold."""
    return HOST_BLOCK if "cpu" in str(device(x)).lower() else DEVICE_BLOCK


def blocks(x: Array, rows: int | None = None) -> Iterator[Array]:
    """`x`, widened, as consecutive blocks of `rows` rows; by default as many as a temporary may hold."""
    step = max(1, rows or block_size(x) // max(1, math.prod(x.shape[1:])))
    for start in range(0, x.shape[0], step):
        yield widened(x[start : min(start + step, x.shape[0]), ...])


def ruled_out(gains: Array, excluded: np.ndarray) -> Array:
    """`gains` with −inf where the host's mask `excluded` is true."""
    xp = namespace(gains)
    return xp.where(xp.asarray(excluded, device=device(gains)), xp.full_like(gains, -math.inf), gains)
