"""Drawings of architectures, in text and as SVG, without any package."""

from __future__ import annotations

from collections.abc import Sequence

_COLUMN, _ROW = 92, 44
_BOX_WIDTH, _BOX_HEIGHT = 64, 28


def _children(link: Sequence[int]) -> list[list[int]]:
    """Return the children of the input (0) and of every node."""
    return [
        [node for node, above in enumerate(link, start=1) if above == parent]
        for parent in range(len(link) + 1)
    ]


def draw_text(link: Sequence[int], ops: Sequence[str]) -> str:
    """Draw links and operations as a tree that grows to the right, leaves on the output.

    Example:
        >>> print(draw_text([0, 1, 1, 2], ["gcn", "gin", "cheb", "fc"]))
        input ── gcn ─┬─ gin ── fc ── output
                      └─ cheb ─────── output
    """
    children = _children(link)
    names = ["input", *ops]

    def lines(node: int) -> list[str]:
        head = names[node]
        if not children[node]:
            return [head]
        blocks = [lines(child) for child in children[node]]
        if len(blocks) == 1:
            first, *rest = blocks[0]
            return [f"{head} ── {first}", *(" " * (len(head) + 4) + line for line in rest)]
        drawn = []
        for number, block in enumerate(blocks):
            last = number == len(blocks) - 1
            branch = "─┬─ " if number == 0 else " └─ " if last else " ├─ "
            indent = head + " " if number == 0 else " " * (len(head) + 1)
            for position, line in enumerate(block):
                if position == 0:
                    drawn.append(indent + branch + line)
                else:
                    drawn.append(" " * (len(head) + 1) + ("    " if last else " │  ") + line)
        return drawn

    drawn = lines(0)
    width = max(map(len, drawn))
    return "\n".join(f"{line} {'─' * (width - len(line))}── output" for line in drawn)


def draw_svg(link: Sequence[int], ops: Sequence[str], title: str) -> str:
    """Draw links and operations as an SVG document: input on the left, output on the right."""
    children = _children(link)
    place: dict[int, tuple[float, float]] = {}
    next_row = 0

    def settle(node: int, depth: int) -> float:
        nonlocal next_row
        if children[node]:
            rows = [settle(child, depth + 1) for child in children[node]]
            row = sum(rows) / len(rows)
        else:
            row = float(next_row)
            next_row += 1
        place[node] = (depth, row)
        return row

    output = len(link) + 1
    middle = settle(0, 0)
    depth = max(int(column) for column, _ in place.values())
    place[output] = (depth + 1, middle)
    edges = [(parent, node) for node, parent in enumerate(link, start=1)]
    edges += [(node, output) for node in range(1, output) if not children[node]]
    names = ["input", *ops, "output"]
    width, height = (depth + 2) * _COLUMN, next_row * _ROW + 12

    def centre(node: int) -> tuple[float, float]:
        column, row = place[node]
        return (column + 0.5) * _COLUMN, (row + 0.5) * _ROW + 6

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{title}</title>",
    ]
    for start, end in edges:
        (x1, y1), (x2, y2) = centre(start), centre(end)
        x1, x2 = x1 + _BOX_WIDTH / 2, x2 - _BOX_WIDTH / 2
        bend = (x1 + x2) / 2
        parts.append(
            f'<path d="M{x1:g} {y1:g}C{bend:g} {y1:g} {bend:g} {y2:g} {x2:g} {y2:g}" '
            'fill="none" stroke="#666" stroke-width="1.5"/>'
        )
    for node, name in enumerate(names):
        x, y = centre(node)
        fill = "#eee" if node in (0, output) or name == "skip" else "#cfe3f5"
        parts.append(
            f'<rect x="{x - _BOX_WIDTH / 2:g}" y="{y - _BOX_HEIGHT / 2:g}" rx="6" '
            f'width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" fill="{fill}" stroke="#444"/>'
            f'<text x="{x:g}" y="{y + 4.5:g}" text-anchor="middle" fill="#111">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
