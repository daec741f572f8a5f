"""Embed plots in the page: colours follow light and dark, and the CSP holds."""

from __future__ import annotations

import colorsys
import io
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from memsim.report.html.markup import Markup, element, legible
from memsim.report.plots.palette import OWN_SECTION_COLOURS, SECTION_COLOURS

if TYPE_CHECKING:
    from memsim.report.plots.style import Picture

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_DROPPED = frozenset({"metadata", "style"})
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FONTS = frozenset({"font-family", "font"})

PALE = "#ffffff"
"""The background colour of a plot, which is the page's."""
_NEUTRAL = {
    "#222222": "var(--ink)",
    "#767676": "var(--soft)",
    "#e4e4e4": "var(--line)",
    "#c9c9c9": "light-dark(#c9c9c9,#4d5563)",
    PALE: "var(--panel)",
    "#000000": "#000",
}
_ON_COLOUR = frozenset({"heat-map", "needle-grid", "leakage"})
"""Plots whose letters stand on fixed colours."""
MANY = 300
"""Points of a path, or marks of a row, from which on a plot is drawn less finely."""


def figure(picture: Picture, narrow: Picture | None = None) -> Markup:
    """A plot with its caption; on a small screen the narrow one is shown."""
    drawings = [element("div", _inline(picture), class_="wide" if narrow else None)]
    if narrow is not None:
        drawings.append(element("div", _inline(narrow, "-narrow"), class_="narrow"))
    caption = element("figcaption", picture.caption)
    return element("figure", *drawings, caption, id=f"plot-{picture.name}", class_="plot")


def colours(markup: str) -> str:
    """Write the CSS rules for every colour class of the page, such as `f-0072b2`."""
    found = sorted(set(re.findall(r"\b([fkb])-([0-9a-f]{6})\b", markup)))
    return "\n".join(_rule(kind, f"#{colour}") for kind, colour in found)


def section_rules() -> str:
    """Write the CSS rules for the colours of sections, such as `s-window`."""
    tones = dict(SECTION_COLOURS)
    tones |= {f"own{n}": colour for n, colour in enumerate(OWN_SECTION_COLOURS)}
    names = "".join(f"--s-{tone}:{colour};" for tone, colour in tones.items())
    rules = "".join(f".s-{tone}{{background:var(--s-{tone})}}" for tone in tones)
    return f":root{{{names}}}\n{rules}"


def chip(colour: str) -> Markup:
    """Render a chip in a strategy's colour."""
    return element("span", class_=f"chip b-{colour.removeprefix('#')}", aria_hidden="true")


def _rule(kind: str, colour: str) -> str:
    name = {"f": "fill", "k": "stroke", "b": "background"}[kind]
    if (kind, colour) == ("k", PALE):
        return ".k-ffffff{stroke:#fff}"
    value = _NEUTRAL.get(colour) or f"light-dark({colour},{_on_dark(colour)})"
    return f".{kind}-{colour[1:]}{{{name}:{value}}}"


def _on_dark(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    pale = min(red, green, blue) > 0xDD and max(red, green, blue) - min(red, green, blue) < 0x10
    return "#2a3038" if pale else brightened(colour)


def brightened(colour: str) -> str:
    """Brighten a colour for a dark background."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, light, strong = colorsys.rgb_to_hls(red, green, blue)
    while _luminance(red, green, blue) < 0.26 and light < 0.95:
        light += 0.01
        red, green, blue = colorsys.hls_to_rgb(hue, light, strong)
    return "#" + "".join(f"{round(part * 255):02x}" for part in (red, green, blue))


def _luminance(*parts: float) -> float:
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _inline(picture: Picture, variant: str = "") -> Markup:
    kept = io.BytesIO()
    picture.figure.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    # Our own drawing, not a stranger's file; but a name in it may hold what XML may not.
    root = ET.fromstring(legible(kept.getvalue().decode()))  # noqa: S314
    fixed = _on_colour(root) if picture.name in _ON_COLOUR else set()
    _clean(root)
    for node in root.iter():
        _restyle(node, fixed=node in fixed)
        _rename(node, f"{picture.name}{variant}")
    for node in root.iter():
        _shorten(node)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    title = ET.Element(f"{_SVG}title")
    title.text = f"{picture.title}. {picture.caption}"
    root.insert(0, title)
    root.set("role", "img")
    ET.register_namespace("", _SVG.strip("{}"))
    ET.register_namespace("xlink", _LINK.rpartition("}")[0].strip("{"))
    return Markup(ET.tostring(root, encoding="unicode"))


def _on_colour(root: ET.Element) -> set[ET.Element]:
    """Find the letters on fixed colours: all but those of the axes."""
    axes = [g for g in root.iter(f"{_SVG}g") if g.get("id", "").startswith("matplotlib.axis_")]
    beside = {node for group in axes for node in group.iter()}
    return {node for node in root.iter(f"{_SVG}text") if node not in beside}


def _clean(node: ET.Element) -> None:
    for child in list(node):
        if child.tag.rpartition("}")[2] in _DROPPED:
            node.remove(child)
        else:
            child.tail = None
            _clean(child)
    if node.text is not None and not node.text.strip():
        node.text = None


def _restyle(node: ET.Element, *, fixed: bool) -> None:
    """Turn a style into attributes, because the page's CSP refuses styles."""
    classes = []
    for name, value in _declarations(node.attrib.pop("style", "")):
        if name in _FONTS:
            continue
        if not fixed and name in {"fill", "stroke"} and _COLOUR.fullmatch(value):
            classes.append(f"{'f' if name == 'fill' else 'k'}-{value[1:]}")
        else:
            node.set(name, value)
    if classes:
        node.set("class", " ".join(classes))


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        if value:
            yield name.strip(), value.strip()


def _rename(node: ET.Element, name: str) -> None:
    """Give ids a prefix of their own plot; unused ids are dropped."""
    if (known := node.get("id")) is not None:
        if node.tag in {f"{_SVG}g", f"{_SVG}svg"}:
            del node.attrib["id"]
        else:
            node.set("id", f"{name}-{known}")
    if (target := node.get(_LINK, "")).startswith("#"):
        node.set(_LINK, f"#{name}-{target[1:]}")
    for key, value in node.attrib.items():
        if "url(#" in value:
            node.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))


