"""Errors of the conversion from other toolkits' formats."""

from pathlib import Path

import pytest

from converters import formats
from converters.conversion import Conversion, ConversionOptions
from converters.formats import Reader, convert_model
from specdec_cli.errors import ModelError


@pytest.mark.parametrize("error", [KeyError("d_model"), ZeroDivisionError("division by zero")])
def test_a_model_with_missing_or_wrong_settings_is_refused(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(*_: object) -> Conversion:
        raise error

    monkeypatch.setattr(formats, "READERS", {"made": Reader(lambda _: True, convert)})
    with pytest.raises(ModelError, match=f"^folder: not a valid made model \\({type(error).__name__}: .*\\)$"):
        convert_model(Path("folder"), None, ConversionOptions())
