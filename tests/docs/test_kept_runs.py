"""The numbers in the tables on the two READMEs are those of the logs and the measurements that are kept."""

import re
from statistics import median

import pytest

from tests.docs.test_readme import ROOT

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from reproduce.batch_scores import above, falling
from reproduce.experiments import MNIST_B10, REPEATED_MNIST
from reproduce.published import MEDIANS
from reproduce.results import read_log
from tests.docs.test_numbers import found

KEPT = ROOT / "reproduce" / "results"


def rows(page, first):
    """The rows of the table on a page whose head starts so, by their first cell."""
    table = (ROOT / page).read_text().split(f"| {first}")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert cells
    return {line[0]: line[1:] for line in cells}


def numbers(cell):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", cell.replace(",", ""))]


def curves(experiment, method):
    """Of each kept trial, test accuracy (%) by labels acquired."""
    logs = [read_log(path) for path in sorted((KEPT / experiment / "paper").glob(f"trial-*/{method}.jsonl"))]
    steps = [log.steps for log in logs if log]
    return [{step.labelled - of[0].labelled: 100 * step.accuracy for step in of} for of in steps]


def reached(curve, target):
    return next((labels for labels, accuracy in curve.items() if accuracy >= target), None)


def medians(of, at):
    return [round(median(curve[labels] for curve in of), 1) for labels in at]


METHODS = {"random": "random", "BALD": "bald", "BatchBALD": "batchbald"}


@pytest.mark.parametrize("name", METHODS)
def test_repeated_digits(name):
    of = curves("digits", METHODS[name])
    needed = sorted(reached(curve, 90.0) for curve in of)
    row = rows("reproduce/README.md", "method | least")[name]
    assert [int(cell) for cell in row[:3]] == needed
    assert numbers(row[3]) == medians(of, (50, 100, 150))
    assert rows("README.md", "labels acquired until")[name] == row[:3]


@pytest.mark.parametrize("name", METHODS)
def test_emnist(name):
    of = curves("emnist-quick", METHODS[name])
    row = rows("reproduce/README.md", "method | median accuracy at 50 / 100 / 150 / 200 labels | published")[name]
    assert numbers(row[0]) == medians(of, (50, 100, 150, 200))
    for cell, target in ((row[2], 30.0), (row[3], 40.0)):
        needed = [reached(curve, target) for curve in of]
        assert numbers(cell) == ([200.0] if None in needed else sorted(needed)), target


def test_one_quick_trial_of_mnist():
    (curve,) = curves("mnist-quick", "batchbald")
    table = (ROOT / "reproduce" / "README.md").read_text().split("\n| labels | 20 |")[1].split("\n\n")[0]
    labels, _, accuracies = (numbers(line) for line in f"20 |{table}".splitlines())
    assert accuracies == [round(curve[int(n) - 20], 1) for n in labels]


def test_two_rounds():
    for row in found("two_rounds")["rows"]:
        told = [f"{row['nats']:.4f} ± {row['standard_error']:.4f}", f"{row['of_greedy']:.2%}".replace("%", " %")]
        assert rows("docs/scale.md", "shards | nats")[str(row["shards"])] == told


def test_other_libraries():
    for name, cells in rows("README.md", "| 1,000 candidates").items():
        chooser = name.replace(" configurations", "")
        for cell, size in zip(cells, (1000, 4000, 60000), strict=True):
            kept = [
                r for r in found("selecting")["rows"] if (r["chooser"], r["case"]) == (chooser, f"{size}x100x10x10")
            ]
            told = [f"{r['seconds']:.2f} s, {r['mebibytes']:,.0f} MiB, {r['information']:.3f} nats" for r in kept]
            assert cell in (told or ["–"]), (name, size)


def check_medians(row, of):
    """A row of trials, and of their median accuracies from no acquired labels to 200."""
    assert int(row[0]) == len(of)
    for cell, labels in zip(row[1:6], (0, 50, 100, 150, 200), strict=True):
        assert numbers(cell)[0] == pytest.approx(median(curve[labels] for curve in of), abs=0.0501), labels


def check_needed(cell, of, target):
    needed = [reached(curve, target) for curve in of]
    assert numbers(cell) == [200.0 if labels is None else labels for labels in needed]


