"""One module per family of lines; each rule is data with samples that the tests run."""
