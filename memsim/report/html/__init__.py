"""The HTML report: one file that opens from disk and says which strategy to choose.

What is embedded in the page as a `memsim.report.html.page_content.Fragment` keeps these rules, and
may rely on them:

    CSP         default-src 'none'; script and style only by hash; img-src data:; and
                require-trusted-types-for 'script'. So: no style= attribute, no on*= attribute, no
                innerHTML, no eval, no fetch. element.style.width = ... is allowed, and so are the
                presentation attributes of SVG (fill=, stroke=).
    html        escaped by whoever makes it; no <script>, <style>, <h1> or <h2>: the page wraps it
                in <section id="viewer" aria-labelledby=...> with the heading. Every id begins with
                the section's own, such as viewer-turns.
    css         every selector begins with .viewer, which the section has as its class. Colours are
                the page's custom properties, which change with light and dark:
                --paper --panel --ink --soft (secondary text) --line --accent --good --bad --warn,
                and for the sections of a context --s-system --s-core --s-summary --s-recalled
                --s-working --s-window --s-tools --s-query, and --s-own0 to --s-own5 for others.
                Fonts: --sans, --mono.
                Nothing may make the page wider than 360 px: wide things scroll inside
                <div class="scroll" tabindex="0" role="region" aria-label="...">.
                On paper (@media print) controls are hidden with the class "screen".
    script      wrapped by the page in a function of its own and strict mode; no global is left.
                It finds the page's `Page` object:
                    await Page.data(name)   the parsed JSON of that name of the fragment's `data`;
                                            the page may have packed it, so always await.
                    Page.element(tag, attributes, ...children)
                                            a new element; children are nodes or strings, strings
                                            become text; attributes may hold functions as handlers,
                                            such as {click: f}.
                    Page.hash()             Map of the address's hash: #case=...&turn=12.
                    Page.link(parts)        such a hash from an object, encoded.
                    Page.onhash(f)          f(map) now and whenever the hash changes.
                    Page.sections           the sections that most memories have, in order.
                    Page.tone(section)      its class, behind s-: its name, or own0 to own5.
                    await Page.replay(key)  the page that replays a case, by the fragment's data
                                            `reels`: "" for this one, null where there is none.
    links       #case=<case key>&turn=<n> opens the viewer at that turn of that case, the keys and
                values encoded as encodeURIComponent does it; the viewer scrolls itself into view.
                #probe=<case key>::<probe> opens a probe of the section of cases, for links back.
    size        the whole page stays below 3 MB at 10,000 probes: data that is larger than 16 kB is
                packed (gzip, base64), which makes it about six times smaller. A fragment's data
                should pack to at most 1.5 MB: beyond that it leaves out cases, failed ones last,
                and says so in its html.
    bytes       the same run makes the same bytes: no clock, no order of sets.
"""
