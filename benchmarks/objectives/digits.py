"""scikit-learn's digits, and a Bayesian logistic regression on them that is fitted in a blink."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

Images = Float[np.ndarray, "n d"]
Labels = Int[np.ndarray, " n"]


@dataclass(frozen=True)
class Data:
    """Images with their labels."""

    images: Images
    labels: Labels

    def __getitem__(self, index: Int[np.ndarray, " m"]) -> "Data":
        return Data(self.images[index], self.labels[index])

    def __len__(self) -> int:
        return len(self.labels)

    def with_more(self, other: "Data") -> "Data":
        """These and then `other`."""
        return Data(np.concatenate([self.images, other.images]), np.concatenate([self.labels, other.labels]))


@dataclass(frozen=True)
class Split:
    """What is labelled at first, what could be labelled, and what accuracy is measured on."""

    labelled: Data
    pool: Data
    test: Data


def digits() -> Data:
    """1,797 images of 8 × 8 pixels in [0, 1]."""
    images, labels = load_digits(return_X_y=True)
    return Data(images / 16, labels.astype(np.int64))


def split(data: Data, seed: int, *, each: int = 2, test: int = 597) -> Split:
    """`each` labelled images of every class, `test` images to measure accuracy on, and the rest as the pool."""
    order = np.random.default_rng(seed).permutation(len(data))
    first = np.concatenate([order[data.labels[order] == c][:each] for c in range(10)])
    rest = order[~np.isin(order, first)]
    return Split(data[first], data[rest[test:]], data[rest[:test]])


@dataclass(frozen=True)
class Posterior:
    """Weights of a softmax regression: the most probable ones, and a root of their Laplace covariance."""

    mean: Float[np.ndarray, " dc"]
    root: Float[np.ndarray, "dc dc"]
    classes: int

    @classmethod
    def fit(cls, data: Data, precision: float = 1.0) -> "Posterior":
        """The posterior under a normal prior of this precision; every class must be among the labels."""
        x = _with_bias(data.images)
        model = LogisticRegression(C=1 / precision, fit_intercept=False, max_iter=1000).fit(x, data.labels)
        weights = model.coef_.T
        p = _softmax(x @ weights)
        curvature = p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]
        dc = weights.size
        hessian = np.einsum("n i, n j, n a b -> i a j b", x, x, curvature, optimize=True).reshape(dc, dc)
        root: np.ndarray = np.linalg.inv(np.linalg.cholesky(hessian + precision * np.eye(dc))).T
        return cls(weights.ravel(), root, p.shape[1])

    def draws(self, count: int, seed: int) -> Float[np.ndarray, "k d c"]:
        """`count` draws of the weights, each for all images alike."""
        noise = np.random.default_rng(seed).standard_normal((count, len(self.mean)))
        drawn: np.ndarray = self.mean + noise @ self.root.T
        return drawn.reshape(count, -1, self.classes)

    def accuracy(self, test: Data) -> float:
        """The share of test images whose class is the most probable one."""
        weights = self.mean.reshape(-1, self.classes)
        return float(((_with_bias(test.images) @ weights).argmax(axis=1) == test.labels).mean())


def probs(draws: Float[np.ndarray, "k d c"], images: Images) -> Float[np.ndarray, "n k c"]:
    """p(class | draw) of each image."""
    return _softmax(np.einsum("n d, k d c -> n k c", _with_bias(images), draws, optimize=True))


def _with_bias(images: Images) -> Images:
    return np.concatenate([images, np.ones((len(images), 1))], axis=1)


def _softmax(z: Float[np.ndarray, "*b c"]) -> Float[np.ndarray, "*b c"]:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    total: np.ndarray = e / e.sum(axis=-1, keepdims=True)
    return total
