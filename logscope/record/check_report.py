"""What is known against a planned launch, as text and JSON."""

from __future__ import annotations

import json

from logscope.explain.records import Remedy
from logscope.record.check import CheckAnswer
from logscope.record.checking import Finding
from logscope.report.harmless import folded
from logscope.report.layout import wrapped
from parsers.records import Json

SCHEMA = "logscope.check/1"


def check_text(answer: CheckAnswer) -> str:
    """Findings with evidence and remedies, worst first."""
    rows = []
    if answer.is_clear:
        rows.append("nothing known against this launch")
    for number, finding in enumerate(answer.findings, 1):
        rows += _finding_rows(number, finding)
    rows.append("")
    if answer.looked_at:
        rows += wrapped(folded("; ".join(answer.looked_at)), "looked at: ")
    if answer.not_looked_at:
        rows += wrapped(folded("; ".join(answer.not_looked_at)), "not looked at: ")
    return "\n".join(rows) + "\n"


def check_json(answer: CheckAnswer) -> str:
    """The same for programs."""
    held: dict[str, Json] = {
        "schema": SCHEMA,
        "clear": answer.is_clear,
        "findings": [_finding_json(finding) for finding in answer.findings],
        "looked_at": list(answer.looked_at),
        "not_looked_at": list(answer.not_looked_at),
    }
    return json.dumps(held, indent=2) + "\n"


def _finding_rows(number: int, finding: Finding) -> list[str]:
    title = f"{finding.severity}: {finding.title} [{finding.kind} {finding.subject}]"
    rows = wrapped(folded(title), f"{number}. ")
    for line in finding.evidence:
        rows += wrapped(folded(line), "   ", "     ")
    for remedy in finding.remedies:
        rows += wrapped(folded(f"{remedy.action} ({_conditions(remedy)})"), "   - ")
        if remedy.apply:
            rows.append(f"     $ {folded(remedy.apply)}")  # on a line of its own, to be copied
    return rows


def _conditions(remedy: Remedy) -> str:
    parts = [remedy.durability, f"assumes {remedy.assumes}" if remedy.assumes else ""]
    if remedy.risks:
        parts.append(f"costs: {remedy.risks}")
    if remedy.worked_before:
        parts.append(f"worked in {remedy.worked_before}")
    return "; ".join(part for part in parts if part)


def _finding_json(finding: Finding) -> Json:
    return {
        "rule": finding.rule,
        "kind": finding.kind,
        "subject": finding.subject,
        "severity": str(finding.severity),
        "title": finding.title,
        "evidence": list(finding.evidence),
        "remedies": [
            {
                "action": remedy.action,
                "apply": remedy.apply,
                "durability": remedy.durability,
                "assumes": remedy.assumes,
                "risks": remedy.risks,
                "worked_before": remedy.worked_before or None,
            }
            for remedy in finding.remedies
        ],
    }
