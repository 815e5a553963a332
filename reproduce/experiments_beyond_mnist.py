"""The experiments on EMNIST and CINIC-10, to be read beside the paper as those of `experiments.py`."""

from dataclasses import replace

from models.emnist_cnn import EMNISTCNN
from reproduce.augmentation import crop_and_flip
from reproduce.cinic10 import CINIC10
from reproduce.emnist import EMNIST
from reproduce.methods import BALD_KEPT, BATCHBALD_10K, RANDOM
from reproduce.settings import Experiment, Settings
from reproduce.training import Training
from reproduce.weights import vgg16

EMNIST_B5 = Experiment(
    name="emnist",
    title="EMNIST Balanced, 47 classes",
    settings=Settings(
        data=EMNIST(),
        network=EMNISTCNN,
        training=Training(max_epochs=40, epoch_samples=20_224),
        draws=10,
        acquisition_size=5,
        acquired=300,
        validation=16_384,
        validation_of_last=18_800,
        initial_per_class=0,
    ),
    methods=(RANDOM, BALD_KEPT, BATCHBALD_10K),
    targets=(0.30, 0.40),
    published={
        "random": "emnist_balanced_independent_random_k10_b5",
        "bald": "emnist_independent_bald_k10",
        "batchbald": "emnist_multibald_bald_k10",
    },
)

# What one core does in half an hour a run: shorter epochs, a sub-sample of the pool each step, less of the test set.
EMNIST_QUICK = replace(
    EMNIST_B5,
    name="emnist-quick",
    title="EMNIST, short epochs, pool of 4,000",
    settings=replace(
        EMNIST_B5.settings,
        training=Training(max_epochs=40, epoch_samples=1_280),
        acquired=200,
        validation=4_096,
        candidates=4_000,
        test_points=2_000,
    ),
    trials=3,
    published={},
)

CINIC10_B10 = Experiment(
    name="cinic10",
    title="CINIC-10",
    settings=Settings(
        data=CINIC10(),
        network=vgg16,
        training=Training(
            max_epochs=25, epoch_samples=15_360, batch_size=128, learning_rate=1e-4, augment=crop_and_flip
        ),
        draws=50,
        acquisition_size=10,
        acquired=1_200,
        validation=20_000,
        validation_balanced=True,
        initial_per_class=20,
        pretrained=True,
    ),
    methods=(RANDOM, BALD_KEPT, BATCHBALD_10K),
    targets=(0.59,),
    published={
        "bald": "cinic10_nispc20_pretrained_independent_bald_k50_b10",
        "batchbald": "cinic10_nispc20_pretrained_multibald_bald_k50_b10",
    },
)
