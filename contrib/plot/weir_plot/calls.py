# SPDX-License-Identifier: BSD-3-Clause
"""calls: a staircase for each task. Steep is fast, a flat piece is a stall."""
import numpy as np

from . import panels, style
from .refusal import BAD_USAGE, Refusal

NAMED = 6  # tasks with a colour of their own, unless asked for
BACKGROUND = 300  # points of a staircase in the background


def parse_tasks(text):
    """Ranks of 0,3-5,9."""
    found = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()) or (dash and int(high) < int(low)):
            raise Refusal("--tasks=%s: '%s' is not a rank or a range such as 3-5" % (text, part), BAD_USAGE)
        found += range(int(low), int(high or low) + 1)
        if len(found) > 10000:
            raise Refusal("--tasks=%s: more than 10000 tasks" % text, BAD_USAGE)
    return list(dict.fromkeys(found))


def draw(run, options):
    phases = panels.choose(run, options)
    wanted = parse_tasks(options.tasks) if options.tasks else None
    fig, axes = panels.figure(run, phases, "calls of each task")
    for ax, phase in zip(axes, phases):
        stairs = {rank: (times, numbers) for rank, times, numbers in phase.calls(options.operation).staircases()}
        draw_phase(ax, phase, stairs, wanted)
        style.legend_inside(ax)
    panels.finish(axes, phases)
    return fig


def draw_phase(ax, phase, stairs, wanted):
    named = choose(stairs, wanted)
    if not named:
        raise Refusal(
            "--tasks: none of them %s in phase %s; tasks are %s"
            % (
                "is in the timeline" if phase.run.chosen.ranks else "made calls",
                phase.key,
                phase.run.chosen.ranks or "0 to %d" % max(stairs),
            ),
            BAD_USAGE,
        )
    if wanted is None:
        background(ax, phase, [steps for rank, steps in stairs.items() if rank not in dict(named)])
    picked = phase.run.chosen.picked
    for place, (rank, words) in enumerate(named):
        times, numbers = stairs[rank]
        time, number = style.thin(np.concatenate([[phase.begin], times]), np.concatenate([[0], numbers]))
        (line,) = ax.plot(
            time,
            number,
            drawstyle="default" if picked else "steps-post",
            marker="." if picked and len(time) < 200 else "",
            color=style.CYCLE[place % len(style.CYCLE)],
            linestyle=style.DASHES[place // len(style.CYCLE) % len(style.DASHES)],
            linewidth=1.3,
            label=words,
        )
        style.hover(line, "%s: %d calls" % (words, numbers[-1]))
    ax.set_ylim(0, None)
    ax.set_ylabel("operations that returned" if picked and len(phase.operations()) > 1 else "calls that returned")


def choose(stairs, wanted):
    """(rank, words for the legend) of the tasks with colours: those asked for, all of few, else some that tell."""
    ranks = sorted(stairs)
    if wanted is not None:
        return [(r, "task %d" % r) for r in wanted if r in stairs][: len(style.CYCLE) * len(style.DASHES)]
    if len(ranks) <= NAMED:
        return [(r, "task %d" % r) for r in ranks]
    by_speed = sorted(ranks, key=lambda r: (speed(*stairs[r]), r))
    count = len(by_speed)
    return [
        (by_speed[-1], "fastest: task %d" % by_speed[-1]),
        (by_speed[count * 3 // 4], "upper quartile: task %d" % by_speed[count * 3 // 4]),
        (by_speed[count // 2], "median: task %d" % by_speed[count // 2]),
        (by_speed[count // 4], "lower quartile: task %d" % by_speed[count // 4]),
        (by_speed[0], "slowest: task %d" % by_speed[0]),
    ]


def speed(times, numbers):
    """Calls a second of a task: up to its last one."""
    return (numbers[-1] - numbers[0] + 1) / max(times[-1] - times[0], 1e-9)


def background(ax, phase, stairs):
    """All other tasks in grey: as pixels, so that the file stays small however many there are."""
    if not stairs:
        return
    style.matplotlib()
    from matplotlib.collections import LineCollection

    lines = []
    for times, numbers in stairs:
        keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), BACKGROUND)).astype(int))
        lines.append(
            np.column_stack([np.concatenate([[phase.begin], times[keep]]), np.concatenate([[0], numbers[keep]])])
        )
    many = len(lines) > 50
    ax.add_collection(
        LineCollection(
            lines,
            colors=style.PALE if not many else "#999999",
            linewidths=0.7,
            alpha=1 if not many else 0.25,
            rasterized=True,
        )
    )
    ax.plot([], [], color=style.PALE, label="%d other tasks" % len(lines))
