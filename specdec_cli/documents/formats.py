"""The function that parses each format of documents."""

from collections.abc import Callable

from specdec_cli.documents.document import Document, Source
from specdec_cli.documents.docx import read_docx
from specdec_cli.documents.html import read_html
from specdec_cli.documents.markdown import read_markdown
from specdec_cli.documents.po import read_po
from specdec_cli.documents.subtitles import read_subtitles
from specdec_cli.documents.xliff import read_xliff

READERS: dict[str, Callable[[Source], Document]] = {
    "md": read_markdown,
    "srt": read_subtitles,
    "vtt": read_subtitles,
    "po": read_po,
    "xliff": read_xliff,
    "html": read_html,
    "docx": read_docx,
}
"""The function that parses each of the formats in `names.DOCUMENTS`."""
