"""An HTTP server with the interfaces of LibreTranslate and LanguageTool, and a page to try the models."""
