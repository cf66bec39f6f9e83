"""Rules that no compiler checks: vendor names stay in vendor files, kernels for 64 lanes name no width or mask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = {".c", ".cc", ".h", ".hpp", ".cuh", ".cu", ".maca", ".in", ".inc"}
# CUDA's and MACA's own names; device words (__global__, threadIdx, __shfl_sync) are common to both.
NAMES = {
    "nvidia": re.compile(r"\bcuda[A-Z_]\w*|\bcuda_\w+\.h|\bCUDA\w*|__CUDA\w*|__nv_\w+|\bnv_bfloat16|\bcub::"),
    "metax": re.compile(r"\bmc[A-Z]\w*|\bmc_runtime\w*|\bmaca_\w+|__maca_\w+|__MACA\w*|\bMACA_\w+|\bmccub\b"),
}
WIDTHS = re.compile(
    r"\b0x[fF]{8}(?:[fF]{8})?(?:[uU]|[lL])*\b"  # a mask of all lanes
    r"|~\s*0[uUlL]*\b"
    r"|[&%]\s*(?:31|63)\b|%\s*(?:32|64)\b|>>\s*[56]\b|/\s*(?:32|64)\b"  # lane and warp numbers
    r"|\b__(?:popc|ffs|clz)\s*\("  # 32-bit views of a lane mask
    r"|\b1[uU]?\s*<<\s*lane"
    r"|\b__shfl_\w+\([^;]*,\s*(?:32|64)\s*\)"  # a shuffle's width
    r"|\[\s*(?:32|64)\s*\]"  # one partial result a warp
)


def code_of(path: Path) -> str:
    """The text without comments and string literals; every line stays where it is."""
    return re.sub(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
        lambda match: re.sub(r"[^\n]", " ", match.group()),
        path.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )


def sources() -> Iterator[Path]:
    for top in ("runtime", "backends", "operators"):
        yield from sorted(path for path in (ROOT / top).rglob("*") if path.suffix in CODE)


def owners(path: Path) -> set[str]:
    """The vendors whose names a file may use: by its folder; the emulator stands in for both."""
    parts = path.relative_to(ROOT).parts
    return set(NAMES) if "emulator" in parts else {vendor for vendor in NAMES if vendor in parts}


def found(pattern: re.Pattern[str], path: Path) -> list[str]:
    lines = enumerate(code_of(path).splitlines(), 1)
    hits = ((number, match.group()) for number, line in lines for match in pattern.finditer(line))
    return [f"{path.relative_to(ROOT)}:{number}: {text}" for number, text in hits]


def test_the_engine_has_no_facts_of_a_vendor() -> None:
    facts = re.compile(r"OPRT_EMULATOR_WARP_SIZE|\bMetaX\b|\bNVIDIA\b|\"(?:cuda|mc)\"")
    for path in sorted((ROOT / "backends" / "emulator" / "src").iterdir()):
        code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        assert not facts.findall(code), f"{path.name}: what a vendor's device is stands in backends/<vendor>/include"


def test_vendor_names_stay_with_their_vendor() -> None:
    wrong = [hit for path in sources() for vendor in set(NAMES) - owners(path) for hit in found(NAMES[vendor], path)]
    assert not wrong, "vendor names belong into backends/<vendor>/ and operators/**/<vendor>/:\n" + "\n".join(wrong)


def metax_kernels() -> list[Path]:
    """Everything that is compiled for 64 lanes under operators/: MetaX's files and what they share with others."""
    files = (path for path in sources() if path.is_relative_to(ROOT / "operators"))
    return [path for path in files if "nvidia" not in path.parts and path.suffix != ".cc"]


def test_kernels_name_no_width_or_mask() -> None:
    wrong = [hit for path in metax_kernels() for hit in found(WIDTHS, path)]
    assert not wrong, "take warp_size, full_mask and lane_mask_t from oprt_device.h:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "line",
    [
        "value += __shfl_down_sync(0xffffffff, value, offset);",
        "value += __shfl_down_sync(0xFFFFFFFFFFFFFFFFULL, value, offset);",
        "const int lane = threadIdx.x & 31;",
        "const int warp = threadIdx.x >> 5;",
        "const int warp = threadIdx.x / 64;",
        "const int count = __popc(__ballot_sync(mask, flag));",
        "value += __shfl_xor_sync(mask, value, 8, 32);",
        "__shared__ float partial[32];",
        "const auto mask = ~0u;",
    ],
)
def test_the_rule_finds(line: str) -> None:
    assert WIDTHS.search(line)


@pytest.mark.parametrize(
    "line", ["lane = threadIdx.x % warp_size;", "low = bits & 0xffff;", "x = i / 320;", "T tile[64 + 1];"]
)
def test_the_rule_leaves_alone(line: str) -> None:
    assert not WIDTHS.search(line)
