# SPDX-License-Identifier: BSD-3-Clause
"""page.py - the table and the picture of doc/dev/scale.md"""
import math
import os

import cases

BEGIN, END = "<!-- simulated: begin -->", "<!-- simulated: end -->"
TITLES = {"start_us": "start to first byte", "phase_us": "end of a phase", "report_us": "report and end"}
COLORS = ["#1b6ca8", "#c8553d", "#3d8361", "#7b4b94", "#a07a1f"]
WIDTH, HEIGHT, LEFT, TOP, GAP, BELOW = 250, 200, 60, 40, 70, 90


def table(rows):
    lines = ["| case | nodes x ranks | " + " | ".join(f"{TITLES[s]} ms" for s in cases.SPANS) + " | one MPI_Allreduce ms | processor s |",
             "|---|---|" + "---:|" * (len(cases.SPANS) + 2)]
    for row in rows:
        cells = [f"{row[s] / 1e3:.2f}" for s in cases.SPANS] + [f"{row['allreduce_us'] / 1e3:.3f}", f"{row['processor_s']:.1f}"]
        lines.append(f"| {row['case']} | {row['nodes']} x {row['per_node']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def panel(left, span, found, ranks):
    """One span over log P, a line for each series."""
    low, high = math.log2(ranks[0]), math.log2(ranks[-1])
    top_ms = max(row[span] for some in found.values() for row in some) / 1e3 * 1.1

    def x(p):
        return left + WIDTH * (math.log2(p) - low) / (high - low or 1)

    def y(ms):
        return TOP + HEIGHT * (1 - ms / top_ms)

    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{TITLES[span]}, ms</text>',
             f'<path d="M{left} {TOP}V{TOP + HEIGHT}H{left + WIDTH}" fill="none" stroke="#444"/>']
    for p in ranks:
        parts.append(f'<text x="{x(p):.0f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{p}</text>')
    for i in range(1, 5):
        ms = top_ms / 1.1 * i / 4
        parts.append(f'<text x="{left - 6}" y="{y(ms) + 4:.0f}" text-anchor="end">{ms:.2g}</text>'
                     f'<path d="M{left} {y(ms):.1f}h{WIDTH}" stroke="#ddd"/>')
    for color, ((_, per_node), some) in zip(COLORS * len(found), found.items()):
        points = " ".join(f"{x(row['ranks']):.1f},{y(row[span] / 1e3):.1f}" for row in some)
        dashes = "" if per_node == 1 else ' stroke-dasharray="6 3"'
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>')
    return parts


def picture(rows):
    found = cases.series(rows)
    ranks = sorted({row["ranks"] for row in rows})
    width, height = LEFT + len(cases.SPANS) * (WIDTH + GAP), TOP + HEIGHT + BELOW
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, span in enumerate(cases.SPANS):
        parts += panel(LEFT + i * (WIDTH + GAP), span, found, ranks)
    for i, (color, (case, per_node)) in enumerate(zip(COLORS * len(found), found)):
        x, y = LEFT + i % 4 * 240, TOP + HEIGHT + 42 + i // 4 * 18
        dashes = "" if per_node == 1 else ' stroke-dasharray="6 3"'
        parts.append(f'<path d="M{x} {y - 4}h30" stroke="{color}" stroke-width="2"{dashes}/>'
                     f'<text x="{x + 36}" y="{y}">{case}, {per_node} a node</text>')
    return "\n".join([*parts, "</svg>", ""])


def update(rows, path):
    """Put the table between its marks in the page, and the picture beside the page."""
    name = os.path.splitext(path)[0] + ".svg"
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}")
    with open(name, "w", encoding="ascii") as f:
        f.write(picture(rows))
