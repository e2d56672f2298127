"""SGLang log text in, typed records out. Knows nothing of DuckDB, the command line or LogScope."""
