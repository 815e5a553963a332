"""The experiments: one value each, to be read beside the paper (Kirsch et al. 2019, arXiv 1906.08158).

What the paper's text leaves open is as in the runs that its authors published with their code.
"""

from dataclasses import replace

from models.digits_mlp import DigitsMLP
from models.mnist_cnn import MNISTCNN
from reproduce.data import MNIST, Digits
from reproduce.errors import UserError
from reproduce.experiments_beyond_mnist import CINIC10_B10, EMNIST_B5, EMNIST_QUICK
from reproduce.methods import (
    BALD_FREE,
    BALD_KEPT,
    BATCHBALD,
    BATCHBALD_10K,
    BATCHBALD_100_DRAWS,
    MEAN_STD,
    RANDOM,
    VARIATION_RATIOS,
)
from reproduce.published import INITIAL_POINTS
from reproduce.settings import Experiment, Settings
from reproduce.training import Training

DIGITS = Experiment(
    name="digits",
    title="Repeated digits (×3)",
    settings=Settings(
        data=Digits(copies=3, noise=0.1),
        network=DigitsMLP,
        training=Training(max_epochs=40, epoch_samples=1_024),
        draws=50,
        acquisition_size=10,
        acquired=160,
        validation=300,
    ),
    methods=(RANDOM, BALD_KEPT, BATCHBALD),
    trials=3,
    targets=(0.90,),
)

REPEATED_MNIST = Experiment(
    name="repeated-mnist",
    title="Repeated MNIST (×3)",
    settings=Settings(
        data=MNIST(copies=3, noise=0.1),
        network=MNISTCNN,
        training=Training(max_epochs=40, epoch_samples=5_056),
        draws=10,
        acquisition_size=10,
        acquired=300,
        validation=3_072,
        initial_points=INITIAL_POINTS,
    ),
    methods=(RANDOM, BALD_KEPT, BALD_FREE, BATCHBALD_10K, BATCHBALD_100_DRAWS, VARIATION_RATIOS, MEAN_STD),
    published={
        "random": "rmnist_w_noise_independent_random_k10_b5",
        "bald": "rmnist_w_noise_independent_bald_k10_b10",
        "batchbald": "rmnist_w_noise_multibald_bald_k10_b10",
        "variation-ratios": "rmnist_w_noise_independent_variation_ratios_k10_b10",
        "mean-std": "rmnist_w_noise_independent_mean_stddev_k10_b10",
    },
)

REPEATED_MNIST_X1 = replace(
    REPEATED_MNIST,
    name="repeated-mnist-x1",
    title="MNIST with noise (×1)",
    settings=replace(REPEATED_MNIST.settings, data=MNIST(copies=1, noise=0.1), validation=1_024),
    methods=(RANDOM, BALD_KEPT, BATCHBALD_10K),
    published={"bald": "mnist_w_noise_independent_bald_k10_b10"},
)

REPEATED_MNIST_X2 = replace(
    REPEATED_MNIST_X1,
    name="repeated-mnist-x2",
    title="Repeated MNIST (×2)",
    settings=replace(REPEATED_MNIST.settings, data=MNIST(copies=2, noise=0.1)),
    published={
        "random": "repeated_mnist_w_noise2_independent_random_k10_b10",
        "bald": "repeated_mnist_w_noise2_independent_bald_k10_b10",
        "batchbald": "repeated_mnist_w_noise2_multibald_bald_k10_b10",
    },
)

REPEATED_MNIST_X5 = replace(
    REPEATED_MNIST_X1,
    name="repeated-mnist-x5",
    title="Repeated MNIST (×5)",
    settings=replace(REPEATED_MNIST.settings, data=MNIST(copies=5, noise=0.1)),
    published={
        "random": "repeated_mnist_w_noise5_independent_random_k10_b10",
        "bald": "repeated_mnist_w_noise5_independent_bald_k10_b10",
        "batchbald": "repeated_mnist_w_noise5_multibald_bald_k10_b10",
    },
)

MNIST_B10 = Experiment(
    name="mnist",
    title="MNIST, acquisition size 10",
    settings=Settings(
        data=MNIST(),
        network=MNISTCNN,
        training=Training(max_epochs=30, epoch_samples=5_056),
        draws=100,
        acquisition_size=10,
        acquired=300,
        validation=1_024,
        initial_points=INITIAL_POINTS,
    ),
    methods=(RANDOM, BALD_KEPT, BATCHBALD_10K),
    published={
        "bald": "mnist_independent_bald_k100_b10",
        "batchbald": "mnist_multibald_bald_k100_b10",
    },
)

MNIST_B1 = replace(
    MNIST_B10,
    name="mnist-b1",
    title="MNIST, acquisition size 1",
    settings=replace(MNIST_B10.settings, acquisition_size=1),
    methods=(RANDOM, BALD_KEPT),
    published={"bald": "mnist_independent_bald_k100_b1"},
)

MNIST_B5 = replace(
    MNIST_B10,
    name="mnist-b5",
    title="MNIST, acquisition size 5",
    settings=replace(MNIST_B10.settings, acquisition_size=5),
    published={"batchbald": "mnist_multibald_bald_k100_b5"},
)

MNIST_B40 = replace(
    MNIST_B10,
    name="mnist-b40",
    title="MNIST, acquisition size 40",
    settings=replace(MNIST_B10.settings, acquisition_size=40, acquired=280),
    published={"batchbald": "mnist_multibald_bald_k100_b40"},
)

MNIST_QUICK = replace(
    MNIST_B10,
    name="mnist-quick",
    title="MNIST, 20 draws, pool of 10,000",
    settings=replace(MNIST_B10.settings, draws=20, acquired=150, candidates=10_000),
    methods=(RANDOM, BALD_KEPT, BATCHBALD),
    trials=1,
    targets=(0.85, 0.90),
    published={},
)

EXPERIMENTS = (
    DIGITS,
    REPEATED_MNIST,
    REPEATED_MNIST_X1,
    REPEATED_MNIST_X2,
    REPEATED_MNIST_X5,
    MNIST_B10,
    MNIST_B1,
    MNIST_B5,
    MNIST_B40,
    MNIST_QUICK,
    EMNIST_B5,
    EMNIST_QUICK,
    CINIC10_B10,
)

# The same comparison at growing redundancy, and at growing acquisition size: each family shares a figure.
ABLATION = (REPEATED_MNIST_X1, REPEATED_MNIST_X2, REPEATED_MNIST, REPEATED_MNIST_X5)
ACQUISITION_SIZES = (MNIST_B1, MNIST_B5, MNIST_B10, MNIST_B40)

# So many classes that it matters which of them are acquired: they have figures of that.
MANY_CLASSES = (EMNIST_B5, EMNIST_QUICK)


def named(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        UserError: there is none.
    """
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise UserError(f"no experiment is called {name!r}; there are {', '.join(e.name for e in EXPERIMENTS)}")
