"""What stands for tensors while a forward is noted: PyTorch dies if it takes such a thing for one."""

import logging
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, fx, nn

from infoacq.posteriors import mc_dropout
from tests.posteriors.naive import naive_probs


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x**3


class Net(nn.Module):
    """A convolution whose output is flattened as it is given."""

    def __init__(self, flatten):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.drop, self.head = nn.Conv2d(1, 6, 3), nn.Dropout2d(), nn.Linear(54, 3)
        self.flatten = flatten

    def forward(self, x: Tensor, start: int = 1) -> Tensor:
        return self.head(self.flatten(self.drop(self.conv(x)), start))


def rows(x):
    return len(x)


fx.wrap("rows")


def halves(x, start):
    sides = x.shape[2]
    for _ in range(25):  # a size that is used twice is looked at once
        sides = sides // 2 + sides % 2
    return torch.reshape(x, (x.shape[0] * sides, -1))


UNDERSTOOD = {
    "sizes": lambda x, start: torch.reshape(x, (x.shape[0], -1)),
    "sizes reckoned": lambda x, start: torch.reshape(x, (x.size(0) * x.size(1) // 6, 6 * x[0, 0].numel())),
    "sizes reckoned again and again": halves,
    "sizes of zeros": lambda x, start: x.flatten(1) + torch.zeros((x.shape[0], 1)),
    "sizes of a pooling": lambda x, start: F.adaptive_avg_pool2d(x, (x.shape[2], x.shape[3])).flatten(1),
    "a size by a function of its own": lambda x, start: torch.reshape(x, (rows(x), -1)),
    "a number by default": lambda x, start: torch.flatten(x, start),
    "a power": lambda x, start: torch.pow(x, 2).flatten(1),
    "a remainder": lambda x, start: torch.remainder(x, 1.0).flatten(1),
    "a number where": lambda x, start: torch.where(x > 0, x, 0.0).flatten(1),
    "a function with a gradient of its own": lambda x, start: Cube.apply(x).flatten(1),
    "what is a tensor": lambda x, start: x.flatten(1) if isinstance(x.sort(1).values * 2, Tensor) else 1 / 0,
    "what is none": lambda x, start: 1 / 0 if isinstance(x.shape[0] * 2, Tensor) else x.flatten(1),
}
LEFT_ALONE = {
    "made anew": lambda x, start: torch.as_tensor(x).flatten(1),
    "an array": lambda x, start: torch.asarray(x, dtype=torch.float32).flatten(1),
    "an older way": lambda x, start: torch.Tensor(x).flatten(1),
}


def check_equal(model, caplog):
    x = torch.randn(30, 1, 5, 5, generator=torch.Generator().manual_seed(1))
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 3, seed=1, progress=False)
    torch.testing.assert_close(fast, naive_probs(model, x, 3, 1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("flatten", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_functions_that_look_for_tensors(flatten, caplog):
    check_equal(Net(flatten), caplog)
    assert "no draws by" not in caplog.text


@pytest.mark.parametrize("flatten", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_functions_that_want_tensors_alone(flatten, caplog):
    check_equal(Net(flatten), caplog)
    assert "no draws by the graph" in caplog.text


def test_isinstance_is_what_it_was(caplog):
    before = isinstance
    check_equal(Net(lambda x, start: x.flatten(1)), caplog)
    with pytest.raises(ZeroDivisionError):
        mc_dropout.predict_probs(Net(lambda x, start: 1 / 0), torch.randn(4, 1, 5, 5), 3, seed=1, progress=False)
    assert isinstance is before


def test_models_of_two_threads_at_once(caplog):
    """torch.fx puts its own methods on all modules while it notes the calls of one."""

    def score(number):
        model = Net(lambda x, start: x.flatten(1))
        with torch.no_grad():
            model.head.weight.add_(0.01 * number)
        return model, mc_dropout.predict_probs(model, x, 3, seed=1, progress=False)

    x, before, interval = torch.randn(8, 1, 5, 5), (nn.Module.__call__, nn.Module.__getattr__), sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        with caplog.at_level(logging.DEBUG, "infoacq.posteriors"), ThreadPoolExecutor(2) as threads:
            scored = list(threads.map(score, range(40)))
    finally:
        sys.setswitchinterval(interval)
    assert (nn.Module.__call__, nn.Module.__getattr__) == before
    assert "no draws by" not in caplog.text
    for model, probs in scored:
        torch.testing.assert_close(probs, naive_probs(model, x, 3, 1), rtol=0, atol=1e-6)
