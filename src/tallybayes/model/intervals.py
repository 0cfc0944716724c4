"""How an interval is written."""

from __future__ import annotations


def interval(edges: tuple[float, ...], k: int) -> str:
    """Write interval number k of those that meet at the edges.

    Examples
    --------
    >>> [interval((18.0, 65.5), k) for k in range(3)]
    ['(-inf, 18]', '(18, 65.5]', '(65.5, inf)']
    """
    low = f"{edges[k - 1]:.10g}" if k else "-inf"
    return f"({low}, {edges[k]:.10g}]" if k < len(edges) else f"({low}, inf)"
