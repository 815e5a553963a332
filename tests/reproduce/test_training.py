"""Training computes what it would compute with images as they come."""

import pytest
import torch

from reproduce.training import channels_last


@pytest.mark.parametrize("channels", [1, 3])
def test_channels_last_changes_the_order_in_memory_and_nothing_else(channels: int) -> None:
    images = torch.randn(5, channels, 4, 6)[1:]
    moved = channels_last(images)
    assert torch.equal(moved, images)
    assert moved.stride() == (24 * channels, 1, 6 * channels, channels)
