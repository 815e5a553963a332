"""Traps 17 to 21: mixed classes, seeds, the caller's arrays, gradients and devices, retries."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoacq
from infoacq import BatchBALD, ExactJointEntropy, Greedy, Random, from_probs, select_batch
from tests import oracles
from tests.backends import Backend, numpy
from tests.predictions import STANDARD, dirichlet, dyadic


def test_trap_17_points_with_different_numbers_of_classes_in_one_joint(maker: Backend) -> None:
    batch = [dyadic(seed, 1, 4, classes)[0] for seed, classes in enumerate([2, 5, 1, 3])]
    arrays = [maker.array(point) for point in batch]
    joint = ExactJointEntropy.empty(draws=4, like=arrays[0])
    for size, array in enumerate(arrays, start=1):
        joint = joint.append(array)
        assert joint.entropy == pytest.approx(oracles.joint_entropy([b.tolist() for b in batch[:size]]), abs=1e-9)
    assert len(joint.configurations) == 2 * 5 * 1 * 3
    other = dyadic(9, *STANDARD)
    wanted = [oracles.conditional_entropy([b.tolist() for b in batch], point) for point in other.tolist()]
    np.testing.assert_allclose(numpy(joint.conditional_entropy(maker.array(other))), wanted, atol=1e-9)


def test_trap_17_more_variables_than_there_are_letters() -> None:
    rng = np.random.default_rng(0)
    p = dirichlet(17, 70, 6, 3, concentration=3.0)
    like, joint = p[0], ExactJointEntropy.empty(draws=6, like=p).sampled(300, rng)
    for point in p:
        joint = joint.append(point, rng)
    # 70 points of three classes tell six draws apart, and what is left is the noise of the labels under each.
    noise = sum(map(oracles.expected_entropy, p.tolist()))
    assert noise < joint.entropy < noise + math.log(6) + 4 * joint.standard_error
    assert np.isfinite(joint.conditional_entropy(like[None])).all()


@pytest.mark.parametrize("objective", [Random(), BatchBALD(max_configurations=20)])
def test_trap_18_a_seed_decides_and_another_seed_decides_otherwise(objective: Any) -> None:
    p = dirichlet(18, 40, 30, 3)
    batches = [select_batch(p, objective, 8, seed=seed, maximiser=Greedy()) for seed in (0, 0, 1)]
    assert batches[0] == batches[1]
    assert batches[0] != batches[2]


def test_trap_18_without_a_seed_random_batches_differ() -> None:
    p = dirichlet(18, 1_000, 2, 2)
    assert len({tuple(select_batch(p, Random(), 5).indices) for _ in range(4)}) == 4


def test_trap_18_random_numbers_are_those_of_the_published_mixing_function() -> None:
    p = dirichlet(18, 50, 2, 2)
    gains = Random(12345).gains(None, from_probs(p).take(np.arange(50)))
    assert gains.tolist() == [oracles.splitmix64(12345, i) for i in range(50)]
    assert np.unique(gains).size == 50


def test_trap_18_no_global_random_state_is_read_or_changed() -> None:
    torch = pytest.importorskip("torch")
    p, wanted = dirichlet(18, 12, 8, 3), None
    for global_seed in (1, 2):
        np.random.seed(global_seed)  # noqa: NPY002
        torch.manual_seed(global_seed)
        states = repr(np.random.get_state()), torch.get_rng_state().tolist()  # noqa: NPY002
        got = select_batch(torch.from_numpy(p), BatchBALD(max_configurations=20), 6, seed=3)
        assert wanted in (None, got)
        assert states == (repr(np.random.get_state()), torch.get_rng_state().tolist())  # noqa: NPY002
        wanted = got


def layouts(p: np.ndarray, folder: Path) -> dict[str, np.ndarray]:
    """The same numbers laid out in every way that NumPy knows."""
    np.save(folder / "p.npy", p)
    wide = np.zeros((p.shape[0], p.shape[1] * 2, p.shape[2]), dtype=p.dtype)
    wide[:, ::2] = p
    read_only = p.copy()
    read_only.flags.writeable = False
    return {
        "read-only": read_only,
        "fortran": np.asfortranarray(p),
        "strided": wide[:, ::2],
        "negative strides": p[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
        "transposed": np.ascontiguousarray(p.transpose(2, 0, 1)).transpose(1, 2, 0),
        "memory-mapped": np.load(folder / "p.npy", mmap_mode="r"),
        "big-endian": p.astype(p.dtype.newbyteorder(">")),
    }


def every_result(array: Any) -> list:
    """What the library makes of an array: scores, a joint entropy, a batch."""
    joint = ExactJointEntropy.empty(draws=array.shape[1], like=array).append(array[0])
    selection = select_batch(array, BatchBALD(max_configurations=9), 4, seed=0)
    return [
        numpy(infoacq.mutual_information(array)).tolist(),
        numpy(joint.conditional_entropy(array)).tolist(),
        selection.indices,
        selection.gains,
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_trap_19_arrays_of_any_layout_work_and_are_never_written_to(dtype: str, tmp_path: Path) -> None:
    p = dyadic(19, *STANDARD).astype(dtype)
    wanted = every_result(p.copy())
    for name, array in layouts(p, tmp_path).items():
        before = array.tobytes()
        for got, expected in zip(every_result(array), wanted, strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-6, err_msg=name)
        assert array.tobytes() == before, name
    assert np.load(tmp_path / "p.npy").tobytes() == p.tobytes()


def test_trap_19_expanded_arrays_and_views_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    p = torch.tensor(dyadic(19, *STANDARD))
    wanted = every_result(p)
    for array in (p.permute(2, 0, 1).contiguous().permute(1, 2, 0), torch.stack([p, p], dim=1)[:, 0]):
        for got, expected in zip(every_result(array), wanted, strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-9)
    one = p[:1].expand(6, -1, -1)
    assert one.stride()[0] == 0
    np.testing.assert_allclose(numpy(infoacq.mutual_information(one)), [wanted[0][0]] * 6, atol=1e-12)


def test_trap_20_gradients_are_left_behind() -> None:
    torch = pytest.importorskip("torch")
    p = torch.tensor(dyadic(20, *STANDARD)).requires_grad_()
    for function in (infoacq.entropy, infoacq.expected_entropy, infoacq.mutual_information):
        assert not function(p).requires_grad
    joint = ExactJointEntropy.empty(draws=4, like=p).append(p[0])
    sampled = joint.sampled(2, np.random.default_rng(0))
    for j in (joint, sampled):
        assert not j.conditional_entropy(p).requires_grad
        assert not j.information_error(p).requires_grad
        assert not j.draw_weights.requires_grad
    pool = infoacq.from_logits(2.0 * p)
    assert not pool.take(np.arange(2)).predictions.requires_grad


@pytest.mark.usefixtures("untyped")
def test_trap_20_arrays_of_two_makers_are_a_clear_error() -> None:
    torch = pytest.importorskip("torch")
    p = dyadic(20, *STANDARD)
    joint = ExactJointEntropy.empty(draws=4, like=torch.tensor(p))
    message = (
        r"predictions and the joint entropy must be arrays of one library on one device; got numpy on cpu and torch"
    )
    for call in (joint.conditional_entropy, lambda x: joint.append(x[0])):
        with pytest.raises(ValueError, match=message):
            call(p)
    with pytest.raises(ValueError, match="weights and predictions must be arrays of one library"):
        infoacq.expected_entropy(torch.tensor(p), np.full(4, 0.25))


@pytest.mark.usefixtures("untyped")
def test_trap_20_a_cpu_and_a_gpu_array_are_a_clear_error() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device on this machine")
    p = torch.tensor(dyadic(20, *STANDARD))
    joint = ExactJointEntropy.empty(draws=4, like=p.cuda())
    with pytest.raises(ValueError, match=r"torch on cpu and torch on cuda:0\. Move one of them first"):
        joint.conditional_entropy(p)


def test_trap_21_a_retry_after_an_out_of_memory_error_counts_no_chunk_twice() -> None:
    """The first time that a shard is scored, memory runs out half way; the map asks again."""
    failed: set[int] = set()

    def retrying(function: Any, shards: Any) -> list[Any]:
        results = []
        for shard in shards:
            try:
                results.append(function(_Scarce(shard, failed)))
            except MemoryError:
                results.append(function(shard))
        return results

    sharded = from_probs(dirichlet(21, 20, 6, 3)).with_shards_of(6)
    wanted = select_batch(sharded, BatchBALD(max_configurations=9), 6, seed=0)
    assert select_batch(sharded, BatchBALD(max_configurations=9), 6, seed=0, map=retrying) == wanted
    assert failed


class _Scarce:
    """A shard that cannot be loaded the first time."""

    def __init__(self, shard: Any, failed: set[int]) -> None:
        self.shard, self.failed = shard, failed

    def load(self) -> Any:
        candidates = self.shard.load()
        if int(candidates.index[0]) not in self.failed:
            self.failed.add(int(candidates.index[0]))
            raise MemoryError("CUDA out of memory")
        return candidates
