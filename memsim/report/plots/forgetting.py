"""How long it remembers, why it forgot, and what is left after so many compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from memsim.report.plots.style import (
    HALF_PAGE,
    PLACE_COLOURS,
    Picture,
    colour,
    dashes,
    label_ends,
    share,
)
from memsim.stats import wilson

if TYPE_CHECKING:
    import pandas as pd

    from memsim.report.plots.material import Material

AGES = (0, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10**9)
"""Turns at which the next group of ages begins."""
LEAST = 8
"""Probes that a point of the curve needs."""
PLACES = {
    "window": "in the window",
    "working": "in the window",
    "core": "in the window",
    "system": "in the window",
    "tools": "stored and found",
    "summary": "in a summary",
    "recalled": "stored and found",
    "stored": "stored and missed",
    "archived": "stored and missed",
    "denied": "stored and missed",
    "trimmed": "lost",
    "lost": "lost",
}
SHOWN_COMPACTIONS = 40


def forgetting_curve(material: Material) -> Picture | None:
    """Recall by the age of the fact when it is asked for."""
    import pandas as pd

    probes = material.shown(material.frames.probes)
    probes = probes[probes["recall"].notna() & probes["age"].notna() & (probes["control"] == "")]
    if probes.empty:
        return None
    group = pd.cut(probes["age"].astype(float), bins=list(AGES), right=False, labels=False)
    figure = Figure(figsize=HALF_PAGE)
    axes = figure.subplots()
    styles = dashes(material.strategies)
    ends: list[tuple[float, float, str, str]] = []
    spans: dict[str, tuple[float, float, int]] = {}
    for name in material.strategies:
        mine = probes[probes["strategy"] == name]
        xs, ys, lows, highs = [], [], [], []
        for _, found in mine.groupby(group.loc[mine.index]):
            if len(found) < LEAST:
                continue
            right, n = int(found["recall"].sum()), len(found)
            bounds = wilson(right, n)
            xs.append(float(found["age"].astype(float).median()) + 1)
            ys.append(right / n)
            lows.append(bounds.low if bounds else right / n)
            highs.append(bounds.high if bounds else right / n)
        if len(xs) < 2:
            continue
        ink = colour(name)
        axes.plot(xs, ys, color=ink, linestyle=styles[name], marker="o", markersize=3)
        axes.fill_between(xs, lows, highs, color=ink, alpha=0.07, linewidth=0)
        ends.append((xs[-1], ys[-1], name, ink))
        spans[name] = ys[0], ys[-1], round(xs[-1] - 1)
    if not ends:
        return None
    axes.set_xscale("log")
    _age_ticks(axes)
    axes.set_ylim(-0.03, 1.05)
    axes.set_xlabel("age of the fact at the question, turns (log)")
    axes.set_ylabel("recall")
    label_ends(axes, ends, gap=0.05)
    keeps = max(spans, key=lambda name: spans[name][1])
    first, last, turns = spans[keeps]
    caption = (
        f"{keeps} keeps most of what is old: {share(first)} of the newest facts and"
        f" {share(last)} of those about {turns:,} turns old."
    )
    return Picture(name="forgetting", title="How long it remembers", caption=caption, figure=figure)


def whereabouts(material: Material) -> Picture | None:
    """Where the evidence was when it was asked for, a bar for each strategy."""
    import pandas as pd

    probes = material.shown(material.frames.probes)
    probes = probes[(probes["whereabouts"] != "") & (probes["control"] == "")]
    known = probes[probes["whereabouts"].isin(list(PLACES))]
    if known.empty:
        return None
    places = known["whereabouts"].map(PLACES)
    table = pd.crosstab(known["strategy"], places, normalize="index")
    table = table.reindex(index=list(reversed(material.strategies))).fillna(0.0)
    figure = Figure(figsize=(HALF_PAGE[0], 0.9 + 0.34 * len(table)))
    axes = figure.subplots()
    left = pd.Series(0.0, index=table.index)
    for place, ink in PLACE_COLOURS.items():
        width = table[place] if place in table else left * 0
        bars = axes.barh(table.index, width, left=left, color=ink, height=0.72, label=place)
        for bar, part in zip(bars, width, strict=True):
            if part >= 0.08:
                axes.text(
                    bar.get_x() + part / 2,
                    bar.get_y() + bar.get_height() / 2,
                    share(part),
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color="black" if place in {"lost", "stored and missed"} else "white",
                )
        left = left + width
    axes.set_xlim(0, 1)
    axes.grid(visible=False)
    axes.set_xlabel("share of probes with evidence")
    axes.tick_params(axis="y", length=0)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=5,
        fontsize=7.5,
        handlelength=1,
        columnspacing=1.2,
    )
    lost = table["lost"] if "lost" in table else left * 0
    missed = table["stored and missed"] if "stored and missed" in table else left * 0
    parts = []
    if lost.max() > 0:
        parts.append(f"{lost.idxmax()} lost {share(float(lost.max()))} of the evidence for good")
    if missed.max() > 0:
        worst, part = missed.idxmax(), share(float(missed.max()))
        parts.append(f"{worst} had {part} in store and did not bring it up")
    caption = "; ".join(parts) or "All strategies had all of the evidence at hand"
    return Picture(
        name="whereabouts", title="Where the evidence was", caption=f"{caption}.", figure=figure
    )


def survival(material: Material) -> Picture | None:
    """The share of facts that are still in what is sent, by compactions since they were said."""
    facts = material.shown(material.frames.facts)
    facts = facts[(facts["control"] == "") & (facts["compactions"] <= SHOWN_COMPACTIONS)]
    worn = facts[facts["compactions"] > 0]
    if worn.empty:
        return None
    figure = Figure(figsize=HALF_PAGE)
    axes = figure.subplots()
    styles = dashes(material.strategies)
    ends, second = [], {}
    for name in material.strategies:
        mine = facts[facts["strategy"] == name]
        if not (mine["compactions"] > 0).any():
            continue
        curve = _surviving(mine)
        ink = colour(name)
        axes.step(curve.index, curve.to_numpy(), where="post", color=ink, linestyle=styles[name])
        ends.append((float(curve.index[-1]), float(curve.iloc[-1]), name, ink))
        after = curve[curve.index <= 2]
        second[name] = float(after.iloc[-1])
    axes.set_ylim(-0.03, 1.05)
    axes.set_xlabel("compactions since the fact was said")
    axes.set_ylabel("facts still in the context")
    label_ends(axes, ends, gap=0.05)
    worst = min(second, key=lambda name: second[name])
    caption = (
        f"After the second compaction {worst} still shows {share(second[worst])} of the facts"
        " that it was told."
    )
    return Picture(
        name="survival", title="Survival over compactions", caption=caption, figure=figure
    )


def _surviving(facts: pd.DataFrame) -> pd.Series:
    """The share of a strategy's facts that are there, by compactions; of those that got so far."""
    return facts.groupby("compactions")["there"].mean()


def _age_ticks(axes: object) -> None:
    ticks = [1, 6, 11, 21, 41, 81, 161, 321, 641, 1281, 2561, 5121]
    low, high = axes.get_xlim()  # type: ignore[attr-defined]
    shown = [t for t in ticks if low <= t <= high]
    axes.set_xticks(shown, [f"{t - 1:,}" for t in shown])  # type: ignore[attr-defined]
    axes.xaxis.set_minor_locator(NullLocator())  # type: ignore[attr-defined]
