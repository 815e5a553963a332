"""Vectors of numbers inside compiled functions: neighbours in an array that stay in the processor's registers.

A compiler makes vectors of innermost loops alone, and what a loop around one sums up goes through memory. With these a
kernel says itself what it holds: a product of matrices runs at twice the speed, sums of addends at three times.
"""

from __future__ import annotations

import operator
from typing import Any, no_type_check

from llvmlite import ir
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model

BYTES = 64  # of a vector: two registers of AVX2, or one of AVX-512
_ROUNDING = ("contract",)  # a product and a sum may be one instruction


def compiled(function: Any) -> Any:
    """By numba, once a machine, where there is a folder to keep the result in.

    The liberties with rounding hide no NaN; the comparisons of maxima would (see `_planes`). What one compiled function
    calls is always inlined, and in the same file or in this one: numba does not notice when another file changes, so
    whoever works on this one has to remove what is kept.
    """
    compiler = {"nogil": True, "forceinline": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
    try:
        return njit(cache=True, **compiler)(function)
    except RuntimeError:  # neither beside the function's file nor in the user's own folder
        return njit(**compiler)(function)


class Vector(types.Type):  # type: ignore[misc]
    """The type of BYTES of numbers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.count = dtype, BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype}, {self.count})")


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Any) -> None:
        numbers = manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(numbers, vector.count))


@intrinsic
@no_type_check
def load(context, array, at):
    """The vector that begins `at` so many numbers from the first of an array, however many axes that has."""
    vector = _vector_in(array)

    def generate(context, builder, signature, given):
        place = _place(context, builder, array, *given)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return vector(array, types.intp), generate


@intrinsic
@no_type_check
def store(context, array, at, vector):
    """Put a vector there."""

    def generate(context, builder, signature, given):
        place = _place(context, builder, array, *given[:2])
        builder.store(given[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _vector_in(array)), generate


@intrinsic
@no_type_check
def repeated(context, array, at):
    """A vector of one number of an array, again and again."""
    vector = _vector_in(array)

    def generate(context, builder, signature, given):
        data = context.make_array(array)(context, builder, given[0]).data
        return _fill(context, builder, vector, builder.load(builder.gep(data, [given[1]])))

    return vector(array, types.intp), generate


@intrinsic
@no_type_check
def zeros_like(context, array):
    """A vector of zeros, of an array's dtype."""
    vector = _vector_in(array)
    return vector(array), lambda context, *_: ir.Constant(context.get_value_type(vector), None)


@intrinsic
@no_type_check
def larger(context, a, b):
    """Of each pair the larger number; the second where one is none."""

    def generate(context, builder, signature, given):
        return builder.select(builder.fcmp_ordered(">", *given), *given)

    return a(a, a), generate


def _arithmetic(name: str) -> Any:
    @intrinsic
    @no_type_check
    def compute(context, a, b):
        def generate(context, builder, signature, given):
            return getattr(builder, name)(*given, flags=_ROUNDING)

        return a(a, a), generate

    return compute


@intrinsic
@no_type_check
def _times(context, number, vector):
    def generate(context, builder, signature, given):
        return builder.fmul(_fill(context, builder, vector, given[0]), given[1], flags=_ROUNDING)

    return vector(vector.dtype, vector), generate


_add, _subtract, _multiply = map(_arithmetic, ("fadd", "fsub", "fmul"))


@overload(operator.add)
@no_type_check
def _(a, b):
    if isinstance(a, Vector) and a == b:
        return lambda a, b: _add(a, b)


@overload(operator.sub)
@no_type_check
def _(a, b):
    if isinstance(a, Vector) and a == b:
        return lambda a, b: _subtract(a, b)


@overload(operator.mul)
@no_type_check
def _(a, b):
    if isinstance(a, Vector) and a == b:
        return lambda a, b: _multiply(a, b)
    if isinstance(a, types.Number) and isinstance(b, Vector):
        return lambda a, b: _times(a, b)


def _vector_in(array: Any) -> Vector:
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"a vector is of an array without gaps; got {array}")
    return Vector(array.dtype)


@no_type_check
def _place(context, builder, array, given, at):
    data = context.make_array(array)(context, builder, given).data
    return builder.bitcast(builder.gep(data, [at]), context.get_value_type(_vector_in(array)).as_pointer())


@no_type_check
def _fill(context, builder, vector, number):
    """So many times the same number."""
    kind = context.get_value_type(vector)
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))
