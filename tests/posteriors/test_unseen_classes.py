"""Classes that no member of an ensemble has seen, beside scikit-learn's own predictions; labels of several kinds."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from infoacq.posteriors import classifiers

INPUTS, NUMBERS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


class Ensemble:
    """Fitted members and the classes that they are said to be about."""

    def __init__(self, classes, *members):
        self.classes_, self.estimators_ = np.asarray(classes), list(members)


def knows(*labels):
    """A classifier of so many classes, with equal probabilities."""
    return GaussianNB().fit(np.zeros((2 * len(labels), 1)) + np.arange(2)[:, None].repeat(len(labels), 0), labels * 2)


@pytest.mark.parametrize("labels", [NAMES, np.arange(3), np.arange(1, 4), np.array([7, 2, 30])], ids=str)
@pytest.mark.parametrize("rare", [0, 1, 2])
def test_a_class_that_no_member_of_a_bag_saw_has_probability_zero(labels, rare):
    rows = np.flatnonzero((rare != NUMBERS) | (np.arange(150) % 50 == 0))  # one flower of it
    bag = BaggingClassifier(KNeighborsClassifier(1), 3, max_samples=10, random_state=1)
    bag.fit(INPUTS[rows], labels[NUMBERS[rows]])
    unseen = bag.classes_.tolist().index(labels[rare])
    assert unseen not in np.concatenate([member.classes_ for member in bag.estimators_])
    probs = classifiers.predict_probs(bag, INPUTS, progress=False)
    assert probs.shape == (150, 3, 3)
    np.testing.assert_array_equal(probs[..., unseen], 0.0)
    np.testing.assert_allclose(probs.mean(axis=1), bag.predict_proba(INPUTS), atol=1e-12)


def test_a_bag_that_saw_one_class():
    bag = BaggingClassifier(KNeighborsClassifier(1), 1, max_samples=1, random_state=0)
    bag.fit(INPUTS[49:51], ["a", "b"])
    probs = classifiers.predict_probs(bag, INPUTS, progress=False)
    np.testing.assert_array_equal(probs.mean(axis=1), bag.predict_proba(INPUTS))


def test_members_of_other_ensembles_may_miss_a_class_by_its_name_or_its_number():
    named = Ensemble(list("abcd"), knows("a", "b"), knows("b", "d"))
    probs = classifiers.predict_probs(named, np.zeros((1, 1)), progress=False)
    np.testing.assert_allclose(probs[0], [[0.5, 0.5, 0, 0], [0, 0.5, 0, 0.5]])
    numbered = Ensemble(list("abcd"), knows(0, 1), knows(1, 3))
    np.testing.assert_array_equal(classifiers.predict_probs(numbered, np.zeros((1, 1)), progress=False), probs)


@pytest.mark.parametrize(
    ("ensemble", "message"),
    [
        (Ensemble([1, 2, 3, 4], knows(1, 2), knows(2, 3)), r"\[1, 2, 3\], which may be these or their places"),
        (Ensemble([0, 1, 2], knows(0, 1), knows(0, 1)), r"\[0, 1\], so they are no draws of one classifier"),
        (Ensemble([0, 1, 2], knows(0, 1, 5)), r"\[0, 1, 5\], so they are no draws"),
        (Ensemble(["a", "b"], knows("a"), knows(1)), r"\[1, 'a'\], so they are no draws"),
        (OneVsRestClassifier(GaussianNB()).fit(INPUTS, NAMES[NUMBERS]), r"\[0, 1\], so they are no draws"),
        (Ensemble([-1, 0, 1], knows(-1, 1), knows(-1, 1)), r"\[-1, 1\], so they are no draws"),
    ],
    ids=["names or numbers", "yes or no", "another class", "several kinds", "one-vs-rest", "codes"],
)
def test_what_members_know_has_to_be_clear(ensemble, message):
    with pytest.raises(TypeError, match=message):
        classifiers.predict_probs(ensemble, INPUTS, progress=False)


def test_members_of_two_classes_are_draws_where_there_are_two():
    vote = VotingClassifier([("nb", GaussianNB()), ("near", KNeighborsClassifier())], voting="soft")
    vote.fit(INPUTS[50:], NUMBERS[50:])
    probs = classifiers.predict_probs(vote, INPUTS, progress=False)
    np.testing.assert_allclose(probs.mean(axis=1), vote.predict_proba(INPUTS), atol=1e-12)


def test_labels_of_several_kinds_have_no_order_of_their_own():
    members = [knows(0, 1), knows("1", "x")]
    with pytest.raises(TypeError, match=r"several kinds, \[0, 1, '1', 'x'\], which have no order.*give classes"):
        classifiers.predict_probs(members, np.zeros((1, 1)), progress=False)
    probs = classifiers.predict_probs(members, np.zeros((1, 1)), classes=["1", 1, 0, "x"], progress=False)
    np.testing.assert_allclose(probs[0], [[0, 0.5, 0.5, 0], [0.5, 0, 0, 0.5]])
