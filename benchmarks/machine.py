"""What figures were measured on, and how much memory this process holds."""

import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("infoacq", "numpy", "torch", "jax", "batchbald-redux", "baal", "scikit-activeml")


def described(device: str = "cpu") -> dict[str, str]:
    """The processor, the card if it is the device that was measured, and the versions of what was compared."""
    import torch

    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    card = {"card": torch.cuda.get_device_name(device)} if torch.device(device).type == "cuda" else {}
    versions = {package: _version(package) for package in PACKAGES}
    cpu = names[0] if names else platform.processor() or platform.machine()
    return {"cpu": cpu, "cores": str(os.cpu_count()), **card, "python": platform.python_version(), **versions}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def resident_mebibytes() -> float:
    """The memory of this process (MiB); its peak starts anew from it. Linux alone tells; else NaN."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return _status("VmRSS")


def peak_mebibytes() -> float:
    """The most memory that this process has held since `resident_mebibytes` (MiB)."""
    return _status("VmHWM")


def _status(name: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))
