"""What ears and weak eyes need of a page, as scripts that name everything they miss."""

from __future__ import annotations

from playwright.sync_api import Page


def troubles(page: Page) -> list[str]:
    """Everything that a screen reader, a keyboard or weak eyes would stumble over."""
    found: list[str] = [*page.evaluate(ACCESSIBLE), *page.evaluate(CONTRAST)]
    return found


ACCESSIBLE = """() => {
  const wrong = [];
  const all = (what) => [...document.querySelectorAll(what)];
  const named = (one) => one.getAttribute("aria-label") || one.textContent.trim()
    || one.labels?.length || one.getAttribute("title");
  const want = (well, said) => { if (!well) wrong.push(said); };
  want(document.documentElement.lang === "en" && document.title, "language and title");
  for (const landmark of ["main", "header", "footer", "h1"]) {
    want(all(`body > ${landmark}, body > header ${landmark}`).length, landmark);
  }
  for (const one of all("a, button, input, select, summary, svg[role=img], [role=region]")) {
    want(named(one), `no name: ${one.outerHTML.slice(0, 90)}`);
  }
  const regions = all("[role=region]").map((one) => one.getAttribute("aria-label"));
  const same = regions.filter((name, at) => regions.indexOf(name) < at);
  want(!same.length, `two regions called ${same}`);
  for (const table of all("table")) {
    want(table.caption?.textContent, "a table without a caption");
    for (const head of table.querySelectorAll("th")) {
      want(head.scope && head.textContent.trim(), `a head: ${head.outerHTML.slice(0, 90)}`);
    }
    for (const row of table.tBodies[0].rows) want(row.querySelector("th"), "a row without a head");
  }
  const levels = all("h1, h2, h3, h4").map((head) => Number(head.tagName[1]));
  levels.forEach((level, at) => want(!at || level <= levels[at - 1] + 1, `heading ${at}`));
  // Who scrolls by keys has to get there; what is an entry has to be one of a list.
  for (const one of all("body *")) {
    const { overflowX, overflowY } = getComputedStyle(one);
    const wide = /auto|scroll/.test(overflowX) && one.scrollWidth > one.clientWidth + 1;
    const high = /auto|scroll/.test(overflowY) && one.scrollHeight > one.clientHeight + 1;
    const keys = "a[href], button:enabled, input, select, summary, [tabindex]";
    want(!wide && !high || one.matches(keys) || one.querySelector(keys),
      `no key scrolls ${one.outerHTML.slice(0, 90)}`);
  }
  for (const one of all(":is(ul, ol, dl, table)[role], summary :is(a, button, input)")) {
    want(false, `its role is lost: ${one.outerHTML.slice(0, 90)}`);
  }
  for (const [part, whole] of [["li", "ul, ol"], ["dt, dd", "dl"]]) {
    for (const one of all(part)) want(one.parentElement.matches(whole), `not in ${whole}: ${part}`);
  }
  for (const one of all(":is(div, span, p, b, i)[aria-label]:not([role])")) {
    want(false, `named, and nothing that has a name: ${one.outerHTML.slice(0, 90)}`);
  }
  const ids = all("[id]").map((one) => one.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) < at);
  want(!twice.length, `an id twice: ${twice}`);
  for (const one of all("[aria-labelledby]")) {
    want(document.getElementById(one.getAttribute("aria-labelledby")), "labelled by nothing");
  }
  return wrong;
}"""

CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (colour, under) => {
    if (under) { canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1); }
    else canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const css = ([r, g, b, a]) => `rgba(${r}, ${g}, ${b}, ${a / 255})`;
  const ground = (one) => {
    const own = getComputedStyle(one).backgroundColor;
    const clear = parts(own)[3];
    if (clear === 255 || !one.parentElement) return own;
    return clear ? css(parts(own, ground(one.parentElement))) : ground(one.parentElement);
  };
  const bright = (colour) => {
    const [r, g, b] = parts(colour).map((p) => p / 255)
      .map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const wrong = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const one = text.parentElement;
    if (!text.data.trim() || !one.checkVisibility()) continue;
    if (one.closest("svg, .unseen, :disabled")) continue;
    const pair = [bright(getComputedStyle(one).color), bright(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) wrong.add(`${ratio.toFixed(2)} ${one.className} ${text.data.slice(0, 30)}`);
  }
  return [...wrong];
}"""
