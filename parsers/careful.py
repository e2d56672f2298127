"""The careful lane: one physical line at a time, with full generality.

Takes off carriers, cuts a line into pieces, reads each piece's head and message, and hands it to the launch
that it belongs to.
"""

from __future__ import annotations

from parsers.carriers import Carried, CarrierReader
from parsers.heads import Head, parse_head
from parsers.inner_lines import InnerReader
from parsers.launches import RunBuilder
from parsers.lazy_dataclass import dataclass, replace
from parsers.lookahead import HeldLines, may_be_traceback
from parsers.pieces import Piece, decode_line, pieces_of
from parsers.plain import Plain, PlainLines
from parsers.records import Line
from parsers.rules.access import parse_access
from parsers.rules.banner import OpenBanner, read_banner
from parsers.rules.batches import parse_batch
from parsers.rules.env import shown_variables
from parsers.rules.milestones import MilestoneHit, bar_milestone, parse_milestone
from parsers.rules.starts import Start, head_start, launch_start
from parsers.secrets import Masker, may_hold_secret
from parsers.sources import Source, Sources
from parsers.times import UNDATED, settle

_PLAIN = Carried((), "", None, None, "")


@dataclass(slots=True)
class _Held:
    """A text that goes on in a later physical line."""

    number: int
    carried: Carried
    text: str


