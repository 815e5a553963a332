"""Draws in several threads: the same result, nothing left behind, and only where no module keeps a state."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from infoacq.posteriors import _threads, mc_dropout
from tests.posteriors.naive import naive_probs


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def network(*behind: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 8, 3), nn.Dropout2d(0.5), nn.Conv2d(8, 8, 3), nn.Dropout2d(0.5), nn.Flatten()]
    return nn.Sequential(*layers, *behind, nn.Linear(8 * 16, 3))


def test_several_threads_give_what_one_gives(four_threads):
    model, x = network(), torch.randn(700, 1, 8, 8)
    several = mc_dropout.predict_probs(model, x, 21, seed=0, progress=False)
    assert torch.get_num_threads() == 4
    torch.set_num_threads(1)
    assert torch.equal(mc_dropout.predict_probs(model, x, 21, seed=0, progress=False), several)
    torch.testing.assert_close(several, naive_probs(model, x, 21, seed=0), rtol=0, atol=1e-5)
    assert not several.requires_grad


class Stateful(nn.Module):
    """Remembers its input between two lines, as users' modules may."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def forward(self, x):
        if len(x) < 0:
            raise AssertionError  # not traceable: the module stays whole
        self.threads.add(threading.get_ident())
        self.seen = x
        return self.seen * 2


def test_modules_of_the_users_run_in_the_callers_thread(four_threads):
    model, x = network(Stateful()), torch.randn(300, 1, 8, 8)
    fast = mc_dropout.predict_probs(model, x, 12, seed=0, progress=False)
    assert model[5].threads == {threading.get_ident()}
    torch.testing.assert_close(fast, naive_probs(model, x, 12, seed=0), rtol=0, atol=1e-5)


def test_the_number_of_threads_is_put_back_after_an_exception(four_threads):
    def share_and_fail():
        with _threads.workers(2) as in_threads:
            assert in_threads(lambda number: torch.get_num_threads(), [0, 1, 2]) == [2, 2, 2]
            in_threads(lambda number: 1 // number, [1, 0])

    with pytest.raises(ZeroDivisionError):
        share_and_fail()
    assert torch.get_num_threads() == 4
    with ThreadPoolExecutor(1) as fresh:  # threads to come take the number that was set last
        assert fresh.submit(torch.get_num_threads).result() == 4


def test_no_graph_is_recorded_in_threads():
    weight = torch.ones(3, requires_grad=True)
    with torch.no_grad(), _threads.workers(2) as in_threads:
        assert not any(in_threads(lambda _: (weight * 2).requires_grad, range(5)))


def test_autocast_is_followed(four_threads):
    model, x = network(), torch.randn(40, 1, 8, 8)
    exact = naive_probs(model, x, 10, seed=0)
    with torch.autocast("cpu", torch.bfloat16):
        assert _threads.fitting_number() == 1
        mixed = mc_dropout.predict_probs(model, x, 10, seed=0, progress=False)
        expected = naive_probs(model, x, 10, seed=0).float()
    torch.testing.assert_close(mixed, expected, rtol=0, atol=2e-2)
    torch.testing.assert_close(mixed, exact, rtol=0, atol=2e-2)
    assert not torch.equal(mixed, exact)
