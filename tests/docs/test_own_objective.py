"""The examples of "Write your own objective" are short, run as they stand, and choose what they say."""

import ast
import contextlib
import io

import numpy as np
import pytest

from infoacq import Greedy, LazyGreedy, from_probs, select_batch
from tests.docs.test_readme import blocks
from tests.oracles import batchbald

CODE = blocks("docs/own_objective.md", "python")


@pytest.fixture(scope="module")
def names():
    """What the page's code defines."""
    found: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for block in CODE:
            exec(compile(block, "docs/own_objective.md", "exec"), found)
    assert printed.getvalue().count("pick  candidate") == 2
    return found


def test_each_class_has_at_most_15_lines():
    classes = [node for block in CODE for node in ast.parse(block).body if isinstance(node, ast.ClassDef)]
    assert len(classes) == 2
    for node in classes:
        # The decorator is a line of its own above the class.
        assert node.end_lineno - node.lineno + 2 <= 15


def test_the_coarse_objective_is_the_information_of_merged_classes(names):
    probs = names["probs"][:7]
    merged = probs @ names["even_or_odd"]
    chosen = select_batch(probs, names["Coarse"](names["even_or_odd"]), 3)
    assert chosen.scores == pytest.approx([batchbald(merged[chosen.indices[: i + 1]].tolist()) for i in range(3)])
    whole = select_batch(from_probs(names["probs"]).with_shards_of(13), names["Coarse"](names["even_or_odd"]), 3)
    assert whole.indices == select_batch(names["probs"], names["Coarse"](names["even_or_odd"]), 3).indices


def test_farthest_first_takes_the_farthest(names):
    e = names["embeddings"]
    chosen = select_batch(names["probs"], names["FarthestFirst"](e), 5).indices
    for i in range(5):
        others = [e.mean(axis=0), *e[chosen[:i]]]
        nearest = np.min([np.linalg.norm(e - other, axis=1) for other in others], axis=0)
        assert nearest[chosen[i]] == nearest.max()


@pytest.mark.parametrize("name", ["Coarse", "FarthestFirst"])
def test_both_are_as_submodular_as_they_say(names, name):
    objective = names[name](names["even_or_odd"] if name == "Coarse" else names["embeddings"])
    lazy, plain = (select_batch(names["probs"], objective, 6, maximiser=m) for m in (LazyGreedy(), Greedy()))
    assert lazy.indices == plain.indices
