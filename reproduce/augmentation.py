"""Images as they are changed while a model is trained on them; the random state is PyTorch's own."""

import torch
from jaxtyping import Float
from torch import Tensor


def crop_and_flip(images: Float[Tensor, "n channels height width"]) -> Float[Tensor, "n channels height width"]:
    """Each image moved by up to 4 pixels, zeros (the mean colour) where it has gone from, and half of them mirrored."""
    from torchvision.transforms import v2

    change = v2.Compose([v2.RandomCrop(tuple(images.shape[-2:]), padding=4), v2.RandomHorizontalFlip()])
    return torch.stack([change(image) for image in images])
