"""Models that `torch.compile` has been over: run as they are written, at the same speed, and compiled afterwards."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch
from torch import nn

from infoacq.posteriors import ensemble, mc_dropout
from infoacq.posteriors._compiled import as_written
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs


@pytest.fixture
def compiled():
    """The graphs that were compiled."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    yield graphs, backend
    torch.compiler.reset()


def compile_in_place(model, backend):
    model.compile(backend=backend)
    return model


def compile_a_part(model, backend):
    model.conv1 = torch.compile(model.conv1, backend=backend)
    return model


WAYS = {"wrapped": lambda model, backend: torch.compile(model, backend=backend), "in place": compile_in_place}


@pytest.mark.parametrize("way", [*WAYS.values(), compile_a_part], ids=[*WAYS, "a part of it"])
def test_a_compiled_model_gives_the_scores_of_the_model(way, compiled, caplog):
    torch.manual_seed(0)
    model, x = MNISTCNN(), torch.randn(30, 1, 28, 28)
    expected = naive_probs(model, x, 7, 3)
    graphs, backend = compiled
    model = way(model, backend)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 7, seed=3, progress=False)
    assert "no draws by the graph of the modules with dropout" not in caplog.text
    assert graphs == []
    torch.testing.assert_close(fast, expected, rtol=0, atol=1e-6)
    model.eval()(x)
    assert len(graphs) == 1


def test_wrapping_a_model_changes_neither_the_way_nor_what_a_file_says(compiled, caplog, tmp_path):
    torch.manual_seed(0)
    model, x, out = MNISTCNN(), torch.randn(30, 1, 28, 28), tmp_path / "pool.npy"
    mc_dropout.predict_probs(model, x, 7, seed=3, out=out, progress=False)
    wrapped = torch.compile(model, backend=compiled[1])
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        again = mc_dropout.predict_probs(
            wrapped, x, 7, seed=3, out=out, progress=False
        )  # of the same model: it is read
        mc_dropout.predict_probs(wrapped, x, 7, seed=3, progress=False)
    assert not caplog.text
    torch.testing.assert_close(torch.as_tensor(again[:]), naive_probs(model, x, 7, 3), rtol=0, atol=1e-6)


def test_members_of_an_ensemble_run_compiled(compiled):
    torch.manual_seed(0)
    members, x = [nn.Sequential(nn.Flatten(), nn.Linear(36, 3)) for _ in range(2)], torch.randn(9, 1, 6, 6)
    expected = torch.stack([member(x).softmax(1) for member in members], dim=1).detach()
    graphs, backend = compiled
    fast = ensemble.predict_probs([torch.compile(each, backend=backend) for each in members], x, progress=False)
    torch.testing.assert_close(fast, expected, rtol=0, atol=1e-6)
    assert graphs


def test_the_compiler_goes_on_once_all_threads_have_scored(compiled):
    torch.manual_seed(0)
    graphs, backend = compiled
    one, two, x = MNISTCNN(), compile_a_part(MNISTCNN(), backend), torch.randn(30, 1, 28, 28)
    begun, done = Event(), Event()

    def slow_batches():
        yield x
        begun.set()
        assert done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(mc_dropout.predict_probs, one, slow_batches(), 7, seed=3, progress=False)

        def batches():  # the first to begin is the first to end
            assert begun.wait(60)
            yield x[:10]
            done.set()
            first.result()
            yield x[10:]

        second = mc_dropout.predict_probs(two, batches(), 7, seed=3, progress=False)
    assert graphs == []
    for model, scores in ((one, first.result()), (two, second)):
        torch.testing.assert_close(scores, naive_probs(model, x, 7, 3), rtol=0, atol=1e-6)
    two.eval()(x)
    assert len(graphs) == 1


def test_a_model_is_scored_once_at_a_time():
    model, x = MNISTCNN(), torch.randn(30, 1, 28, 28)

    def batches():
        yield x
        mc_dropout.predict_probs(model, x, 2, seed=0, progress=False)

    with pytest.raises(RuntimeError, match="scored already"):
        mc_dropout.predict_probs(model, batches(), 2, seed=0, progress=False)
    assert model.training
    assert mc_dropout.predict_probs(model, x, 2, seed=0, progress=False).shape == (30, 2, 10)


def test_a_function_is_no_model():
    """Asked of the check itself: in these tests the signature refuses it before."""
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module; got function"):
        as_written(lambda x: x)


def test_a_hook_on_the_wrapper_is_run(compiled):
    torch.manual_seed(0)
    model, x = MNISTCNN(), torch.randn(30, 1, 28, 28)
    wrapped = torch.compile(model, backend=compiled[1])
    wrapped.register_forward_hook(lambda module, args, output: output * 0.0)
    probs = mc_dropout.predict_probs(wrapped, x, 1, seed=3, progress=False)
    torch.testing.assert_close(probs, torch.full((30, 1, 10), 0.1))
