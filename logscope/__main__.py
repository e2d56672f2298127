"""The program `logscope`, also as `python -m logscope`."""

import sys


def program() -> int:
    """Runs one command as a process of its own and returns its exit code; Ctrl-C is one line from here on.

    With Python's own thresholds a tenth of a short command goes into looking for garbage, half of it at exit,
    where what is collected would end anyway.
    """
    try:
        import gc
        import signal

        from logscope.cli.main import main

        gc.set_threshold(50_000, 20, 20)
        code = main()
        gc.freeze()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is said: nothing catches it from here on
    except KeyboardInterrupt:  # while modules were still being loaded
        return _interrupted()
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):  # in the middle of making a class
            raise
        return _interrupted()
    return code


def _interrupted() -> int:
    sys.stderr.write("logscope: interrupted\n")
    return 130


if __name__ == "__main__":
    sys.exit(program())
