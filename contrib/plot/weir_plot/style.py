# SPDX-License-Identifier: BSD-3-Clause
"""How all pictures look: colours that colour-blind readers can tell apart, fonts, titles, panels, files."""
import html
import io
import math
import os
import re
import textwrap

from . import quantities, wholefile
from .refusal import BAD_USAGE, Refusal

# Okabe and Ito. Lines also differ in form or have words at them, for print without colours.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#222222",
)
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DASHES = ("-", "--", "-.", ":")
GREY, PALE = "#666666", "#d9d9d9"
SLOW, STALLED = PURPLE, VERMILION
NAMES = {SLOW: "pink", STALLED: "red"}  # in all words about pictures
MAP = "cividis"
FORMATS = (".svg", ".png", ".pdf")
PAD = 0.07  # inches around each panel
POINTS = 1200  # of a line: more than a picture has columns

SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": BLACK,
    "ytick.labelcolor": BLACK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "path.simplify": True,
    "svg.hashsalt": "weir-plot",
    "image.interpolation": "nearest",
}


def matplotlib():
    """The module, or words on how to get it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as e:
        raise Refusal(
            "needs matplotlib (%s): contrib/quickstart --plot, apt-get install python3-matplotlib, "
            "or pip install matplotlib" % e
        )
    return matplotlib


def ticker():
    """matplotlib's module of ticks"""
    matplotlib()
    from matplotlib import ticker as module

    return module


def one_colour(colour):
    """A map of colours for a mask."""
    matplotlib()
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def legend_of_colours(ax, pairs):
    """Above the axes, at the right: squares of these colours with their words."""
    matplotlib()
    from matplotlib.patches import Patch

    ax.legend(
        handles=[Patch(color=colour, label=words) for colour, words in pairs],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncol=len(pairs),
        borderaxespad=0.1,
        handlelength=1,
    )


def colour_map():
    """Dark is slow; what was not measured is grey."""
    library = matplotlib()
    if hasattr(library, "colormaps"):
        colours = library.colormaps[MAP].copy()
    else:  # before 3.5
        from matplotlib import cm

        colours = cm.get_cmap(MAP).copy()
    colours.set_bad("#f2f2f2")
    return colours


def two_sides():
    """Blue, pale in the middle, red; what is not known is grey."""
    matplotlib()
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("two sides", [SKY, "#f7f7f7", "#e8956a"])
    colours.set_bad("#f2f2f2")
    return colours


def colour(key, others=()):
    """Write and read have their colours everywhere; other keys take turns in the order of others."""
    fixed = {"write": BLUE, "read": VERMILION}
    if key in fixed:
        return fixed[key]
    free = [c for c in CYCLE if c not in [fixed[k] for k in others if k in fixed]]
    place = [k for k in others if k not in fixed].index(key) if key in others else 0
    return free[place % len(free)]