class CarefulReader:
    """Reads physical lines; see `LogReader` for the whole."""

    def __init__(self, salt: bytes) -> None:
        self.notes: list[str] = []
        self._masker = Masker(salt)
        self.carriers = CarrierReader()
        self.sources = Sources()
        self._partial: dict[str, _Held] = {}
        self._held: HeldLines | None = None
        self._begins_at = 0
        """A line that is known to begin a launch."""
        self._banners: dict[str, tuple[OpenBanner, Line]] = {}
        self._ordinals = 0
        self._plain = PlainLines()
        self._inner = InnerReader()
        self._is_plain = self._is_headed = False
        """The line that was read last held nothing for the reader, and whether it has a head."""
        self._has_secrets = True
        self._raw_body = ""
        """The message of the current piece before secrets were masked: a banner in parts is masked whole."""
        self.last_row_line = 0
        """The last physical line that gave a row."""

    @property
    def is_inside_record(self) -> bool:
        """A record goes on in a later physical line, so the next line cannot be read on its own."""
        return bool(self._partial or self._banners or self._held)

    @property
    def knows_its_servers(self) -> bool:
        """True while no launch waits for a line that names a library, to show that it is one at all."""
        return bool(self.sources.by_key) and all(
            source.current.is_known for source in self.sources.by_key.values()
        )

    def prove_carriers(self, lines: list[bytes]) -> None:
        """Let the first lines show which doubtful carriers are real."""
        self.carriers.prove([decode_line(raw[:2000]) for raw in lines])

    def take(self, number: int, raw: bytes, keep_rows: bool = True) -> None:
        """Read one physical line."""
        if self._held is not None:
            is_new = self._held.add(number, raw, keep_rows)
            if is_new is not None:
                self._release(is_new)
            return
        if raw[-2:].rstrip()[-1:] == b":" and may_be_traceback(raw) and self._has_launched():
            self._held = HeldLines()
            self._held.add(number, raw, keep_rows)
            return
        self._take(number, raw, keep_rows)

    def take_inner(self, number: int, text: bytes) -> int:
        """Read lines that all begin with two blanks, as inside a traceback; how many of them were taken.

        Only where no record is open, and lines without a head have no carrier.
        """
        source = self.sources.by_key.get("")
        if source is None or not source.current.is_certain or not source.current.failures.may_take_inner():
            return 0
        inner = self._inner.read(text)
        builder = source.current
        if not inner.count or not builder.failures.take_inner(number, inner):
            return 0
        source.orphan_head = None
        builder.has_errors = True
        builder.count_lines(inner.count, number, number + inner.count - 1, ())
        return inner.count

    def _has_launched(self) -> bool:
        """True where a launch that printed its arguments is the current one."""
        return any(source.current.banner_line is not None for source in self.sources.by_key.values())

    def _release(self, is_new: bool) -> None:
        """Read the lines that were held back; the first of them begins a launch or does not."""
        held, self._held = self._held, None
        if held is None:
            return
        self._begins_at = held.lines[0][0] if is_new else 0
        for number, raw, keep_rows in held.lines:
            self._take(number, raw, keep_rows)

    def _take(self, number: int, raw: bytes, keep_rows: bool) -> None:
        kind = self._plain.kind(raw)
        if kind and not self._partial and not self._banners and not self._awaits_launch():
            self._take_plain(number, raw, kind)
            return
        self._has_secrets = may_hold_secret(raw)
        text = decode_line(raw)
        proven = len(self.carriers.proven)
        carried = self.carriers.take_off(text)
        if carried is None:
            carried = _PLAIN
        else:
            text = carried.text
        if len(self.carriers.proven) != proven:
            self._plain.forget()
        first = number
        if carried.partial or carried.label in self._partial:
            joined = self._join(number, carried, text)
            if joined is None:
                builder = self.sources.of(carried.label, number, carried.names).current
                builder.count_line(number, carried.names, True)
                return
            first, text = joined
            self._has_secrets = True
        self._take_text(number, first, text, carried, keep_rows)
        if self._is_plain and carried is _PLAIN and not self._has_secrets:
            self._plain.learn(raw, Plain.HEADED if self._is_headed else Plain.HEADLESS)

    def _awaits_launch(self) -> bool:
        """True where the next line can begin a launch whatever it holds: the one before has ended."""
        source = self.sources.by_key.get("")
        return source is not None and (source.current.has_ended or source.current.died_early)

    def _take_plain(self, number: int, raw: bytes, kind: Plain) -> None:
        """Take a line of a shape that held nothing for the reader: only the failure model looks at it."""
        text = raw.decode("utf-8", "replace").rstrip("\r")
        source = self.sources.of("", number, ())
        builder = source.current
        if kind is Plain.HEADLESS and text[:2] == "  " and builder.failures.feed_inner(number, text):
            source.orphan_head = None
            builder.has_errors = True
            builder.count_line(number, (), True)
            return
        if kind is Plain.HEADLESS:
            line, is_own = Line(number, 0, "", None, "", None, False, text, text), False
            source.orphan_head = None
        else:
            line, is_own = self._line(source, number, 0, Piece(text), parse_head(text), _PLAIN)
            builder.see_time(line.at, is_own)
            if is_own:
                builder.see_rank(line.rank, number)
        understood = builder.failures.feed(line, builder.stage)
        if understood:
            builder.has_errors = True
        builder.count_line(number, (), understood or is_own)

    def _join(self, number: int, carried: Carried, text: str) -> tuple[int, str] | None:
        held = self._partial.get(carried.label)
        if held is None:
            self._partial[carried.label] = _Held(number, carried, text)
            return None
        held.text += text
        if carried.partial and len(held.text) < 1 << 21:
            return None
        del self._partial[carried.label]
        return held.number, held.text

    def _take_text(self, number: int, first: int, text: str, carried: Carried, keep_rows: bool) -> None:
        source = self.sources.of(carried.label, number, carried.names)
        understood = not text or text.isspace()
        builder = source.current
        torn = False
        self._is_plain = False
        before = self._masker.masked
        pieces = pieces_of(text) if not understood else []
        for part, piece in enumerate(pieces):
            torn = torn or piece.is_cut
            source, taken = self._take_piece(source, first, part, piece, carried, keep_rows)
            builder = source.current
            self._settle_run(builder)
            understood = understood or taken
        builder.count_line(number, carried.names, understood)
        builder.torn += torn
        builder.masked += self._masker.masked - before
        self._is_plain = self._is_plain and len(pieces) == 1 and pieces[0].text is text
        builder.repeated += carried.repeats if carried.repeats > 1 else 0
        self._settle_run(builder)
        self.sources.note(source)

    def _take_piece(
        self, source: Source, number: int, part: int, piece: Piece, carried: Carried, keep_rows: bool
    ) -> tuple[Source, bool]:
        if piece.bar is not None:
            self._take_bar(source.current, number, part, piece, carried)
            return source, True
        head = parse_head(piece.text)
        if carried.label in self._banners:
            taken, source = self._continue_banner(source, number, piece.text, head, carried)
            if taken:
                return source, True
        self._raw_body = piece.text[head.end :] if head is not None else piece.text
        if self._has_secrets:
            piece = replace(piece, text=self._masker.mask(piece.text))
        line, is_own = self._line(source, number, part, piece, head, carried)
        if line.rank:
            source = self.sources.part_by_rank(source, carried.label, line.rank, number)
        return self._take_record(source, line, is_own, piece.is_cut, carried, keep_rows)

    def _line(
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
        self._is_plain = hit is None and not is_begin
        self._is_headed = line.has_head
        if not may_be_own:
            hit = hit if hit is not None and _is_ready_sentence(hit.name, line.body) else None
            self._is_plain = self._is_plain and _is_no_record(line.body)
        begins = start is Start.FRESH and line.number == self._begins_at
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
        self._is_plain = self._is_plain and line.rank not in builder.dead_ranks
        builder.versions.see_text(line.text, line.number)
        builder.versions.see_body(line.body)
        for name, value in shown_variables(line.text):
            builder.see_variable(name, value, line.number)
            understood = True
            self._is_plain = False
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
            self._close_banner(source, opened, line)
        else:
            self._banners[carried.label] = (opened, line)
        return source

    def _continue_banner(
        self, source: Source, number: int, text: str, head: Head | None, carried: Carried
    ) -> tuple[bool, Source]:
        opened, line = self._banners[carried.label]
        taken = head is None and opened.extend(text)
        if not taken or opened.is_complete:
            del self._banners[carried.label]
            self._close_banner(source, opened, line)
        return taken, source

    def _close_banner(self, source: Source, opened: OpenBanner, line: Line) -> None:
        banner = read_banner(
            line.body if opened.parts == 1 else self._masker.mask_again(opened.text, line.body)
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
        self._settle_run(builder)

    def _begin_launch(self, source: Source, number: int) -> None:
        ended = source.current
        ended.is_certain = ended.is_certain or ended.died_early
        self._settle_run(ended)
        if not ended.lines:  # it began on this same physical line
            ended.last_line = max(ended.last_line, number)
        source.begin_launch(number)
        self._plain.forget()  # each launch looks for its own version and environment

    def _settle_run(self, builder: RunBuilder) -> None:
        if builder.is_certain and not builder.ordinal:
            self._ordinals += 1
            builder.ordinal = self._ordinals

    def finish(self) -> None:
        """No more lines come: close what is still open."""
        self._release(is_new=False)
        self._has_secrets = True
        for label, held in list(self._partial.items()):
            del self._partial[label]
            source = self.sources.of(label, held.number, held.carried.names)
            for part, piece in enumerate(pieces_of(held.text)):
                source, _ = self._take_piece(source, held.number, part, piece, held.carried, True)
            self._settle_run(source.current)
        for label, (opened, line) in list(self._banners.items()):
            del self._banners[label]
            self._close_banner(self.sources.of(label, line.number, ()), opened, line)

    def touched_builders(self) -> list[RunBuilder]:
        """Launches that may hold rows."""
        return [builder for source in self.sources.by_key.values() for builder in source.builders]

    def chosen_builders(self) -> list[RunBuilder]:
        """The launches of the log: those that are certain, else the likeliest text."""
        builders = self.touched_builders()
        for one in builders:
            if one.died_early:
                one.is_certain = True
                self._settle_run(one)
        certain = sorted((one for one in builders if one.is_certain), key=lambda one: one.ordinal)
        if certain:
            return certain
        chosen = max(builders, key=lambda one: (one.likely, one.lines), default=None)
        if chosen is None or not chosen.likely:
            return []
        chosen.ordinal = 1
        return [chosen]


def _is_no_record(body: str) -> bool:
    return parse_batch(body) is None and parse_access(body) is None and OpenBanner.begin(body) is None


def _is_ready_sentence(name: str, body: str) -> bool:
    """The ready line is taken without a head too: wrappers print it so, and nothing else ends like it."""
    return name == "ready" and body.rstrip().endswith("roll!")
