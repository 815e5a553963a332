"""Predictions and indices in files and stores, as the command reads them."""

import csv
import json
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

# Up to this size a .npy file is read into memory: candidates that are looked at again are then not read again.
READ_WHOLE = 1 << 30
DIMENSIONS = 3  # of predictions (n, k, c); arrays of other shapes beside them in a store are about them


def read_array(name: str, array: str | None = None) -> Any:
    """The array in a .npy, .npz or Zarr store; a large .npy file is memory-mapped, Zarr is read as it is asked for.

    Raises:
        OSError, ValueError, LookupError, ImportError: if there is no such file or array, with the way out.
    """
    if "://" in name or name.rstrip("/").endswith(".zarr"):
        return _zarr_array(name, array)
    path = Path(name)
    if path.suffix not in (".npy", ".npz"):
        raise ValueError(f"{path} must be a .npy or .npz file, or a .zarr store: numpy.save and zarr.save write them.")
    try:
        return _numpy_array(path, array)
    except (FileNotFoundError, IsADirectoryError, PermissionError, LookupError):
        raise
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as an array, it may be cut off: {error}") from error


def _numpy_array(path: Path, name: str | None) -> np.ndarray:
    if path.suffix == ".npy":
        if name is not None:
            raise LookupError(f"{path} holds one array without a name: leave out --array {name}.")
        mapped: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)  # refuses a file shorter than it says
        return mapped if path.stat().st_size > READ_WHOLE else np.array(mapped)
    loaded = np.load(path, allow_pickle=False)
    with loaded:
        array: np.ndarray = loaded[_chosen(loaded.files, name, str(path))]
        return array


def _zarr_array(url: str, name: str | None) -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError(f"{url} needs Zarr: pip install 'infoacq[zarr]'.") from error
    if "://" not in url and not Path(url).exists():
        raise FileNotFoundError(f"No such file or directory: {url!r}")
    try:
        opened = zarr.open(url, mode="r")
    except Exception as error:  # of whichever store the address is of
        raise ValueError(f"{url} cannot be opened as a Zarr store: {type(error).__name__}: {error}") from error
    if not hasattr(opened, "array_keys"):
        if name is not None:
            raise LookupError(f"{url} is one array without a name: leave out --array {name}.")
        return opened
    names = sorted(opened.array_keys())
    of_predictions = [each for each in names if name is not None or opened[each].ndim == DIMENSIONS]
    return opened[_chosen(of_predictions or names, name, url)]


def _chosen(names: list[str], wanted: str | None, of: str) -> str:
    if wanted is None and len(names) != 1:
        raise LookupError(f"{of} holds {', '.join(names) or 'no array'}: choose one with --array NAME.")
    if wanted is not None and wanted not in names:
        raise LookupError(f"{of} holds no array {wanted!r}, but {', '.join(names)}.")
    return wanted or names[0]


def read_indices(path: Path) -> list[int]:
    """Whole numbers from a .npy file, a .json list, a CSV written by this command, or text with white space.

    Raises:
        OSError, ValueError: if they cannot be read.
    """
    if path.suffix == ".npy":
        indices: list[int] = read_array(str(path)).reshape(-1).tolist()
        return indices
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")  # spreadsheets put a mark of the encoding first
        if path.suffix == ".json":
            stored = json.loads(text)
            return stored["index"] if isinstance(stored, dict) else list(stored)
        if path.suffix == ".csv":
            return [int(row["index"]) for row in csv.DictReader(text.splitlines(), delimiter=_delimiter(text))]
        return [int(value) for value in text.replace(",", " ").split()]
    except (TypeError, ValueError, KeyError) as error:
        begins = f"it begins with {text[:30]!r}" if text else repr(error)
        raise ValueError(f"{path} must hold whole numbers, a list or the column index; {begins}.") from error


def _delimiter(text: str) -> str:
    """A comma, unless the first line has semicolons alone, as spreadsheets write where the comma is decimal."""
    first = text.partition("\n")[0]
    return ";" if ";" in first and "," not in first else ","
