"""Draws from scikit-learn, compared with scikit-learn's own averages over the members."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from infoacq.posteriors import classifiers

INPUTS, NUMBERS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
GAPS = np.array([7, 2, 30])  # not sorted, and not 0, 1, 2


@pytest.mark.parametrize("labels", [NAMES, GAPS, np.arange(3)], ids=["names", "gaps", "numbers"])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(7, max_depth=2, random_state=0),
        ExtraTreesClassifier(5, max_depth=2, random_state=0),
        BaggingClassifier(GaussianNB(), 6, max_features=2, random_state=0),
        VotingClassifier([("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))], voting="soft"),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_the_mean_over_members_is_the_ensembles_own_prediction(ensemble, labels):
    ensemble.fit(INPUTS, labels[NUMBERS])
    probs = classifiers.predict_probs(ensemble, INPUTS, progress=False)
    assert probs.shape == (150, len(ensemble.estimators_), 3)
    np.testing.assert_allclose(probs.mean(axis=1), ensemble.predict_proba(INPUTS), atol=1e-12)
    assert probs.std(axis=1).max() > 0.05


def test_members_of_a_bag_that_miss_a_class_are_aligned():
    rare = np.r_[0:50, 50:100, 100:102]  # two flowers of the last class: many resamples have none
    labels = NAMES[NUMBERS[rare]]
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 20, max_samples=15, random_state=0)
    bag.fit(INPUTS[rare], labels)
    seen = [len(member.classes_) for member in bag.estimators_]
    probs = classifiers.predict_probs(bag, INPUTS, progress=False)
    if min(seen) < 3:
        assert bool((probs[:, np.argmin(seen)] == 0).all(axis=0).any())
    np.testing.assert_allclose(probs.mean(axis=1), bag.predict_proba(INPUTS), atol=1e-12)


def test_a_list_of_classifiers_that_saw_different_classes():
    first = GaussianNB().fit(INPUTS[:100], NAMES[NUMBERS[:100]])
    second = LogisticRegression(max_iter=1000).fit(INPUTS[50:], NAMES[NUMBERS[50:]])
    probs = classifiers.predict_probs([first, second], INPUTS, progress=False)
    np.testing.assert_array_equal(probs[:, 0, :2], first.predict_proba(INPUTS))
    np.testing.assert_array_equal(probs[:, 1, 1:], second.predict_proba(INPUTS))
    assert not probs[:, 0, 2].any()
    assert not probs[:, 1, 0].any()
    order = ["virginica", "none", "setosa", "versicolor"]
    again = classifiers.predict_probs([first, second], INPUTS, classes=order, progress=False)
    np.testing.assert_array_equal(again[..., [2, 3, 0]], probs)
    assert not again[..., 1].any()
    with pytest.raises(ValueError, match=r"GaussianNB has seen the classes \['setosa'\]"):
        classifiers.predict_probs([first], INPUTS, classes=["versicolor", "virginica"], progress=False)


def test_boosted_members_keep_the_labels_themselves():
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=4, random_state=0)
    boosted.fit(INPUTS, GAPS[NUMBERS])
    probs = classifiers.predict_probs(boosted, INPUTS, progress=False)
    np.testing.assert_array_equal(probs[:, 2], boosted.estimators_[2].predict_proba(INPUTS))


def test_texts_and_sparse_matrices():
    texts, labels = ["good film", "bad film", "good book", "bad bad book"] * 3, ["up", "down"] * 6
    members = [make_pipeline(CountVectorizer(), MultinomialNB(alpha=a)).fit(texts, labels) for a in (0.1, 1.0)]
    probs = classifiers.predict_probs(members, texts, progress=False)
    np.testing.assert_array_equal(probs[:, 1], members[1].predict_proba(texts))
    forest = RandomForestClassifier(3, random_state=0).fit(INPUTS, NUMBERS)
    dense = classifiers.predict_probs(forest, INPUTS, progress=False)
    np.testing.assert_array_equal(classifiers.predict_probs(forest, csr_matrix(INPUTS), progress=False), dense)


class Frame:
    """What scikit-learn sees of a pandas data frame, as far as this needs it."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def to_numpy(self):
        return self.values


def test_a_data_frame_reaches_members_that_know_no_column_names_as_an_array():
    forest = RandomForestClassifier(3, random_state=0).fit(INPUTS, NUMBERS)
    expected = classifiers.predict_probs(forest, INPUTS, progress=False)
    np.testing.assert_array_equal(classifiers.predict_probs(forest, Frame(INPUTS), progress=False), expected)


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ([], ValueError, "members is empty"),
        ([LinearSVC().fit(INPUTS, NUMBERS)], TypeError, r"LinearSVC has no predict_proba.*CalibratedClassifierCV"),
        ([GaussianNB()], TypeError, "GaussianNB is not fitted"),
        (RandomForestClassifier(), TypeError, "ensemble that is not fitted"),
        (GaussianNB().fit(INPUTS, NUMBERS), TypeError, "is one classifier.*give a list"),
        (
            RandomForestClassifier(2).fit(INPUTS, np.c_[NUMBERS, NUMBERS]),
            TypeError,
            "several outputs",
        ),
        (GradientBoostingClassifier(n_estimators=2).fit(INPUTS, NUMBERS), TypeError, "no predict_proba"),
        (OneVsRestClassifier(GaussianNB()).fit(INPUTS, NUMBERS), TypeError, "no draws of one classifier"),
    ],
    ids=["empty", "svc", "unfitted", "forest", "single", "outputs", "gradient", "one-vs-rest"],
)
def test_what_gives_no_draws_is_refused(members, error, message):
    with pytest.raises(error, match=message):
        classifiers.predict_probs(members, INPUTS, progress=False)


def test_an_empty_pool_is_refused():
    forest = RandomForestClassifier(2).fit(INPUTS, NUMBERS)
    for empty in (INPUTS[:0], []):
        with pytest.raises(ValueError, match="pool is empty"):
            classifiers.predict_probs(forest, empty, progress=False)


def test_the_page_in_the_docs_runs_and_chooses_a_batch(capsys, untyped):
    page = Path(__file__).parents[2] / "docs" / "scikit-learn.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert code is not None
    names: dict = {}
    exec(compile(code.group(1), str(page), "exec"), names)
    assert "to label next" in capsys.readouterr().out
    assert names["probs"].shape == (500, 200, 10)
    assert len(set(names["split"].labelled.tolist())) == 115
    # The same trees by scikit-learn's own average, so that the page's predictions are the forest's.
    images = load_digits().data[names["split"].pool[:20]]
    mean = classifiers.predict_probs(names["forest"], images, progress=False).mean(axis=1)
    np.testing.assert_allclose(mean, names["forest"].predict_proba(images), atol=1e-12)
