"""Faults to put into what reads stores, writes them and works on clusters (run by tests/mutation.py)."""

from tests.faults import Fault

SOURCES, STORES, CLUSTERS = "infoacq/sources.py", "infoacq/checks/stores.py", "infoacq/checks/clusters.py"
ROWS = "infoacq/posteriors/zarr_rows.py"
OF_OTHERS, WRITTEN = ("tests/test_stores_of_others.py",), ("tests/posteriors/test_zarr_rows.py",)

FAULTS_OF_STORES = [
    Fault(
        "a stored shard is read backwards",
        SOURCES,
        "np.asarray(source[start:stop])",
        "np.asarray(source[start:stop])[::-1]",
        ("tests/contracts/test_stored.py", "-k", "taken"),
    ),
    Fault("missing chunks pass", STORES, "there >= wanted", "there >= 0", OF_OTHERS),
    Fault(
        "zeros that Zarr leaves out are missing chunks",
        STORES,
        "(zeros_are_refused and x.chunks[2] < x.shape[2])",
        "False",
        OF_OTHERS,
    ),
    Fault(
        "chunks that hold nobody are shards",
        SOURCES,
        "np.unique(np.cumsum([0, *chunk]))",
        "np.cumsum([0, *chunk])",
        OF_OTHERS,
    ),
    Fault(
        "a file that was cut off is read",
        STORES,
        "path.stat().st_size < end:",
        "path.stat().st_size < 0:",
        ("tests/test_stored.py",),
    ),
    Fault("shards of other draws pass", STORES, "if given != wanted:", "if given[0] != wanted[0]:", OF_OTHERS),
    Fault(
        "a shard's positions start at zero once they were sent",
        "infoacq/maximisers/scoring.py",
        "Scored(np.arange(first, first + len(gains))",
        "Scored(np.arange(len(gains))",
        ("tests/dask/test_cluster.py", "-k", "fetched_together"),
    ),
    Fault(
        "two rounds leave the union out",
        "infoacq/maximisers/two_rounds.py",
        "max([of_union, *(batches",
        "max([*(batches",
        ("tests/maximisers/test_two_rounds.py",),
    ),
    Fault("workers' parts overlap", ROWS, "(worker + i) // workers", "(worker + 2 * i) // workers", WRITTEN),
    Fault("rows that were not written are not missed", ROWS, "== NOT_WRITTEN).tolist()", "== 0).tolist()", WRITTEN),
    Fault(
        "a worker of another version is taken",
        CLUSTERS,
        "if version != ours:",
        "if version is None:",
        ("tests/dask/test_faults.py", "-k", "version"),
    ),
]
