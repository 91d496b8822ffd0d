# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of an HTML page that needs nothing else: style, tables, pictures as data."""
import base64
import html
import io

from . import style, words

CSS = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 2rem 3rem; background: #fff; color: #222;
       font: 15px/1.5 system-ui, "DejaVu Sans", "Liberation Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-top: .7rem; border-top: 2px solid #0072b2; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
p.lead { margin: 0 0 1rem; color: #555; }
nav { margin: 1rem 0; } nav a { margin-right: 1.2rem; } a { color: #005a8f; }
pre { background: #f4f5f7; padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
      font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; border-left: 3px solid #0072b2; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; margin: .3rem 0 .8rem; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
th, td { padding: .22rem .7rem .22rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e3e3e3; }
.facts td { overflow-wrap: anywhere; }
th { color: #555; font-weight: 600; border-bottom-color: #999; }
tbody th { border-bottom-color: #e3e3e3; font-weight: 500; }
td.n, th.n { text-align: right; white-space: nowrap; } .facts th { width: 11rem; }
.facts, .facts tbody { width: 100%; } .facts td { width: auto; }
ul.said { padding-left: 1.2rem; } .verdict { padding: .5rem .9rem; margin: .6rem 0 1rem; } .verdict p { margin: 0; }
.verdict ul { margin: .3rem 0 0; padding-left: 1.2rem; } .good { border-left: 4px solid #009e73; background: #eef8f4; }
.small { color: #555; font-size: .86rem; margin: 0 0 .6rem; }
table.rates { font-size: 1.05rem; } table.rates td:nth-child(2) { font-weight: 700; }
.bad { border-left: 4px solid #d55e00; padding: .4rem .8rem; background: #fdf3ec; }
figure { margin: 1rem 0 1.6rem; } figure img, figure svg { width: 100%; height: auto; display: block; }
.picture { overflow-x: auto; } .scrolls { display: none; }
figcaption { color: #555; font-size: .86rem; margin-top: .2rem; }
details { margin: .6rem 0; } summary { cursor: pointer; color: #005a8f; }
footer { margin-top: 3rem; color: #666; font-size: .82rem; border-top: 1px solid #ccc; padding-top: .6rem; }
@media screen and (max-width: 600px) { body { padding: 1rem .8rem 2rem; } .picture > * { min-width: 620px; }
  .scrolls { display: block; margin: 0; color: #555; font-size: .8rem; }
  .facts th { width: 7rem; } table.stack thead { display: none; }
  table.stack, .stack caption, .stack tbody, .stack tr, .stack td { display: block; }
  table.stack tr { border-bottom: 1px solid #999; padding: .4rem 0; } table.stack td { border: 0; padding: .05rem 0;
  text-align: left; white-space: normal; }
  table.stack td::before { content: attr(data-label) ": "; color: #666; } }
@page { margin: 14mm; }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } nav { display: none; }
  figure, table, pre, .bad { break-inside: avoid; } table.long { break-inside: auto; } tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; } .wide { overflow: visible; } table { font-size: 8pt; }
  th, td { padding-right: .4rem; } }
"""


def text(value):
    return html.escape(str(value), quote=True)


def document(title, body):
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>%s</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n<style>%s</style>\n</head>\n<body>\n%s\n</body>\n</html>\n'
        % (text(title), CSS, "\n".join(body))
    )


def table(rows, caption="", columns=None, right=(), kind=""):
    """A table of objects; the columns are their members in the order of the first sight. Numbers and the columns
    in right stand at the right side. kind: a class; with 'stack' the cells of a row stand below each other where the
    window is narrow."""
    columns = columns or list(dict.fromkeys(key for row in rows for key in row))
    numeric = {c for c in columns if all(isinstance(r.get(c), (int, float, type(None))) for r in rows)}
    side = {c: ' class="n"' if c in numeric.union(right) else "" for c in columns}
    classes = " ".join(filter(None, [kind, "long" if len(rows) > 25 else ""]))
    out = ['<div class="wide"><table%s>' % (' class="%s"' % classes if classes else "")]
    if caption:
        out.append("<caption>%s</caption>" % text(caption))
    heads = ['<th scope="col"%s>%s</th>' % (side[c], text(words.label(c))) for c in columns]
    out.append("<thead><tr>%s</tr></thead><tbody>" % "".join(heads))
    for row in rows:
        cells = [
            '<td%s data-label="%s">%s</td>' % (side[c], text(words.label(c)), text(words.cell(row.get(c), c)))
            for c in columns
        ]
        out.append("<tr>%s</tr>" % "".join(cells))
    out.append("</tbody></table></div>")
    return "".join(out)


def facts(rows, caption=""):
    """Two columns: what, and its value. Rows without a value are left out; an object has a row for each member."""
    plain = []
    for key, value in rows:
        whole = key == "variables" or not isinstance(value, dict)
        plain += [(key, value)] if whole else value.items()
    shown = [(k, words.cell(v, k)) for k, v in plain if v not in (None, "", [], {})]
    shown = [(k, v) for k, v in shown if v]
    if not shown:
        return ""
    return '<table class="facts">%s<tbody>%s</tbody></table>' % (
        "<caption>%s</caption>" % text(caption) if caption else "",
        "".join('<tr><th scope="row">%s</th><td>%s</td></tr>' % (text(words.label(k)), text(v)) for k, v in shown),
    )


def verdict(word, meaning, lines, bad):
    """The box that a run begins with: one word, what it means, and why."""
    return '<div class="verdict %s"><p><strong>%s.</strong> %s</p>%s</div>' % (
        "bad" if bad else "good",
        text(word),
        text(meaning),
        "<ul>%s</ul>" % "".join("<li>%s</li>" % text(line) for line in lines) if lines else "",
    )


def folded(title, inner):
    """What few people read, folded under a line; open in print as the browser decides."""
    return "<details><summary>%s</summary>%s</details>" % (text(title), inner)


def said(title, lines, kind="said"):
    if not lines:
        return ""
    return '<h3>%s</h3><ul class="%s">%s</ul>' % (
        text(title),
        kind,
        "".join("<li>%s</li>" % text(line) for line in lines),
    )


def figure(fig, caption):
    """A picture inside the page. Vector graphics with values to hover over, or pixels where these are smaller."""
    svg = style.svg(fig)
    inside = svg[svg.index("<svg") :].replace("<svg ", '<svg role="img" aria-label="%s" ' % text(caption), 1)
    if len(svg) > 150000:
        store = io.BytesIO()
        fig.savefig(store, format="png", dpi=150)
        data = base64.b64encode(store.getvalue()).decode("ascii")
        if len(data) < len(svg) / 2:
            inside = '<img alt="%s" src="data:image/png;base64,%s">' % (text(caption), data)
    scrolls = '<p class="scrolls">Wider than this window: scroll it sideways.</p>'
    return '<figure>%s<div class="picture">%s</div><figcaption>%s</figcaption></figure>' % (
        scrolls,
        inside,
        text(caption),
    )
