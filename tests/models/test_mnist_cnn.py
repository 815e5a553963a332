import pytest
import torch
from torch import nn

from models.mnist_cnn import MNISTCNN


def test_the_layers_are_the_papers():
    model = MNISTCNN()
    kinds = [type(m) for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    assert kinds == [nn.Conv2d, nn.Conv2d, nn.Linear, nn.Linear]
    # 5x5x1x32+32, 5x5x32x64+64, 1024x128+128, 128x10+10: counted by hand
    assert sum(p.numel() for p in model.parameters()) == 832 + 51_264 + 131_200 + 1_290
    dropouts = [m for m in model.modules() if isinstance(m, (nn.Dropout, nn.Dropout2d))]
    assert [type(m) for m in dropouts] == [nn.Dropout2d, nn.Dropout2d, nn.Dropout]
    assert all(m.p == 0.5 for m in dropouts)


def test_logits_of_a_batch_and_gradients_to_every_parameter():
    model = MNISTCNN(num_classes=7, in_channels=3, image_size=32)
    logits = model(torch.randn(5, 3, 32, 32))
    assert logits.shape == (5, 7)
    logits.logsumexp(1).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_small_images_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="at least 16"):
        MNISTCNN(image_size=8)
