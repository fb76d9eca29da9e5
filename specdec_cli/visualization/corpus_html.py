"""The statistics of a corpus as a self-contained HTML page: charts with mouse and keyboard control, and tables."""

from html import escape

from specdec_cli.visualization.axes import HEIGHT, WIDTH
from specdec_cli.visualization.corpus import Corpus
from specdec_cli.visualization.corpus_svg import STYLE, charts, drawn
from specdec_cli.visualization.corpus_tables import NOTES, Table, headline, tables
from specdec_cli.visualization.drawing import document
from specdec_cli.visualization.page import page

_STYLE = """
body { max-width: 66rem; margin-inline: auto; padding-inline: 1rem }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem; margin-top: 1rem }
.charts svg { display: block; width: 100%; height: auto }
#detail { position: sticky; top: 0; background: var(--page); padding: .3rem 0; min-height: 3em; z-index: 1 }
details { border-top: 1px solid var(--line); padding: .5rem 0 }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
summary { cursor: pointer; font-weight: 600 }
table { border-collapse: collapse; font-size: 14px; margin-top: .5rem }
th, td { text-align: right; padding: 3px 12px; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child { text-align: left; padding-left: 0 }
td { font-variant-numeric: tabular-nums }
thead th { color: var(--soft); font-weight: 400 }
tbody th { font-weight: 600 }
"""
_HINT = "Point at a column for its numbers. The Tab key goes from chart to chart, arrow keys from column to column."


def to_corpus_html(corpus: Corpus) -> str:
    """A self-contained HTML page with charts and tables of the statistics of a corpus, and with all its statistics as JSON."""
    last, longest = drawn(corpus), max(map(len, corpus.sentences))
    rest = f" The charts go up to {last}, which one sentence in ten reaches; the tables to {longest}." if last < longest else ""
    figures = "\n".join(
        f"<figure data-grid>{document(WIDTH, HEIGHT, chart.title, chart.parts, group=True)}</figure>" for chart in charts(corpus)
    )
    body = f"""<p>{escape(headline(corpus))}.{rest}</p>
<p id=detail aria-live=polite class=soft>{_HINT}</p>
<div class=charts>
{figures}
</div>
<h2>Numbers</h2>
{"".join(map(_table, tables(corpus)))}
{"".join(f"<p class=soft>{escape(note)}</p>" for note in NOTES)}"""
    return page(f"{corpus.name}, decoded in parallel", body, corpus.to_dict(), style=STYLE + _STYLE)


def _table(table: Table) -> str:
    head = "".join(f"<th scope=col>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join(f"<tr><th scope=row>{escape(row[0])}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in table.rows)
    return (
        f"<details><summary>{escape(table.title)}</summary><div class=wide><table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table></div></details>\n"
    )
