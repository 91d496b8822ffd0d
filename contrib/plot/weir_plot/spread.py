# SPDX-License-Identifier: BSD-3-Clause
"""spread: when the earliest, the median and the latest task came to call k. A wide fan is unfair service."""
import numpy as np

from . import panels, quantities, style
from .chosen import RATES

NEEDS = (RATES,)

LEVELS = 600  # calls k that are looked at


def draw(run, options):
    phases = panels.choose(run, options)
    fig, axes = panels.figure(run, phases, "spread of the tasks, call by call")
    for ax, phase in zip(axes, phases):
        draw_phase(ax, phase, options.operation)
    panels.finish(axes, phases)
    style.legend_inside(axes[0])
    return fig


def draw_phase(ax, phase, operation):
    picked = phase.run.chosen.picked
    stairs = [(times, numbers) for _, times, numbers in phase.calls(operation).staircases()]
    fewest, most = (int(find(numbers[-1] for _, numbers in stairs)) for find in (min, max))
    fewest = fewest if len(stairs) == len(phase.run.ranks(phase.test)) else 0
    levels = (
        np.unique(np.linspace(1, fewest, min(LEVELS, fewest)).astype(int)) if fewest else np.zeros(0, int)
    )
    colour = style.colour(phase.key)
    if levels.size:
        times = np.stack([reached(phase, steps, levels) for steps in stairs])
        low, p05, middle, p95, high = np.percentile(times, [0, 5, 50, 95, 100], axis=0)
        ax.fill_betweenx(
            levels, low, high, color=colour, alpha=0.13, linewidth=0, label="earliest to latest task"
        )
        ax.fill_betweenx(
            levels, p05, p95, color=colour, alpha=0.28, linewidth=0, label="5 % to 95 % of the tasks"
        )
        ax.plot(low, levels, color=colour, linewidth=0.9, linestyle="--", label="earliest task")
        ax.plot(middle, levels, color=style.BLACK, linewidth=1.6, label="median task")
        ax.plot(high, levels, color=colour, linewidth=0.9, linestyle="-.", label="latest task")
    if most > fewest and not picked:  # the last call of a task is not known
        beyond = np.unique(np.linspace(max(fewest, 1), most, min(LEVELS, most - fewest + 1)).astype(int))
        first = np.array([min(times[k - 1] for times, _ in stairs if len(times) >= k) for k in beyond])
        ax.plot(
            first,
            beyond,
            color=style.GREY,
            linewidth=0.9,
            linestyle=":",
            label="earliest, of the tasks\nthat made so many calls",
        )
        if fewest:
            ax.axhline(fewest, color=style.GREY, linewidth=0.8)
            ax.annotate(
                "all tasks made %s calls" % quantities.short(fewest),
                (0.98, fewest),
                xycoords=("axes fraction", "data"),
                xytext=(0, 3),
                textcoords="offset points",
                fontsize=8,
                ha="right",
                color=style.GREY,
            )
    ax.set_ylim(0, most * 1.04)
    several = picked and len(phase.operations()) > 1
    ax.set_ylabel("operation number of a task" if several else "call number of a task")


def reached(phase, steps, levels):
    """When a task came to each of these calls; between calls that are not there, on a straight line."""
    times, numbers = steps
    if not phase.run.chosen.picked:
        return times[levels - 1]
    return np.interp(levels, np.concatenate([[0], numbers]), np.concatenate([[phase.begin], times]))


SUMMARY = "%s: %s calls of %d tasks in %s"


def summary(run, options):
    """What the picture says, in lines."""
    said = []
    for phase in panels.choose(run, options):
        calls = phase.calls(options.operation)
        said.append(
            SUMMARY
            % (
                phase.title,
                "{:,}".format(calls.total),
                len(np.unique(calls.rank)),
                quantities.seconds(phase.end - phase.begin),
            )
        )
    return said
