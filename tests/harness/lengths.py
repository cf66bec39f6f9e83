"""Lengths at which kernels break, shared by the records.

They straddle lanes, warps of both vendors, blocks, vector widths and grid limits.
"""

from __future__ import annotations

LENGTHS = (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1025, 2047, 65537)
# Every length around a few 16-byte packs of the narrowest elements: heads and tails of vector access.
ODD_LENGTHS = tuple(range(41))
# Past any path that keeps a row in registers or shared memory.
LONG_LENGTHS = (65537, 131073, 1048577)
# One more than the grid's limit in its second and third dimension.
PAST_GRID_LIMIT = 65537
