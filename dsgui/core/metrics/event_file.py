"""TensorBoard's event files → scalars, from arbitrary chunks; nothing of TensorFlow or protobuf is imported.

A file is TFRecords (tensorflow/core/lib/io/record_writer.cc): length (u8), its masked CRC32C, that many bytes, theirs.
Each record is an Event (tensorflow/core/util/event.proto), of which a few fields of the protobuf wire format are read.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_HEADER, _CRC = struct.Struct("<QI"), struct.Struct("<I")
# A scalar takes some fifty bytes. Images, graphs and histograms are passed over: their length is checked, not they.
_LONGEST_BYTES = 1 << 14
_MOST_BYTES = 1 << 40
_LONGEST_TAG_BYTES = 512
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
# TensorProto (tensorflow/core/framework/tensor.proto): DataType → the field of its values, and how one is packed.
_TENSOR_FLOAT, _TENSOR_DOUBLE, _TENSOR_TEXT = 1, 2, 7
_TEXTS = 8  # of its fields
_OF_TEXT = b"/text_summary"  # ends the tag of torch's add_text
_MOST_TEXTS = 20
_TENSOR_FIELDS = {_TENSOR_FLOAT: (5, struct.Struct("<f")), _TENSOR_DOUBLE: (6, struct.Struct("<d"))}

# torch/utils/tensorboard and tensorboard/summary/writer/event_file_writer.py: when, machine, process, a number.
_FILE_NAME = re.compile(r"events\.out\.tfevents\.\d+\.(.+)\.(\d{1,9})\.\d+")

Field = tuple[int, int, int | bytes]


class Scalar(NamedTuple):
    """One value of one tag. `wall_time` is unix seconds; a value may be NaN or infinite."""

    tag: str
    step: int
    value: float
    wall_time: float


@dataclass(slots=True)
class EventFile:
    """Takes a file's bytes in order; returns the scalars that became complete. Memory is bounded by one record.

    `broken` says what was found where a record should be, after which nothing more is read; `read_bytes` is the end of
    the last complete record; `odd` counts records that are not events, which are skipped. `texts` are those that were
    logged beside the scalars, by tag, the first few: the HF Trainer logs its arguments as one."""

    broken: str = ""
    read_bytes: int = 0
    odd: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    _rest: bytes = b""
    _passing: int = 0

    def feed(self, data: bytes) -> list[Scalar]:
        """How the file is cut into chunks makes no difference."""
        found: list[Scalar] = []
        if self.broken:
            return found
        if self._passing:
            passed = min(self._passing, len(data))
            self._passing -= passed
            self.read_bytes += passed
            data = data[passed:]
        data = self._rest + data
        place = self._records(data, found)
        self._rest = b"" if self.broken else data[place:]
        return found

    def _records(self, data: bytes, found: list[Scalar]) -> int:
        """Reads the complete records of `data`; returns where the first incomplete one begins."""
        place = 0
        while len(data) - place >= _HEADER.size:
            length, crc = _HEADER.unpack_from(data, place)
            if masked_crc(data[place : place + 8]) != crc or length > _MOST_BYTES:
                self.broken = "the checksum of a record's length is wrong"
                break
            end = place + _HEADER.size + length + _CRC.size
            if length > _LONGEST_BYTES:
                self._passing = max(end - len(data), 0)
            elif end > len(data) or not self._record(data[place + _HEADER.size : end], found):
                break
            self.read_bytes += min(end, len(data)) - place
            place = min(end, len(data))
        return place

    def _record(self, record: bytes, found: list[Scalar]) -> bool:
        body = record[: -_CRC.size]
        if masked_crc(body) != _CRC.unpack(record[-_CRC.size :])[0]:
            self.broken = "the checksum of a record is wrong"
            return False
        try:
            found += event_scalars(body)
            if _OF_TEXT in body and len(self.texts) < _MOST_TEXTS:
                self.texts |= event_texts(body)
        except (ValueError, struct.error, IndexError):
            self.odd += 1
        return True


def writer_of(file_name: str) -> tuple[str, int] | None:
    """The machine and the process that write a file of this name; None if the name does not tell."""
    match = _FILE_NAME.match(file_name)
    return (match[1], int(match[2])) if match else None


def event_scalars(body: bytes) -> list[Scalar]:
    """The scalars of one Event. Raises ValueError, IndexError or struct.error for what is none."""
    wall_time, step, values = 0.0, 0, []
    for number, kind, value in _fields(body):
        if number == 1 and kind == _FIXED64:
            (wall_time,) = struct.unpack("<d", _as_bytes(value))
        elif number == 2 and kind == _VARINT:
            step = _signed(value)
        elif number == 5 and kind == _LENGTH:
            values += [one for n, k, one in _fields(_as_bytes(value)) if n == 1 and k == _LENGTH]
    told = (_summary_value(_as_bytes(value)) for value in values)
    return [Scalar(tag, step, value, wall_time) for tag, value in filter(None, told)]


def event_texts(body: bytes) -> dict[str, str]:
    """The texts of one Event, by tag. Raises as `event_scalars`."""
    found = {}
    for value in _values(body):
        fields = list(_fields(value))
        tag = next((_as_bytes(one) for number, kind, one in fields if (number, kind) == (1, _LENGTH)), b"")
        for number, kind, one in fields:
            if (number, kind) == (8, _LENGTH) and tag.endswith(_OF_TEXT):
                text = _tensor_text(_as_bytes(one))
                found[tag.removesuffix(_OF_TEXT)[:_LONGEST_TAG_BYTES].decode("utf-8", "replace")] = text
    return found


def _tensor_text(body: bytes) -> str:
    """The first text of a tensor of texts."""
    fields = list(_fields(body))
    is_text = any((number, value) == (1, _TENSOR_TEXT) for number, kind, value in fields if kind == _VARINT)
    texts = [_as_bytes(value) for number, kind, value in fields if (number, kind) == (_TEXTS, _LENGTH)]
    return texts[0].decode("utf-8", "replace") if is_text and texts else ""


def _values(body: bytes) -> list[bytes]:
    """The values of its summary."""
    summaries = [_as_bytes(value) for number, kind, value in _fields(body) if (number, kind) == (5, _LENGTH)]
    return [_as_bytes(one) for summary in summaries for n, k, one in _fields(summary) if (n, k) == (1, _LENGTH)]


def _summary_value(body: bytes) -> tuple[str, float] | None:
    """Tag and value (tensorflow/core/framework/summary.proto, Summary.Value); None if it is not a scalar."""
    tag, found = "", None
    for number, kind, value in _fields(body):
        if number == 1 and kind == _LENGTH:
            tag = _as_bytes(value)[:_LONGEST_TAG_BYTES].decode("utf-8", "replace")
        elif number == 2 and kind == _FIXED32:
            (found,) = struct.unpack("<f", _as_bytes(value))
        elif number == 8 and kind == _LENGTH:
            found = _tensor_scalar(_as_bytes(value))
    return (tag, found) if tag and found is not None else None


def _tensor_scalar(body: bytes) -> float | None:
    """The one number of a tensor without dimensions; None for any other."""
    fields = list(_fields(body))
    kinds = [value for number, kind, value in fields if number == 1 and kind == _VARINT]
    shaped = any(value for number, _, value in fields if number == 2)
    if shaped or not kinds or kinds[-1] not in _TENSOR_FIELDS:
        return None
    own, packed = _TENSOR_FIELDS[int(kinds[-1])]
    for number, _, value in fields:
        if number in (4, own) and isinstance(value, bytes) and len(value) == packed.size:
            return float(packed.unpack(value)[0])
    return None


def _fields(body: bytes) -> Iterator[Field]:
    """Number, wire type and value of each field: an int of a varint, the bytes of any other."""
    place = 0
    while place < len(body):
        key, place = _varint(body, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(body, place)
            yield number, kind, value
            continue
        length = 8 if kind == _FIXED64 else 4
        if kind == _LENGTH:
            length, place = _varint(body, place)
        elif kind not in (_FIXED64, _FIXED32):
            raise ValueError("a wire type that is not used any more")
        if place + length > len(body):
            raise ValueError("a field is longer than its message")
        yield number, kind, body[place : place + length]
        place += length


def _varint(body: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := body[place]) & 0x80:
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
    return value | byte << shift, place + 1


def _signed(value: int | bytes) -> int:
    number = int(value) & ((1 << 64) - 1)
    return number - (1 << 64) if number >> 63 else number


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where bytes belong")
    return value


# --- checksums --------------------------------------------------------------------------------------------------------


def _make_table() -> tuple[int, ...]:
    """CRC-32C (Castagnoli, RFC 3720 appendix B.4), a byte at a time."""
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


CRC_TABLE = _make_table()


def masked_crc(data: bytes) -> int:
    """As TFRecords store it: rotated right by 15 bits, plus a constant (tensorflow/core/lib/hash/crc32c.h)."""
    crc, table = 0xFFFFFFFF, CRC_TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
