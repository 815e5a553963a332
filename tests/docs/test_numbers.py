"""The numbers in the tables of the docs are those that the scripts in benchmarks/ found."""

import json
import re

import pytest

from tests.docs.test_readme import ROOT

pytest.importorskip("matplotlib")

from benchmarks.figures import of_objectives, of_questions


def tables(page):
    """The cells of every row of every table on a page."""
    rows = re.findall(r"^\|(.+)\|$", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)
    return [[cell.strip().strip("*`") for cell in row.split("|")] for row in rows]


def found(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def is_in(row, value):
    """Whether a number is in a row of cells, to as many digits as the cell has."""
    for cell in row:
        for number in re.findall(r"\d+(?:\.(\d+))?", cell):
            digits = len(number)
            if re.search(rf"(?<![\d.]){re.escape(f'{value:.{digits}f}')}(?![\d.])", cell):
                return True
    return False


def numbers(row):
    """The numbers of one result, those in lists as well; not the curves, which the page shows as a figure."""
    shown = [value for key, value in row.items() if not key.startswith("curve")]
    values = [v for value in shown for v in (value if isinstance(value, list) else [value])]
    return [value for value in values if not isinstance(value, str)]


@pytest.mark.parametrize("question", sorted(found("faq")))
def test_every_row_of_the_questions_is_on_the_page(question):
    cells = tables("faq.md")
    for row in found("faq")[question]["rows"]:
        assert any(all(is_in(line, value) for value in numbers(row)) for line in cells), row


@pytest.mark.parametrize("experiment", sorted(found("objectives")))
def test_every_row_of_the_experiments_is_on_the_page(experiment):
    cells = tables("objectives.md")
    for row in found("objectives")[experiment]["rows"]:
        named = [line for line in cells if line[0] == row["chooser"]]
        assert any(all(is_in(line, value) for value in numbers(row)) for line in named), row


def test_the_comparison_with_activeft_is_on_the_page():
    cells = tables("objectives.md")
    for row in found("activeft"):
        method = row["method"].removesuffix(" ITL")
        values = (row["information_on_targets"], row["targets_variance"], row["repeats"])
        named = [line for line in cells if line[:2] == [row["library"], method]]
        assert any(all(is_in(line, value) for value in values) for line in named), row


def test_the_schemes_of_sampling_are_on_the_page():
    cells = tables("estimates.md")
    kept = found("sampling_schemes")["rows"]
    for scheme in {row["scheme"] for row in kept}:
        errors = [1e3 * row["errors"][pick] for row in kept if row["scheme"] == scheme for pick in (5, 7, 9)]
        shown = [f"{error:.2f}" for error in errors]
        assert sum(line[1:] == shown for line in cells) == 1, scheme


def test_how_sure_a_race_is_is_on_the_page():
    cells = tables("estimates.md")
    for row in found("racing")["rows"]:
        shown = [f"{row[key]:.5f}" for key in ("said", "dropped_of_32", "dropped_of_128")]
        named = [line for line in cells if line[0] == f"{row['z']:g}" and line[1:4] == shown]
        assert len(named) == 1, row
        assert named[0][4] == f"{100 * row['same_picks']:.1f} %"
        assert float(named[0][5]) == pytest.approx(abs(row["lost"]), abs=6e-6)


@pytest.mark.parametrize("page", ["faq", "objectives"])
def test_every_curve_has_its_figure_on_the_page(page):
    drawn = dict(of_questions(found("faq")) if page == "faq" else of_objectives(found("objectives")))
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert drawn
    for name, figure in drawn.items():
        assert f"(../benchmarks/results/{name}.png)" in text
        lines = figure.axes[0].get_lines()
        assert all(len(line.get_xdata()) for line in lines)
        assert len(figure.axes[0].get_legend().get_texts()) == len(lines)


def test_figures_show_the_curves_that_were_kept():
    rows = found("objectives")["redundancy"]["rows"]
    lines = dict(of_objectives(found("objectives")))["objectives-redundancy"].axes[0].get_lines()
    assert {line.get_label(): line.get_ydata().tolist() for line in lines} == {r["chooser"]: r["curve"] for r in rows}
    assert all(line.get_xdata().tolist() == list(range(20, 61, 5)) for line in lines)
    assert all(row["curve"][-1] == row["accuracy"] for row in rows)


def test_a_number_that_is_not_on_the_page_is_noticed():
    assert is_in(["0.847 ± 0.01"], 0.8471)
    assert is_in(["7"], 7)
    assert not is_in(["0.847"], 0.8481)
    assert not is_in(["10.847"], 0.847)


def cell(value):
    """Three digits, as in the tables of scale.md."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def test_what_choosing_from_a_file_took_is_on_the_page():
    cells = tables("scale.md")
    for row in found("out_of_core")["rows"]:
        shown = [f"{row['cpu_seconds']:.1f} s", f"{row['file_bytes'] / 1e9:.2f} GB"]
        shown += [f"{row['bytes_of_candidates_read'] / 1e9:.2f} GB", f"{row['peak_mebibytes_beside_the_file']:.0f} MiB"]
        assert sum(line[1:] == shown for line in cells) == 1, row
        assert row["peak_mebibytes_beside_the_file"] < 2048


def test_what_a_cluster_takes_is_on_the_page_and_follows_from_what_was_measured():
    cells, kept = tables("scale.md"), found("scale")
    for row in kept["rows"]:
        shown = [f"{row[key]:,}" for key in ("workers", "shards", "candidates")]
        shown += [f"{row['scheduler_seconds']:.2f} s", f"{row['driver_seconds']:.2f} s"]
        shown += [f"{row['network_bytes'] / 1e6:.1f} MB", f"{row['driver_mebibytes']:.0f} MiB"]
        assert shown in cells, row
    for row in kept["passes"]:
        seconds = [f"{cell(row[key])} s" for key in ("scoring_seconds", "scheduler_seconds", "driver_seconds")]
        gigabytes = [f"{cell(row[key])} GB" for key in ("network_gigabytes", "driver_gigabytes")]
        assert any(line[1:] == [f"{row['workers']:,}", *seconds, *gigabytes] for line in cells), row
        assert row["scoring_seconds"] * row["workers"] == pytest.approx(
            row["candidates"] * kept["costs"]["worker_seconds_a_candidate"]
        )


def test_what_two_rounds_lose_is_on_the_page():
    cells = tables("scale.md")
    for row in found("two_rounds")["rows"]:
        shown = [str(row["shards"]), f"{row['nats']:.4f} ± {row['standard_error']:.4f}", f"{row['of_greedy']:.2%}"]
        assert [*shown[:2], shown[2].replace("%", " %")] in cells, row


def test_what_few_draws_first_lose_is_on_the_page():
    cells, kept = tables("draws.md"), found("few_draws_first")
    every, few = f"{kept['draws']} draws", f"{kept['few']} draws"
    assert [f"all, {every}", f"{kept['whole']:.3f}", "100 %"] in cells
    assert [f"all, {few}", f"{kept['few_alone']:.3f}", f"{kept['few'] / kept['draws']:.0%}".replace("%", " %")] in cells
    for row in kept["rows"]:
        work = f"{row['predictions']:.0%}".replace("%", " %")
        assert [f"the best {row['again']:,}, {every}", f"{row['nats']:.3f}", work] in cells, row
        assert [
            f"{row['again']:,} at random, {every}",
            f"{row['at_random']:.3f}",
            f"{row['again'] / kept['candidates']:.0%}".replace("%", " %"),
        ] in cells


def test_the_times_of_scoring_are_on_the_page():
    cells = tables("draws.md")
    timings = {(row["network"], row["way"]): row for row in found("scoring")["timings"]}
    for network in {network for network, _ in timings}:
        usual, ours = timings[network, "dropout left on"], timings[network, "predict_probs"]
        values = [usual["us_per_image_and_draw"], ours["us_per_image_and_draw"], ours["times_faster"]]
        assert any(all(is_in(line, value) for value in values) for line in cells), network
