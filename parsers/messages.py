"""One message at a time: the head of a piece of a line, what its message is, what its launch learns of it.

`parsers.careful` cuts physical lines into pieces and takes off what carries them.
"""

from __future__ import annotations

from parsers.carriers import Carried
from parsers.heads import Head, parse_head
from parsers.launches import RunBuilder
from parsers.lazy_dataclass import replace
from parsers.pieces import Piece
from parsers.plain import PlainLines
from parsers.records import Line
from parsers.rules.access import parse_access
from parsers.rules.banner import OpenBanner, read_banner
from parsers.rules.batches import parse_batch
from parsers.rules.env import shown_variables
from parsers.rules.milestones import MilestoneHit, bar_milestone, parse_milestone
from parsers.rules.starts import Start, head_start, launch_start
from parsers.secrets import Masker
from parsers.sources import Source, Sources
from parsers.times import UNDATED, settle


class MessageReader:
    """Reads the pieces of lines, and hands each to the launch that it belongs to."""

    def __init__(self, salt: bytes) -> None:
        self.masker = Masker(salt)
        self.sources = Sources()
        self.plain = PlainLines()
        self.banners: dict[str, tuple[OpenBanner, Line]] = {}
        """Arguments that go on in the next line, by label."""
        self.begins_at = 0
        """A line that is known to begin a launch."""
        self.has_secrets = True
        """The line may hold some."""
        self.is_plain = self.is_headed = False
        """The message that was read last held nothing for the reader, and whether it has a head."""
        self.is_of_dead_rank = False
        """That message is of a rank that is gone: the next one may be of another launch."""
        self.last_row_line = 0
        """The last physical line that gave a row."""
        self._ordinals = 0
        self._raw_body = ""
        """The message of the current piece before secrets were masked: a banner in parts is masked whole."""

    def take_piece(
        self, source: Source, number: int, part: int, piece: Piece, carried: Carried, keep_rows: bool
    ) -> tuple[Source, bool]:
        if piece.bar is not None:
            self._take_bar(source.current, number, part, piece, carried)
            return source, True
        head = parse_head(piece.text)
        if carried.label in self.banners:
            taken, source = self._continue_banner(source, number, piece.text, head, carried)
            if taken:
                return source, True
        self._raw_body = piece.text[head.end :] if head is not None else piece.text
        if self.has_secrets:
            piece = replace(piece, text=self.masker.mask(piece.text))
        line, is_own = self.line_of(source, number, part, piece, head, carried)
        if line.rank:
            source = self.sources.part_by_rank(source, carried.label, line.rank, number)
        return self._take_record(source, line, is_own, piece.is_cut, carried, keep_rows)

    def line_of(
        self, source: Source, number: int, part: int, piece: Piece, head: Head | None, carried: Carried
    ) -> tuple[Line, bool]:
        text = piece.text
        if head is None:
            orphan, source.orphan_head = source.orphan_head, None
            if orphan is not None and (parse_batch(text) or parse_milestone(text)):
                source.current.torn += 1
                return Line(
                    number, part, carried.label, orphan.at, orphan.rank, orphan.level, True, text, text
                ), True
            level = carried.level if "app-logger" in carried.names else None
            return Line(number, part, carried.label, carried.at, "", level, False, text, text), False
        at = head.at
        if at is None:
            at = carried.at
        elif at.year == UNDATED:
            at = settle(at, carried.at, source.current.last_own_at or source.current.last_at)
        body = text[head.end :]
        if head.is_bracket:
            source.has_bracket_heads = source.has_bracket_heads or head.at is not None
            if piece.is_cut and not body.strip():
                source.orphan_head, source.orphan_line = head, number
            elif source.orphan_line != number:
                source.orphan_head = None
        line = Line(
            number, part, carried.label, at, head.rank, head.level, True, body, text, head.source_file
        )
        return line, head.is_bracket

    def _take_record(
        self, source: Source, line: Line, is_own: bool, is_cut: bool, carried: Carried, keep_rows: bool
    ) -> tuple[Source, bool]:
        may_be_own = line.has_head or bool(carried.names) or not source.has_bracket_heads
        if may_be_own:
            batch = parse_batch(line.body, is_cut)
            if batch is not None:
                builder = source.current
                builder.see_time(line.at, is_own)
                builder.see_rank(line.rank, line.number)
                builder.take_batch(batch, line, keep_rows)
                self.last_row_line = line.number
                return source, True
            access = parse_access(line.body)
            if access is not None:
                source.current.see_time(line.at, is_own)
                source.current.take_access(access, line, keep_rows)
                self.last_row_line = line.number
                return source, True
            opened = OpenBanner.begin(self._raw_body)
            if opened is not None:
                return self._take_banner(source, opened, line, carried), True
        return source, self._take_other(source, line, is_own, may_be_own)

    def _take_other(self, source: Source, line: Line, is_own: bool, may_be_own: bool) -> bool:
        hit = parse_milestone(line.body)
        start = Start.NONE
        if is_own or not line.has_head:
            start = head_start(line.body) if line.has_head else launch_start(line.text)
        is_begin = start in (Start.LIKELY, Start.SURE)
        self.is_plain = hit is None and not is_begin
        self.is_headed = line.has_head
        if not may_be_own:
            hit = hit if hit is not None and _is_ready_sentence(hit.name, line.body) else None
            self.is_plain = self.is_plain and _is_no_record(line.body)
        begins = start is Start.FRESH and line.number == self.begins_at
        if begins or source.current.is_followed_by(start, line if is_own else None):
            self._begin_launch(source, line.number)
        builder = source.current
        if is_begin and not line.text.startswith("usage:"):
            builder.likeness.has_command = True
        builder.see_time(line.at, is_own)
        if is_own:
            builder.see_rank(line.rank, line.number)
            builder.is_certain = builder.is_certain or bool(line.rank)
        understood = hit is not None or is_own
        if hit is not None:
            builder.take_milestone(hit, line)
        builder.see_message(line.body, line.rank)
        self.is_of_dead_rank = is_own and line.rank in builder.dead_ranks
        builder.versions.see_text(line.text, line.number)
        builder.versions.see_body(line.body)
        for name, value in shown_variables(line.text):
            builder.see_variable(name, value, line.number)
            understood = True
            self.is_plain = False
        if builder.failures.feed(line, builder.stage):
            understood = True
            builder.has_errors = True
        builder.see_likeness(line.text)
        return understood

    def _take_bar(self, builder: RunBuilder, number: int, part: int, piece: Piece, carried: Carried) -> None:
        milestone = bar_milestone(piece.bar.label if piece.bar is not None else "")
        if milestone is None or not builder.is_first_bar(milestone[0]):
            return
        line = Line(
            number,
            part,
            carried.label,
            carried.at or builder.last_at,
            "",
            None,
            False,
            piece.text,
            piece.text,
        )
        builder.take_milestone(MilestoneHit(milestone[0], milestone[1], None, "", (), False), line)

    def _take_banner(self, source: Source, opened: OpenBanner, line: Line, carried: Carried) -> Source:
        source = self.sources.part_by_banner(source, carried.label, line.number)
        banner = read_banner(line.body)
        if banner is not None and source.current.starts_anew(banner, line.at):
            self._begin_launch(source, line.number)
        if opened.is_complete:
            self.close_banner(source, opened, line)
        else:
            self.banners[carried.label] = (opened, line)
        return source

    def _continue_banner(
        self, source: Source, number: int, text: str, head: Head | None, carried: Carried
    ) -> tuple[bool, Source]:
        opened, line = self.banners[carried.label]
        taken = head is None and opened.extend(text)
        if not taken or opened.is_complete:
            del self.banners[carried.label]
            self.close_banner(source, opened, line)
        return taken, source

    def close_banner(self, source: Source, opened: OpenBanner, line: Line) -> None:
        banner = read_banner(
            line.body if opened.parts == 1 else self.masker.mask_again(opened.text, line.body)
        )
        if banner is None:
            source.current.failures.feed(line, source.current.stage)
            return
        builder = source.current
        builder.see_time(line.at, line.has_head)
        builder.see_rank(line.rank, line.number)
        builder.take_banner(banner, line)
        builder.versions.see_body(line.body)
        builder.failures.feed(line, builder.stage)
        self.settle_run(builder)

    def _begin_launch(self, source: Source, number: int) -> None:
        ended = source.current
        ended.is_certain = ended.is_certain or ended.died_early
        self.settle_run(ended)
        if not ended.lines:  # it began on this same physical line
            ended.last_line = max(ended.last_line, number)
        source.begin_launch(number)
        self.plain.forget()  # each launch looks for its own version and environment

    def settle_run(self, builder: RunBuilder) -> None:
        if builder.is_certain and not builder.ordinal:
            self._ordinals += 1
            builder.ordinal = self._ordinals


def _is_no_record(body: str) -> bool:
    return parse_batch(body) is None and parse_access(body) is None and OpenBanner.begin(body) is None


def _is_ready_sentence(name: str, body: str) -> bool:
    """The ready line is taken without a head too: wrappers print it so, and nothing else ends like it."""
    return name == "ready" and body.rstrip().endswith("roll!")
