"""Draws one picture, in a process of its own: JSON from standard input, a PNG to standard output.

Run as a file, so that nothing of ours is loaded beside the drawing library.
"""

import json
import os
import resource
import sys
from datetime import UTC
from typing import Any

MOST_BYTES = 1 << 30
"""Address space, most of it only reserved by the library."""
MOST_CPU_S = 20
POLITE = 10
"""Alerts go first."""
WIDTH, HEIGHT, DPI = 10.8, 8.1, 100
"""1,080 pixels wide: a phone's whole width."""
COLOURS = ("#0b57d0", "#b06000", "#6a3ea1")
SIGNS = {
    "change": ("#137333", "--", 3.0),
    "onset": ("#c5221f", "-", 3.0),
    "alert": ("#5f6368", ":", 3.0),
}
INK, GREY = "#202124", "#5f6368"
ROW = 0.052
"""Height of one row of labels above the curve, as a share of the picture."""
HIGH, LEFT, RIGHT, BOTTOM = 0.835, 0.135, 0.965, 0.125
SECOND_HALF = 0.5
SPREAD = 1e-9


def limit() -> None:
    """Let this process take no more than a drawing needs."""
    os.nice(POLITE)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def draw(told: dict[str, Any], into: Any) -> None:
    """Draw a picture; its texts are data and nothing in them is markup."""
    import matplotlib as mpl  # noqa: PLC0415 - after the limits are set

    mpl.use("Agg")
    mpl.rcParams.update({"text.parse_math": False, "text.usetex": False, "font.size": 17})
    from matplotlib.figure import Figure  # noqa: PLC0415 - see above

    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, facecolor="white")
    figure.text(0.03, 0.945, told["title"], size=24, weight="bold", color=INK)
    figure.text(0.03, 0.895, told["said"], size=20, color=INK)
    figure.text(0.03, 0.857, told["expression"], size=13, color=GREY, family="monospace")
    top = HIGH - 0.02 - ROW * len(told["uprights"])
    axes = figure.add_axes((LEFT, BOTTOM, RIGHT - LEFT, top - BOTTOM))
    lines(axes, told)
    uprights(axes, told["uprights"], (top - BOTTOM) * HEIGHT)
    frame(axes, told)
    figure.savefig(into, format="png", metadata={"Software": None})


def lines(axes: Any, told: dict[str, Any]) -> None:
    """Draw the curves, the worst on top, and the threshold."""
    divisor = told["scale"]["divisor"]
    for number, line in reversed(list(enumerate(told["lines"]))):
        at = [moment(x) for x, _ in line["points"]]
        values = [value / divisor for _, value in line["points"]]
        style = {"color": COLOURS[number % len(COLOURS)], "linewidth": 3.5 if number == 0 else 2.2}
        axes.plot(at, values, label=line["label"] or "_", zorder=5 - number, **style)
    if told["level"] is not None:
        value = told["level"]["value"] / divisor
        axes.axhline(value, color="#c5221f", linewidth=1.8, linestyle=(0, (6, 4)), zorder=1)
        axes.annotate(
            told["level"]["text"], (0.01, value), xycoords=("axes fraction", "data"),
            xytext=(0, 5), textcoords="offset points", size=16, color="#c5221f",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1},
        )  # fmt: skip
    if any(line["label"] for line in told["lines"]):
        low, high = axes.get_ylim()
        level = told["level"]["value"] / divisor if told["level"] else low
        where = "center left" if level - low > (high - low) * SECOND_HALF else "upper left"
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(
            handles[::-1], labels[::-1], loc=where, fontsize=15, framealpha=0.85, edgecolor="none"
        )


def uprights(axes: Any, marks: list[dict[str, Any]], height_in: float) -> None:
    """Draw what happened, each with its words in a row of its own above the curve."""
    first, last = axes.get_xlim()
    middle = first + (last - first) * SECOND_HALF
    late = [mark for mark in marks if moment(mark["at_s"]) > middle]
    early = [mark for mark in reversed(marks) if mark not in late]
    # In this order no line runs through the words of another.
    for row, mark in enumerate([*late, *early]):
        upright(axes, mark, 1 + (row + 0.45) * ROW * HEIGHT / height_in, left=mark in late)


def upright(axes: Any, mark: dict[str, Any], up: float, *, left: bool) -> None:
    """Draw one line that ends at its words, which stand on its left or right."""
    colour, style, width = SIGNS[mark["sign"]]
    at = moment(mark["at_s"])
    axes.plot(
        [at, at], [0, up], transform=axes.get_xaxis_transform(), clip_on=False,
        color=colour, linestyle=style, linewidth=width, zorder=3, scalex=False, scaley=False,
    )  # fmt: skip
    axes.annotate(
        mark["text"], (at, up), xycoords=axes.get_xaxis_transform(), annotation_clip=False,
        xytext=(-8 if left else 8, 0), textcoords="offset points", size=17, color=colour,
        weight="bold", ha="right" if left else "left", va="center",
    )  # fmt: skip


def frame(axes: Any, told: dict[str, Any]) -> None:
    """Label the axes: hours in UTC, values with their unit."""
    from matplotlib.dates import AutoDateLocator, DateFormatter  # noqa: PLC0415 - see above
    from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: PLC0415 - see above

    unit = told["scale"]["unit"]
    axes.set_xlabel(told["axis"], size=17, color=GREY)
    axes.xaxis.set_major_locator(AutoDateLocator(minticks=3, maxticks=7, tz=UTC))
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M", tz=UTC))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}{unit}"))
    low, high = axes.get_ylim()
    floor = 0.0 if low >= -SPREAD * abs(high) - (high - low) * 0.1 and seen_low(axes) >= 0 else low
    axes.set_ylim(floor, high + (high - floor) * 0.05 + SPREAD)
    axes.tick_params(labelsize=17, colors=INK, length=0)
    axes.grid(axis="y", color="#dadce0", linewidth=1)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_axisbelow(True)


def seen_low(axes: Any) -> float:
    """The lowest value that is drawn."""
    return min(float(min(line.get_ydata())) for line in axes.get_lines())


def moment(at_s: float) -> float:
    """A place on the axis, which counts days since 1970."""
    return at_s / 86_400


if __name__ == "__main__":
    limit()
    draw(json.load(sys.stdin), sys.stdout.buffer)
