# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of an HTML page that needs nothing else: style, tables, pictures as data."""
import base64
import html
import io

from . import quantities

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
ul.said { padding-left: 1.2rem; } .bad { border-left: 4px solid #d55e00; padding: .4rem .8rem; background: #fdf3ec; }
figure { margin: 1rem 0 1.6rem; } figure img { width: 100%; height: auto; display: block; }
figcaption { color: #555; font-size: .86rem; margin-top: .2rem; }
details { margin: .6rem 0; } summary { cursor: pointer; color: #005a8f; }
footer { margin-top: 3rem; color: #666; font-size: .82rem; border-top: 1px solid #ccc; padding-top: .6rem; }
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


def cell(value):
    """A value as people read it: numbers with the digits that count."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return quantities.short(value) if abs(value) < 1e15 else "%.3g" % value
    if isinstance(value, int):
        return "{:,}".format(value) if abs(value) >= 10000 else str(value)
    if isinstance(value, (list, dict)):
        return (
            ", ".join("%s: %s" % (k, "(%s)" % cell(v) if isinstance(v, dict) else v) for k, v in value.items())
            if isinstance(value, dict)
            else ", ".join(map(str, value))
        )
    return str(value)


def table(rows, caption="", columns=None, right=()):
    """A table of objects; the columns are their members in the order of the first sight. Numbers and the columns
    in right stand at the right side."""
    columns = columns or list(dict.fromkeys(key for row in rows for key in row))
    numeric = {c for c in columns if all(isinstance(r.get(c), (int, float, type(None))) for r in rows)} | set(
        right
    )
    out = ['<div class="wide"><table%s>' % (' class="long"' if len(rows) > 25 else "")]
    if caption:
        out.append("<caption>%s</caption>" % text(caption))
    out.append(
        "<thead><tr>%s</tr></thead><tbody>"
        % "".join(
            '<th scope="col"%s>%s</th>' % (' class="n"' if c in numeric else "", text(c)) for c in columns
        )
    )
    for row in rows:
        out.append(
            "<tr>%s</tr>"
            % "".join(
                "<td%s>%s</td>" % (' class="n"' if c in numeric else "", text(cell(row.get(c))))
                for c in columns
            )
        )
    out.append("</tbody></table></div>")
    return "".join(out)


def facts(rows, caption=""):
    """Two columns: what, and its value. Rows without a value are left out."""
    shown = [(k, v) for k, v in rows if v not in (None, "", [], {})]
    if not shown:
        return ""
    return '<table class="facts">%s<tbody>%s</tbody></table>' % (
        "<caption>%s</caption>" % text(caption) if caption else "",
        "".join('<tr><th scope="row">%s</th><td>%s</td></tr>' % (text(k), text(cell(v))) for k, v in shown),
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
    """A picture inside the page. Vector graphics, or pixels where these are smaller."""
    best = None
    for kind, mime, more in (
        ("svg", "image/svg+xml", {"metadata": {"Date": None}}),
        ("png", "image/png", {"dpi": 150}),
    ):
        store = io.BytesIO()
        fig.savefig(store, format=kind, **more)
        if best is None or len(store.getvalue()) < len(best[1]) / 2:
            best = (mime, store.getvalue())
        if len(best[1]) < 150000:
            break
    return '<figure><img alt="%s" src="data:%s;base64,%s"><figcaption>%s</figcaption></figure>' % (
        text(caption),
        best[0],
        base64.b64encode(best[1]).decode("ascii"),
        text(caption),
    )
