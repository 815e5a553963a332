"""Predictions to choose from: real ones where they are at hand, otherwise those of random linear models.

    python -m benchmarks.predictions [--data DIR]

trains the MNIST network on 80 images and keeps what 100 of its dropout masks predict of all 60,000 training images
(120 MB, in benchmarks/cache, which is not committed): a pool of real predictions for the other benchmarks.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from jaxtyping import Float

REAL = "mnist_cnn_probs_10000x100x10.npy"
MADE = Path(__file__).parent / "cache" / "mnist_cnn_60000x100x10.npy"


def predictions(n: int, k: int, c: int) -> tuple[str, Float[np.ndarray, "n k c"]]:
    """Where they come from, and predictions (n, k, c): real ones if INFOACQ_SHARED or the cache hold as many."""
    folder = os.environ.get("INFOACQ_SHARED")
    for name, path in (("MNIST CNN", Path(folder or ".", "predictions", REAL)), ("MNIST CNN, trained here", MADE)):
        if path.exists():
            real = np.load(path, mmap_mode="r")
            if n <= real.shape[0] and k <= real.shape[1] and c == real.shape[2]:
                return name, np.ascontiguousarray(real[:n, :k]).astype(np.float32)
    return "linear models", of_linear_models(n, k, c)


def of_linear_models(n: int, k: int, c: int, seed: int = 0) -> Float[np.ndarray, "n k c"]:
    """Predictions of `k` softmax models whose weights differ around a common mean, float32.

    Candidates that lie near each other are predicted alike, so information overlaps as it does in real pools. With
    more draws than 100, or more classes than 10, no real predictions are at hand.
    """
    rng, features = np.random.default_rng(seed), 16
    inputs = rng.normal(size=(n, features)).astype(np.float32)
    weights = rng.normal(size=(features, c)) + 0.7 * rng.normal(size=(k, features, c))
    probs = np.empty((n, k, c), dtype=np.float32)
    for draw, w in enumerate(weights.astype(np.float32)):
        logits = inputs @ w
        logits = np.exp(logits - logits.max(axis=1, keepdims=True))
        probs[:, draw] = logits / logits.sum(axis=1, keepdims=True)
    return probs


def of_mnist_cnn(data: Path | None) -> Float[np.ndarray, "n k c"]:
    """What 100 dropout masks of the MNIST network, trained on 80 images, predict of the training images (float16)."""
    import torch

    from infoacq.posteriors.mc_dropout import predict_probs
    from models.mnist_cnn import MNISTCNN
    from reproduce.data import MNIST
    from reproduce.training import Labelled, Training, train

    mnist = MNIST().load(data)
    order = np.random.default_rng(0).permutation(len(mnist.train_labels))
    points, validation = (
        Labelled(mnist.train_images[part], mnist.train_labels[part]) for part in (order[:80], order[80:1104])
    )
    model, _ = train(MNISTCNN, points, validation, Training(max_epochs=30, epoch_samples=5056), seed=0)
    probs = predict_probs(model, mnist.train_images, draws=100, seed=0)
    return probs.to(torch.float16).numpy()


def main() -> None:
    """Make the real predictions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds MNIST (default: downloaded)")
    probs = of_mnist_cnn(parser.parse_args().data)
    MADE.parent.mkdir(exist_ok=True)
    np.save(MADE, probs)
    print(f"{probs.shape} {probs.dtype} written to {MADE}")


if __name__ == "__main__":
    main()
