"""The careful lane: one physical line at a time, with full generality.

Takes off carriers and cuts a line into pieces, whose messages `parsers.messages` reads.
"""

from __future__ import annotations

from parsers.carriers import Carried, CarrierReader
from parsers.heads import parse_head
from parsers.inner_lines import InnerReader
from parsers.launches import RunBuilder
from parsers.lazy_dataclass import dataclass
from parsers.lookahead import HeldLines, may_be_traceback
from parsers.messages import MessageReader
from parsers.pieces import Piece, decode_line, is_as_printed, pieces_of, without_page_marks
from parsers.plain import Plain
from parsers.records import Line
from parsers.secrets import may_hold_secret
from parsers.whole_tracebacks import HEADER_END, WholeTraceback, header_of

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
        self.carriers = CarrierReader()
        self._messages = MessageReader(salt)
        self.sources = self._messages.sources
        self._plain = self._messages.plain
        self._inner = InnerReader()
        self._partial: dict[str, _Held] = {}
        self._held: HeldLines | None = None
        self.is_of_launch = False
        """It is known from elsewhere that the text is of a launch, however little it says."""

    @property
    def last_row_line(self) -> int:
        """The last physical line that gave a row."""
        return self._messages.last_row_line

    @property
    def is_inside_record(self) -> bool:
        """A record goes on in a later physical line, so the next line cannot be read on its own."""
        return bool(self._partial or self._messages.banners or self._held)

    @property
    def knows_its_servers(self) -> bool:
        """True while no launch waits for a line that names a library, to show that it is one at all."""
        return bool(self.sources.by_key) and all(
            source.current.is_known for source in self.sources.by_key.values()
        )

    def prove_carriers(self, lines: list[bytes]) -> None:
        """Let the first lines show which doubtful carriers are real."""
        self.carriers.prove([decode_line(without_page_marks(raw[:2000])) for raw in lines])

    def take(self, number: int, raw: bytes, keep_rows: bool = True) -> None:
        """Read one physical line."""
        raw = without_page_marks(raw)
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

    def take_whole(self, number: int, whole: WholeTraceback, blanks: int) -> int:
        """Read a traceback from its header to its exception, and the empty lines behind it; the lines taken.

        Only where no record is open, and lines without a head have no carrier. Its parts must be
        known to tell nothing else.
        """
        source = self.sources.by_key.get("")
        if source is None or not source.current.ordinal or self._awaits_launch():
            return 0
        header = self._plain.header(whole.header, whole.is_headed)
        if header is None or self._plain.kind(whole.exception) is not Plain.HEADLESS:
            return 0
        inner = self._inner.read(whole.inner)
        if not inner.is_whole:
            return 0
        if inner.may_begin_launch and "exception" not in header.body and self._has_launched():
            return 0
        builder = source.current
        if not builder.failures.take_whole(number, whole, header, inner, builder.stage):
            return 0
        source.orphan_head = None
        if whole.is_headed:
            source.has_bracket_heads = True
            builder.see_time(whole.at, True)
            builder.see_rank(whole.rank, number)
            builder.see_message(header.body, whole.rank)
        builder.has_errors = True
        count = inner.count + 2 + blanks
        builder.count_lines(count, number, number + count - 1, ())
        self.sources.note(source)
        return count

    def _has_launched(self) -> bool:
        """True where a launch that printed its arguments is the current one."""
        return any(source.current.banner_line is not None for source in self.sources.by_key.values())

    def _release(self, is_new: bool) -> None:
        """Read the lines that were held back; the first of them begins a launch or does not."""
        held, self._held = self._held, None
        if held is None:
            return
        self._messages.begins_at = held.lines[0][0] if is_new else 0
        for number, raw, keep_rows in held.lines:
            self._take(number, raw, keep_rows)

    def _take(self, number: int, raw: bytes, keep_rows: bool) -> None:
        kind = self._plain.kind(raw)
        is_alone = not self._partial and not self._messages.banners and number != self._messages.begins_at
        if kind and is_alone and not self._awaits_launch():
            self._take_plain(number, raw, kind)
            return
        self._messages.has_secrets = may_hold_secret(raw)
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
            self._messages.has_secrets = True
        self._take_text(number, first, text, carried, keep_rows)
        if self._messages.is_plain and not self._messages.has_secrets:
            self._learn(raw, text, carried)

    def _learn(self, raw: bytes, text: str, carried: Carried) -> None:
        """Remember a line that held nothing for the reader."""
        if raw.endswith(HEADER_END) and "app-logger" not in carried.names:
            header = header_of(text)
            if header is not None:
                self._plain.learn_header(header, self._messages.is_headed)
        if carried is _PLAIN and not self._messages.is_of_dead_rank and is_as_printed(raw):
            self._plain.learn(raw, Plain.HEADED if self._messages.is_headed else Plain.HEADLESS)

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
            line, is_own = self._messages.line_of(source, number, 0, Piece(text), parse_head(text), _PLAIN)
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
        self._messages.is_plain = False
        before = self._messages.masker.masked
        pieces = pieces_of(text) if not understood else []
        for part, piece in enumerate(pieces):
            torn = torn or piece.is_cut
            source, taken = self._messages.take_piece(source, first, part, piece, carried, keep_rows)
            builder = source.current
            self._messages.settle_run(builder)
            understood = understood or taken
        builder.count_line(number, carried.names, understood)
        builder.torn += torn
        builder.masked += self._messages.masker.masked - before
        self._messages.is_plain = self._messages.is_plain and len(pieces) == 1 and pieces[0].text is text
        builder.repeated += carried.repeats if carried.repeats > 1 else 0
        self._messages.settle_run(builder)
        self.sources.note(source)

    def finish(self) -> None:
        """No more lines come: close what is still open."""
        self._release(is_new=False)
        self._messages.has_secrets = True
        for label, held in list(self._partial.items()):
            del self._partial[label]
            source = self.sources.of(label, held.number, held.carried.names)
            for part, piece in enumerate(pieces_of(held.text)):
                source, _ = self._messages.take_piece(source, held.number, part, piece, held.carried, True)
            self._messages.settle_run(source.current)
        for label, (opened, line) in list(self._messages.banners.items()):
            del self._messages.banners[label]
            self._messages.close_banner(self.sources.of(label, line.number, ()), opened, line)

    def touched_builders(self) -> list[RunBuilder]:
        """Launches that may hold rows."""
        return [builder for source in self.sources.by_key.values() for builder in source.builders]

    def chosen_builders(self) -> list[RunBuilder]:
        """The launches of the log: those that are certain, else the likeliest text."""
        builders = self.touched_builders()
        for one in builders:
            if one.died_early:
                one.is_certain = True
                self._messages.settle_run(one)
        certain = sorted((one for one in builders if one.is_certain), key=lambda one: one.ordinal)
        if certain:
            return certain
        chosen = max(builders, key=lambda one: (one.likely, one.lines), default=None)
        if chosen is None and self.is_of_launch:
            chosen = self.sources.of("", 0, ()).current  # nothing was printed at all
        if chosen is None or not (chosen.likely or self.is_of_launch):
            return []
        chosen.ordinal = 1
        return [chosen]
