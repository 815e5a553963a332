"""VGG-16: its layers, what it starts from, and that its features are computed once for all draws."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torchvision
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from infoacq.posteriors.mc_dropout import predict_probs
from models.vgg16 import VGG16, feature_weights, imagenet_weights


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Operations are counted in the thread that asks for them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def published() -> nn.Module:
    """A network as torchvision publishes its weights."""
    torch.manual_seed(3)
    return torchvision.models.vgg16_bn()


@pytest.mark.parametrize("batch_norm", [True, False])
def test_the_layers_are_the_papers(batch_norm: bool):
    model = VGG16(batch_norm=batch_norm)
    convolutions = [m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d)]
    assert convolutions == [64] * 2 + [128] * 2 + [256] * 3 + [512] * 6
    assert [(m.in_features, m.out_features) for m in model.modules() if isinstance(m, nn.Linear)] == [
        (512, 512),
        (512, 10),
    ]
    assert sum(isinstance(m, (nn.BatchNorm2d, nn.BatchNorm1d)) for m in model.modules()) == 14 * batch_norm
    assert [m.p for m in model.modules() if isinstance(m, nn.Dropout)] == [0.5]
    logits = model(torch.randn(4, 3, 32, 32))
    assert logits.shape == (4, 10)
    logits.logsumexp(1).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_the_features_are_computed_once_for_all_draws():
    model = VGG16().eval()
    images = torch.randn(12, 3, 32, 32)
    work = {}
    for draws in (12, 24):  # ways of predicting are compared on a few images under at most 12 draws
        with FlopCounterMode(display=False) as counter:
            probs = predict_probs(model, images, draws, seed=0, progress=False)
        operations = counter.get_flop_counts()["Global"]
        work[draws] = sum(n for operation, n in operations.items() if "convolution" in str(operation))
    assert probs.shape == (12, 24, 10)
    assert probs.std(dim=1).max() > 0
    assert work[12] == work[24] > 0


def test_weights_come_from_a_local_file(published: nn.Module, tmp_path: Path):
    path = tmp_path / "vgg16_bn.pth"
    torch.save(published.state_dict(), path)
    model = VGG16(weights=feature_weights(path)).eval()
    images = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        assert torch.equal(model.features(images), published.eval().features(images))
    torch.save(model.state_dict(), path)  # and what was trained here can be gone on from
    assert torch.equal(feature_weights(path)["0.weight"], published.features[0].weight)


def test_weights_without_counts_of_batches_are_taken(published: nn.Module):
    """As the file that torchvision publishes."""
    state = {n: v for n, v in published.features.state_dict().items() if not n.endswith("num_batches_tracked")}
    assert torch.equal(VGG16(weights=state).features[0].weight, published.features[0].weight)


def test_imagenet_weights_are_torchvisions(published: nn.Module, monkeypatch: pytest.MonkeyPatch):
    """The download itself is torchvision's; what is asked of it, and that nothing but features is taken, is ours."""
    asked = []

    def download(weights: object, *, progress: bool, check_hash: bool) -> dict[str, torch.Tensor]:
        asked.append((weights, check_hash))
        return published.state_dict()

    monkeypatch.setattr(torchvision.models.VGG16_BN_Weights, "get_state_dict", download)
    assert imagenet_weights().keys() == published.features.state_dict().keys()
    assert asked == [(torchvision.models.VGG16_BN_Weights.IMAGENET1K_V1, True)]


def test_weights_of_another_network_are_refused(published: nn.Module, tmp_path: Path):
    with pytest.raises(ValueError, match="not those of torchvision's vgg16 "):
        VGG16(batch_norm=False, weights=published.features.state_dict())
    path = tmp_path / "weights.pth"
    with pytest.raises(FileNotFoundError, match="there is no file"):
        feature_weights(path)
    torch.save({"conv1.weight": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match=r"no state dict with names as features\.0\.weight"):
        feature_weights(path)
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match=r"no file that torch\.save has written"):
        feature_weights(path)
