"""The settings of a row of bench that the native engine decodes."""

from specdec_cli.benchmark.row_decoding import describe_settings, request_of
from specdec_cli.benchmark.rows import Row
from specdec_cli.commands.loading import SHIPPED
from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.pipeline.native_engine import NativeEngine
from specdec_cli.pipeline.settings import resolve


def test_lookup_reports_the_block_size_that_it_has_by_default() -> None:
    bundle = describe_bundle(SHIPPED / "en-de")
    for row, expected in ((Row("lookup"), 15), (Row("lookup", block_size=4), 4), (Row("greedy"), None)):
        settings = resolve(request_of(row, bundle.info), bundle)
        described = describe_settings(row, settings, NativeEngine(bundle, settings, 1), bundle.info)
        assert described.get("block_size") == expected
