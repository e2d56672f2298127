"""The program `logscope`, also as `python -m logscope`."""

import sys


def program() -> int:
    """Runs one command as a process of its own and returns its exit code; Ctrl-C is one line from here on.

    With Python's own thresholds a tenth of a short command goes into looking for garbage, half of it at exit,
    where what is collected would end anyway.
    """
    try:
        import gc

        from logscope.cli.main import main

        gc.set_threshold(50_000, 20, 20)
        code = main()
        gc.freeze()
    except KeyboardInterrupt:  # while modules were still being loaded
        sys.stderr.write("logscope: interrupted\n")
        return 130
    return code


if __name__ == "__main__":
    sys.exit(program())