REPEATED = METHODS | {"BALD, free masks": "bald-free", "BatchBALD, 100 draws": "batchbald-k100"}
REPEATED |= {"Variation ratios": "variation-ratios"}


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_mnist(name):
    of = curves("repeated-mnist", REPEATED[name])
    row = rows("reproduce/README.md", "method | trials | 0 labels")[name]
    check_medians(row, of)
    check_needed(row[6], of, 90.0)


def check_published(row, group):
    """What stands in brackets, where it is quoted in the code."""
    known = [(cell, MEDIANS[group].get(at)) for cell, at in zip(row[1:6], (0, 50, 100, 150, 200), strict=True)]
    assert [numbers(cell)[1] for cell, accuracy in known if accuracy] == [
        pytest.approx(100 * accuracy, abs=0.101) for _, accuracy in known if accuracy
    ]


def test_published_medians_on_the_page():
    for head, experiment in (("method | trials | 0 labels", REPEATED_MNIST), ("on MNIST | trials", MNIST_B10)):
        table = rows("reproduce/README.md", head)
        for name, method in METHODS.items():
            if name in table:
                check_published(table[name], experiment.published[method])


def test_the_order_is_the_papers_and_by_so_much():
    random, bald, batchbald = (
        [median(curve[labels] for curve in curves("repeated-mnist", method)) for labels in (50, 100, 200)]
        for method in METHODS.values()
    )
    assert all(least < middle < most for least, middle, most in zip(bald, random, batchbald, strict=True))
    front, page = (" ".join((ROOT / p).read_text().split()) for p in ("README.md", "reproduce/README.md"))
    said = front.split("after 100 labels, ")[1].split(" at the median of six trials")[0]
    assert numbers(said) == pytest.approx([batchbald[1], random[1], bald[1]], abs=0.051)
    told = numbers(page.split("BatchBALD is above random by ")[1].split(" points")[0])
    assert told == pytest.approx([b - r for b, r in zip(batchbald, random, strict=True)], abs=0.051)


@pytest.mark.parametrize(
    ("experiment", "method", "draws", "said"),
    [
        ("repeated-mnist", "batchbald", 10, "None of our {} batches"),
        ("mnist", "batchbald", 100, "None of the {} batches of BatchBALD"),
        ("mnist-b40", "batchbald", 100, "none of our {} batches of forty does"),
        ("repeated-mnist", "batchbald-k100", 100, ""),
    ],
)
def test_no_kept_batch_exceeds_log_k_or_falls(experiment, method, draws, said):
    logs = [read_log(path) for path in sorted((KEPT / experiment / "paper").glob(f"trial-*/{method}.jsonl"))]
    scores = [step.scores for log in logs if log for step in log.steps if len(step.scores) >= 10]
    assert len(scores) >= 12
    assert (above(scores, draws), falling(scores)) == (0, 0)
    assert said.format(len(scores)) in " ".join((ROOT / "reproduce" / "README.md").read_text().split())


@pytest.mark.parametrize("name", ["BALD", "BatchBALD"])
def test_mnist(name):
    of = curves("mnist", METHODS[name])
    check_medians(rows("reproduce/README.md", "on MNIST | trials")[name], of)
    needed = rows("reproduce/README.md", "labels to | BALD, published")
    for target in (90.0, 95.0):
        check_needed(needed[f"{target:.0f} %"][1 if name == "BALD" else 3], of, target)


@pytest.mark.parametrize("copies", ["×1", "×2", "×5"])
def test_fewer_copies(copies):
    cells = rows("reproduce/README.md", "copies in the pool")[copies]
    for cell, method in zip(cells, METHODS.values(), strict=True):
        of = curves(f"repeated-mnist-x{copies[1]}", method)
        assert len(of) == 1
        needed = [reached(curve, 90.0) or max(curve) for curve in of]
        assert numbers(cell)[:1] == needed
        assert all(cell.startswith("more than") == (reached(curve, 90.0) is None) for curve in of)


def test_early_stopping():
    kept = found("early_stopping")["rows"]
    table = rows("reproduce/README.md", "labels acquired, stopped by")
    assert len(table) == 6
    for case, cells in table.items():
        acquired, rule = case.split(", ")
        of = [row for row in kept if row["acquired"] == int(acquired)]
        assert len(of) == 12  # six runs by two rules
        prefix = "published_" if rule == "published" else ""
        of = of if prefix else [row for row in of if row["rule"] == rule]
        epochs, accuracy = (median(row[prefix + name] for row in of) for name in ("epochs", "accuracy"))
        assert [float(cell) for cell in cells] == [epochs, round(100 * accuracy, 1)]
