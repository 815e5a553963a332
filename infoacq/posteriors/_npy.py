"""A .npy file that grows with the pool, and a record from which an interrupted scoring goes on.

While it grows the file is called FILE.partial; FILE appears when all candidates are in it. FILE.json says what the
predictions were made from, how many candidates are done, and a checksum of their inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

Facts = Mapping[str, str | int | bool]  # what the predictions depend on beside the inputs


@dataclass
class NpyFile:
    """A sink into a file."""

    path: Path
    facts: Facts
    dtype: torch.dtype | None
    rows: int = 0
    checksum: int = 0  # of the inputs of these rows

    def write(self, probs: Float[Tensor, "n k c"], checksum: int) -> None:
        """Add the next candidates; they stay, whatever happens next.

        Raises:
            ValueError: the file on the disk is shorter than its record says, or is complete and cannot grow.
        """
        array = np.ascontiguousarray(probs.to("cpu", self.dtype or probs.dtype).numpy())
        if self.rows and not self._partial.exists():
            self._open_again()
        with self._partial.open("r+b" if self.rows else "w+b") as file:
            shape = (self.rows + len(array), *array.shape[1:])
            header = {"shape": shape, "fortran_order": False, "descr": np.lib.format.dtype_to_descr(array.dtype)}
            np.lib.format.write_array_header_1_0(file, header)  # as long for any number of rows
            start = file.tell() + self.rows * array[0].nbytes
            if self.rows and file.seek(0, os.SEEK_END) < start:
                raise ValueError(f"{self._partial} is shorter than {self._record} says. Remove both and start again.")
            file.seek(start)
            file.write(array.data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        self.rows, self.checksum = shape[0], checksum
        self._note()

    def _open_again(self) -> None:
        """The file was complete, of a pool that began as this one does; FILE.partial grows from there."""
        if not self.facts.get("consistent", True):
            raise ValueError(
                f"{self.path} is complete with {self.rows} candidates. Masks of a candidate's own depend on its place "
                "in a pass over the pool, so it cannot grow: choose another out."
            )
        self.path.replace(self._partial)

    def finish(self) -> Float[Tensor, "n k c"]:
        """All of them, mapped from the file; what is written to the tensor does not reach the file."""
        if self._partial.exists():
            self._partial.replace(self.path)
        return torch.from_numpy(np.load(self.path, mmap_mode="c"))

    def go_on(self) -> None:
        """Take up what an earlier call with the same facts has done.

        Raises:
            FileExistsError: the file is there and nothing says what it was made from.
            ValueError: it was made by a call of another kind.
        """
        if not self._record.exists():
            if self.path.exists():
                raise FileExistsError(
                    f"{self.path} exists without {self._record.name}: remove it, or choose another out."
                )
            return
        record = json.loads(self._record.read_text())
        for name, value in self.facts.items():
            if record["made_from"].get(name) != value:
                raise ValueError(
                    f"{self.path} was made with {name} = {record['made_from'].get(name)!r}, this call has {value!r}. "
                    f"Remove it and {self._record.name} to start again, or choose another out."
                )
        if self._partial.exists() or self.path.exists():
            self.rows, self.checksum = record["rows"], record["inputs_crc32"]

    def _note(self) -> None:
        record = {"made_from": self.facts, "rows": self.rows, "inputs_crc32": self.checksum}
        beside = self._record.with_suffix(".tmp")
        beside.write_text(json.dumps(record, indent=1) + "\n")
        beside.replace(self._record)

    @property
    def _partial(self) -> Path:
        return self.path.with_name(self.path.name + ".partial")

    @property
    def _record(self) -> Path:
        return self.path.with_name(self.path.name + ".json")


def npy_file(path: Path, facts: Facts, dtype: torch.dtype | None) -> NpyFile:
    """A new file, or one that the same call has begun.

    Raises:
        FileNotFoundError: its folder does not exist.
        FileExistsError: the file is there and nothing says what it was made from.
        ValueError: no .npy file is named, NumPy lacks the dtype, or the file was made by another call.
    """
    if path.suffix != ".npy":
        raise ValueError(f"out must be a .npy file; got {path}.")
    if dtype is torch.bfloat16:
        raise ValueError("a .npy file cannot hold bfloat16. Ask for torch.float16 or torch.float32.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder of out does not exist: {path.parent}. Make it first.")
    name = "as computed" if dtype is None else str(dtype).removeprefix("torch.")
    file = NpyFile(path, {**facts, "dtype": name}, dtype)
    file.go_on()
    return file


def model_digest(model: nn.Module) -> str:
    """A digest of the weights, the buffers, and the classes of all modules with their plain settings.

    What a forward does is not in it: a model whose code was changed passes as the same one.
    """
    digest = hashlib.sha256()
    for name, module in model.named_modules():
        digest.update(f"{name}:{type(module).__name__}:{_settings(module)}\n".encode())
    tensors = dict(model.named_buffers(remove_duplicate=False)) | model.state_dict(keep_vars=True)
    for name, value in tensors.items():
        digest.update(f"{name}\n".encode())
        if isinstance(value, Tensor) and value.numel():
            digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _settings(module: nn.Module) -> list[tuple[str, Any]]:
    """What a module says of itself in public attributes: of PyTorch's own all that is plain.

    Of others no whole numbers and tuples, which are often counts and shapes of what a forward saw.
    """
    own = type(module).__module__.startswith("torch.nn.")
    kinds = (bool, int, float, str, tuple, type(None)) if own else (bool, float, str)
    found = sorted((name, value) for name, value in vars(module).items() if type(value) in kinds)
    return [(name, value) for name, value in found if not name.startswith("_") and name != "training"]