def dash(key, others):
    """Another form for every round of the colours."""
    return DASHES[(list(others).index(key) // len(CYCLE)) % len(DASHES)] if key in others else "-"


def figure(title, subtitle, count=1, columns=1, size=None, sharex=False, sharey=False):
    """A figure with count panels and its list of axes. Lines of the title are broken to fit."""
    plt = matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    columns = min(columns, count)
    rows = -(-count // columns)
    size = size or (9.2 if columns == 1 else 11.5, 0.9 + (3.9 if rows == 1 else 2.9 * rows))
    fig = plt.figure.Figure(figsize=size, constrained_layout={"w_pad": 0.08, "h_pad": PAD})
    FigureCanvasAgg(fig)
    grid = fig.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
    axes = list(grid.flat)
    for ax in axes[count:]:
        ax.set_visible(False)
    put_title(fig, title, subtitle)
    return fig, axes[:count]


def put_title(fig, title, subtitle):
    """A bold line, and the parameters in smaller grey type below it."""
    width = fig.get_size_inches()[0]
    lines = textwrap.wrap(subtitle, int(width * 13.5)) or [""]
    words = textwrap.wrap(title, int(width * 9.5)) or [""]
    # Without a place of its own the title is where the layout leaves room for it: below the upper pad. Its empty
    # lines are the room for the subtitle.
    fig.suptitle(
        "\n".join(words) + "\n" * len(lines) + " ",
        x=0.012,
        ha="left",
        fontsize=12,
        fontweight="bold",
        color=BLACK,
        linespacing=1.25,
    )
    height = fig.get_size_inches()[1] * 72
    below = 1 - (PAD * 72 + len(words) * 12 * 1.42 + 2) / height
    fig.text(0.012, below, "\n".join(lines), ha="left", va="top", fontsize=9, color=GREY, linespacing=1.3)


def legend(ax, **more):
    """Beside the axes, where it hides nothing."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), borderaxespad=0, handlelength=1.8, **more)


def legend_inside(ax):
    """In the lower right corner, where curves that rise leave room, also beside a task that is far later."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="lower right", frameon=True, framealpha=0.85, edgecolor="none", handlelength=1.8, borderpad=0.3
        )


def time_axis(ax, label, span):
    """Ticks of the x axis in the unit that fits; data stay in seconds."""
    name, unit = quantities.time_scale(span)
    scaled_axis(ax.xaxis, unit)
    ax.set_xlabel("%s (%s)" % (label, name))


def rate_axis(ax, label, peak, in_bytes):
    name, unit = quantities.rate_scale(peak, in_bytes)
    scaled_axis(ax.yaxis, unit)
    ax.set_ylabel("%s (%s)" % (label, name))


def latency_axis(ax, label, times):
    """A logarithmic axis with all of these times, and a tick at both ends."""
    known = [t for t in times if t > 0]  # not a number: not known
    ax.set_yscale("log")
    ax.set_ylim(10 ** math.floor(math.log10(min(known))), 10 ** math.ceil(math.log10(max(known) * 1.05)))
    ax.set_ylabel(label)
    ax.yaxis.set_major_formatter(ticker().FuncFormatter(lambda v, _: quantities.seconds(v)))
    ax.yaxis.set_minor_formatter(ticker().NullFormatter())


def scaled_axis(axis, unit):
    """Ticks at round numbers of the unit."""

    class Scaled(ticker().MaxNLocator):
        def tick_values(self, low, high):
            return super().tick_values(low / unit, high / unit) * unit

    axis.set_major_locator(Scaled(nbins=8, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(ticker().FuncFormatter(lambda v, _: tick(v / unit)))


def tick(value):
    text = "{:,.6g}".format(value)
    return "0" if text == "-0" else text


def thin(*columns):
    """Every n-th point of long columns, and the last one."""
    length = len(columns[0])
    if length <= POINTS:
        return columns
    import numpy as np

    keep = np.unique(np.linspace(0, length - 1, POINTS).astype(int))
    return tuple(c[keep] for c in columns)


def check_name(path):
    if os.path.splitext(path)[1].lower() not in FORMATS:
        raise Refusal("-o %s: the name has to end in one of %s" % (path, ", ".join(FORMATS)), BAD_USAGE)


def hover(artist, text):
    """Words that a browser shows where the pointer is on this part of the picture."""
    fig = artist.figure
    fig.hovers = getattr(fig, "hovers", [])
    artist.set_gid("hover-%d-" % len(fig.hovers))
    fig.hovers.append(text)


def svg(fig):
    """The text of the picture as SVG, with the words to hover over."""
    store = io.BytesIO()
    fig.savefig(store, format="svg", metadata={"Date": None})
    parts = re.split(r'<g id="hover-(\d+)-">', store.getvalue().decode("utf-8"))
    for place in range(1, len(parts), 2):
        parts[place] = "<g><title>%s</title>" % html.escape(fig.hovers[int(parts[place])])
    return "".join(parts)


def save(fig, path):
    """The picture in the format of the name; whole or not there."""
    check_name(path)
    kind = os.path.splitext(path)[1].lower()[1:]
    with wholefile.writing(path, "wb") as f:
        if kind == "svg":
            f.write(svg(fig).encode("utf-8"))
        else:
            fig.savefig(f, format=kind, metadata={"CreationDate": None} if kind == "pdf" else None)