def _shorten(node: ET.Element) -> None:
    for key in ("x", "y", "transform"):
        if (value := node.get(key)) is not None:
            node.set(key, _NUMBER.sub(_rounded, value))
    if (path := node.get("d")) is not None:
        node.set("d", shortened(path))
    _thin(node)


def _thin(group: ET.Element) -> None:
    """Drop marks that overlap, and write attributes shared by all marks once."""
    marks = [child for child in group if child.tag == f"{_SVG}use"]
    seen = set()
    for mark in marks if len(marks) > MANY else ():
        place = (mark.get(_LINK), *(round(2 * float(mark.get(key, "0"))) for key in ("x", "y")))
        if place in seen:
            group.remove(mark)
        seen.add(place)
    shared = sorted(set(marks[0].attrib) - {"x", "y", _LINK}) if len(marks) > 1 else []
    for key in shared:
        if len({mark.get(key) for mark in marks}) == 1 and key not in group.attrib:
            group.set(key, marks[0].attrib[key])
            for mark in marks:
                del mark.attrib[key]


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")


def _halved(found: re.Match[str]) -> str:
    return f"{round(2 * float(found[0])) / 2:.1f}".removesuffix(".0")


def shortened(path: str) -> str:
    """A path to a tenth of a point, without points that lie on the way to the next.

    One with very many points is drawn to half a point, and what goes up and down above one place
    as one stroke: no eye tells them apart.
    """
    kept: list[tuple[str, ...]] = []
    many = path.count("L") > MANY
    near = _halved if many else _rounded
    for part in _NUMBER.sub(near, path).replace("\n", " ").split(" L "):
        point = tuple(part.split())
        if len(kept) > 1 and len(point) == len(kept[-1]) == len(kept[-2]) == 2:
            before, last = kept[-2], kept[-1]
            if point == last or _between(before, last, point):
                kept[-1] = point
                continue
        kept.append(point)
    if many:
        kept = [point for _, above in groupby(kept, _across) for point in _stroke([*above])]
    return "L".join(" ".join(point) for point in kept)


def _across(point: tuple[str, ...]) -> str | None:
    """The place above which a point lies, to a point; None for what is more than a point."""
    return str(round(float(point[0]))) if len(point) == 2 else None


def _stroke(above: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The first and last of some points above one place, and the lowest and highest between."""
    if len(above) < 5 or len(above[0]) != 2:
        return above
    low, high = (pick(above, key=lambda point: float(point[1])) for pick in (min, max))
    kept = {0, above.index(low), above.index(high), len(above) - 1}
    return [above[place] for place in sorted(kept)]


def _between(first: Iterable[str], middle: Iterable[str], last: Iterable[str]) -> bool:
    """Whether three points lie on one vertical or horizontal line, in this order."""
    (x1, y1), (x2, y2), (x3, y3) = (tuple(map(float, p)) for p in (first, middle, last))
    across = y1 == y2 == y3 and (x1 <= x2 <= x3 or x1 >= x2 >= x3)
    return across or (x1 == x2 == x3 and (y1 <= y2 <= y3 or y1 >= y2 >= y3))
