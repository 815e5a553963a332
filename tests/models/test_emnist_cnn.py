import pytest
import torch
from torch import nn

from models.emnist_cnn import EMNISTCNN

CONVOLUTIONS = 3 * 3 * 32 + 32 + 3 * 3 * 32 * 64 + 64 + 3 * 3 * 64 * 128 + 128  # counted by hand
CLASSES = 512 * 47 + 47


def test_the_layers_are_the_papers():
    model = EMNISTCNN()
    kinds = [type(m) for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    assert kinds == [nn.Conv2d] * 3 + [nn.Linear] * 2
    dropouts = [m for m in model.modules() if isinstance(m, (nn.Dropout, nn.Dropout2d))]
    assert [type(m) for m in dropouts] == [nn.Dropout2d] * 3 + [nn.Dropout]
    assert all(m.p == 0.5 for m in dropouts)


@pytest.mark.parametrize(("pool_every_block", "features"), [(False, 128 * 4 * 4), (True, 128)])
def test_pooling_as_published_and_as_the_text_reads(pool_every_block: bool, features: int):
    model = EMNISTCNN(pool_every_block=pool_every_block)
    assert sum(p.numel() for p in model.parameters()) == CONVOLUTIONS + features * 512 + 512 + CLASSES
    logits = model(torch.randn(5, 1, 28, 28))
    assert logits.shape == (5, 47)
    logits.logsumexp(1).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@pytest.mark.parametrize("pool_every_block", [False, True])
def test_a_block_is_convolution_dropout_pooling_relu(pool_every_block: bool):
    torch.manual_seed(0)
    model = EMNISTCNN(pool_every_block=pool_every_block).eval()
    with torch.no_grad():
        x = torch.randn(3, 1, 28, 28)
        logits = model(x)
        for conv, pooled in ((model.conv1, True), (model.conv2, pool_every_block), (model.conv3, True)):
            x = nn.functional.conv2d(x, conv.weight, conv.bias)
            x = nn.functional.max_pool2d(x, 2) if pooled else x
            x = x.clamp_min(0)
        x = nn.functional.linear(x.flatten(1), model.hidden.weight, model.hidden.bias).clamp_min(0)
        expected = nn.functional.linear(x, model.classes.weight, model.classes.bias)
    torch.testing.assert_close(logits, expected)
