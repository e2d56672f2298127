"""Facts about SGLang as data, by release. Knows no particular run."""
