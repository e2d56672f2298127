"""Text of every command keeps to the columns that are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from logscope.cli.main import main

SAMPLES = Path(__file__).parent.parent.parent.parent / "sample_logs"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "store.duckdb"
    logs = [str(SAMPLES / f"{name}.log") for name in ("s02_ok_eagle3", "s03_fail_eagle3_context_len")]
    assert main(["ingest", "-q", "--db", str(path), *logs]) == 0
    return path


@pytest.mark.parametrize("columns", [40, 60])
@pytest.mark.parametrize(
    "words",
    [
        "triage",
        "sql",
        "sql --list",
        "history arg context_length",
        "history error ValueError",
        "compare last-ready last-failed",
        "knowledge arg tp_size",
        "knowledge env SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
        "knowledge validation --good-version 0.4.6 --bad-version 0.5.1 --message context_length",
    ],
)
def test_no_line_is_wider_than_the_columns(
    words: str, columns: int, filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    main([*words.split(), "--db", str(filled)])

    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if len(line) > columns] == []


def test_check_breaks_all_but_what_is_to_be_copied(
    filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    main(
        [
            "check",
            "--db",
            str(filled),
            "--context",
            str(SAMPLES / "s03_fail_eagle3_context_len.context.json"),
        ]
    )

    wide = [line for line in capsys.readouterr().out.splitlines() if len(line) > 40]
    assert wide and all(line.lstrip().startswith("$ ") for line in wide)


@pytest.mark.parametrize(
    ("flag", "name"), [("--tp", "tp_size"), ("--model", "model_path"), ("--tp-size", "tp_size")]
)
def test_knowledge_takes_a_flag_as_it_is_typed(
    flag: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "arg", flag, "--version", "0.5.10"]) == 0
    assert capsys.readouterr().out.startswith(f"{name}  (argument")
    assert main(["knowledge", "arg", "--format", "json", flag]) == 0


def test_many_runs_stand_in_several_tables_one_below_the_other() -> None:
    from logscope.report.compare_table import Table, table_text

    table = Table(tuple(f"run{n}.log" for n in range(9)), (("tp_size", tuple(map(str, range(9)))),), 3)

    lines = table_text(table, 40).splitlines()

    assert max(map(len, lines)) <= 40
    assert " ".join(lines).count("tp_size") > 1
    assert all(f"run{n}" in " ".join(lines) for n in range(9))
