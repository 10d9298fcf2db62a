"""Reads the protobuf wire format, as far as a checked expression needs it."""

from __future__ import annotations

import struct

Field = int | bytes
Message = dict[int, list[Field]]


def message(data: bytes) -> Message:
    """The fields of a message by number, each with its values in order; fixed-width fields stay bytes."""
    fields: Message = {}
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        value: Field
        match tag & 7:
            case 0:
                value, position = _varint(data, position)
            case 1:
                value, position = data[position : position + 8], position + 8
            case 2:
                length, position = _varint(data, position)
                value, position = data[position : position + length], position + length
            case 5:
                value, position = data[position : position + 4], position + 4
            case other:
                raise ValueError(f"wire type {other} at byte {position}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = data[position]
    if value < 0x80:
        return value, position + 1
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def number(fields: Message, field: int) -> int:
    value = fields[field][-1] if field in fields else 0
    assert isinstance(value, int)
    return value


def octets(fields: Message, field: int) -> bytes:
    value = fields[field][-1] if field in fields else b""
    assert isinstance(value, bytes)
    return value


def all_octets(fields: Message, field: int) -> list[bytes]:
    return [value for value in fields.get(field, ()) if isinstance(value, bytes)]


def text(fields: Message, field: int) -> str:
    return octets(fields, field).decode("utf-8", "surrogatepass")


def packed(data: bytes) -> list[int]:
    values, position = [], 0
    while position < len(data):
        value, position = _varint(data, position)
        values.append(value)
    return values


def signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def double(data: bytes) -> float:
    unpacked: float = struct.unpack("<d", data)[0]
    return unpacked
