"""What a model may return, and what is refused."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from infoacq import from_probs
from infoacq.posteriors import ensemble, mc_dropout
from infoacq.posteriors._outputs import check_output_kind

predict_probs = partial(mc_dropout.predict_probs, progress=False)


def test_logits_log_probs_and_probs_agree(flat):
    model, x = flat(nn.Dropout(0.5)), torch.randn(9, 6)
    expected = predict_probs(model, x, 3, seed=0)
    log_probs = predict_probs(nn.Sequential(model, nn.LogSoftmax(1)), x, 3, seed=0, output="log_probs")
    probs = predict_probs(nn.Sequential(model, nn.Softmax(1)), x, 3, seed=0, output="probs")
    torch.testing.assert_close(log_probs, expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(probs, expected, rtol=0, atol=1e-6)


def test_probabilities_given_as_logits_are_refused(flat):
    model = nn.Sequential(flat(nn.Dropout(0.5)), nn.Softmax(1))
    with pytest.raises(ValueError, match="Pass output='probs'"):
        predict_probs(model, torch.randn(9, 6), 3, seed=0)


def test_logits_given_as_probabilities_are_refused(flat):
    with pytest.raises(ValueError, match="not probabilities: smallest entry"):
        predict_probs(flat(nn.Dropout(0.5)), torch.randn(9, 6), 3, seed=0, output="probs")
    with pytest.raises(ValueError, match="output must be one of"):
        check_output_kind("logit")


def test_probabilities_too_coarse_to_choose_from_are_refused(flat):
    coarse = nn.Sequential(flat(nn.Dropout(0.5)), nn.Softmax(1)).bfloat16()
    x = torch.randn(90, 6).bfloat16()
    with pytest.raises(ValueError, match=r"rounded to torch\.bfloat16.*softmax in float32"):
        predict_probs(coarse, x, 3, seed=0, output="probs")
    from_probs(predict_probs(coarse[0], x, 3, seed=0))


def test_a_nan_is_named_by_candidate_and_draw(flat):
    x = torch.randn(300, 6)
    x[270, 2] = float("nan")
    with pytest.raises(ValueError, match="candidate 270 under draw 0"):
        predict_probs(flat(nn.Dropout(0.5)), x, 3, seed=0)


def test_a_class_that_is_impossible_has_probability_zero():
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x).masked_fill(torch.tensor([False, True, False]), -torch.inf)

    probs = predict_probs(Masked(), torch.randn(4, 3), 3, seed=0)
    assert bool((probs[..., 1] == 0).all())


@pytest.mark.parametrize(
    ("last", "error", "message"),
    [
        (nn.Unflatten(1, (3, 1)), ValueError, r"shape \(n, c\)"),
        (nn.LSTM(3, 3), TypeError, "got tuple"),
    ],
)
def test_other_outputs_are_refused(flat, last, error, message):
    with pytest.raises(error, match=message):
        predict_probs(nn.Sequential(flat(nn.Dropout(0.5)), last), torch.randn(9, 6), 3, seed=0)


def test_loaders_of_tensors_tuples_and_generators_agree(flat):
    model, x = flat(nn.Dropout(0.5)), torch.randn(10, 6)
    expected = predict_probs(model, x, 2, seed=0)
    loaders = [
        DataLoader(TensorDataset(x, torch.zeros(10)), batch_size=4),
        DataLoader(x, batch_size=3),
        DataLoader(x, batch_sampler=[[0, 1, 2], [3], [4, 5, 6, 7, 8, 9]]),
        [x[:7], x[7:]],
        ([part, 1, "id"] for part in x.split(5)),
    ]
    for loader in loaders:
        torch.testing.assert_close(predict_probs(model, loader, 2, seed=0), expected, rtol=0, atol=1e-6)


def test_loaders_that_cannot_be_read_are_refused(flat):
    model, x = flat(nn.Dropout(0.5)), torch.randn(10, 6)
    with pytest.raises(ValueError, match=r"2 of 10 candidates.*drop_last=False"):
        predict_probs(model, DataLoader(x, batch_size=4, drop_last=True), 2, seed=0)
    with pytest.raises(TypeError, match="got dict"):
        predict_probs(model, [{"x": x}], 2, seed=0)
    with pytest.raises(TypeError, match=r"got ndarray.*torch\.from_numpy"):
        predict_probs(model, x.numpy(), 2, seed=0)
    for empty in (x[:0], [], DataLoader(TensorDataset(x[:0]))):
        with pytest.raises(ValueError, match="pool is empty"):
            predict_probs(model, empty, 2, seed=0)


@pytest.mark.parametrize("said", [9, 11])
def test_a_sampler_that_says_another_length_than_it_has_is_refused(flat, said):
    class Sampler(torch.utils.data.SequentialSampler):
        def __len__(self):
            return said

    x = torch.randn(10, 6)
    with pytest.raises(ValueError, match=rf"sampler has length {said}, but it gave"):
        predict_probs(flat(nn.Dropout(0.5)), DataLoader(x, batch_size=5, sampler=Sampler(x)), 2, seed=0)


def test_numbers_of_draws_and_seeds_are_checked(flat):
    model, x = flat(nn.Dropout(0.5)), torch.randn(4, 6)
    for draws in (0, -1):
        with pytest.raises(ValueError, match="draws must be at least 1"):
            predict_probs(model, x, draws, seed=0)
    with pytest.raises(ValueError, match="seed must not be negative"):
        predict_probs(model, x, 1, seed=-1)
    assert predict_probs(model, x, 1, seed=2**70).shape == (4, 1, 3)


def test_numbers_and_dtypes_of_another_kind_are_named(flat, untyped):
    model, x = flat(nn.Dropout(0.5)), torch.randn(4, 6)
    for given, name in (((2.5, 0), "draws"), ((True, 0), "draws"), ((2, 1.5), "seed")):
        with pytest.raises(TypeError, match=f"{name} must be a whole number"):
            predict_probs(model, x, given[0], seed=given[1])
    with pytest.raises(TypeError, match="dtype must be a floating dtype of torch"):
        predict_probs(model, x, 2, seed=0, dtype="float16")
    for dtype in ("float16", torch.int32):
        with pytest.raises(TypeError, match="dtype must be a floating dtype of torch"):
            ensemble.predict_probs([model], x, dtype=dtype, progress=False)


def test_the_progress_bar_is_on_stderr_and_can_be_off(flat, capfd):
    model, x = flat(nn.Dropout(0.5)), torch.randn(4, 6)
    mc_dropout.predict_probs(model, x, 2, seed=0)
    shown = capfd.readouterr()
    assert "4/4" in shown.err
    assert not shown.out
    predict_probs(model, x, 2, seed=0)
    assert capfd.readouterr() == ("", "")
