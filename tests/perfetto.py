#!/usr/bin/env python3
"""perfetto.py FILE: reads a trace in Perfetto's format by its rules and prints what it shows, one
line an event: process, thread, B or E or I, time in ns, name, category; S and R are the begin and the
end of an arrow, with its number. Shares no code with
litifut-post. The last line on standard error is the mean size of the packets of slices.

A trace has millions of packets, of which most differ in their times only. What is behind the time is
parsed once for all packets that have the same bytes there."""
import functools
import sys


def varint(data, at):
    """A number and where the next thing begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def message(data):
    """{field: [values]}; what is not a number stays bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif key & 7 == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length, "cut"
            at += length
        else:
            raise AssertionError("wire type %d" % (key & 7))
        fields.setdefault(key >> 3, []).append(value)
    return fields


def packets(data):
    """The bytes of each packet: field 1 of the file, which has no other."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key == 1 << 3 | 2, "not a packet"
        length, at = varint(data, at)
        assert at + length <= len(data), "cut"
        yield data[at:at + length]
        at += length


def packet_parser():
    """A function of a packet that gives its fields, the time apart, which may stand first or anywhere."""
    known = {}

    def parse(packet):
        time, at = None, 0
        if packet and packet[0] == 8 << 3:
            time, at = varint(packet, 1)
        behind = packet[at:]
        fields = known.get(behind)
        if fields is None:
            fields = message(behind)
            if 8 in fields:
                return fields, one(fields, 8)
            if len(known) < 1 << 20:
                known[behind] = fields
        return fields, time
    return parse


def one(fields, number, default=None):
    """The last value of a field, as readers take it."""
    return fields[number][-1] if number in fields else default


class Sequence:
    """What a sequence of packets keeps between them."""
    def __init__(self):
        self.names, self.categories = {}, {}
        self.time = self.track = None
        self.cleared = False


class Lines:
    """Standard output, written in large pieces also where PYTHONUNBUFFERED is set."""
    def __init__(self):
        self.lines = []

    def add(self, *words):
        self.lines.append("\t".join(map(str, words)) + "\n")
        if len(self.lines) == 10000:
            self.write()

    def write(self):
        sys.stdout.write("".join(self.lines))
        self.lines = []


def main():
    tracks, sequences, open_slices = {}, {}, {}
    lines = Lines()
    slices = bytes_of_slices = 0
    parse, event_of = packet_parser(), functools.lru_cache(1 << 20)(message)
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for packet in packets(data):
        size = len(packet)
        packet, time = parse(packet)
        if 60 in packet:
            about = message(one(packet, 60))
            track = {"parent": one(about, 5), "pid": None, "tid": None}
            if 3 in about:
                track["pid"] = one(message(one(about, 3)), 1)
                track["name"] = one(message(one(about, 3)), 6).decode()
            if 4 in about:
                thread = message(one(about, 4))
                track["pid"], track["tid"] = one(thread, 1), one(thread, 2)
                assert track["parent"] in tracks
            assert one(about, 1) not in tracks, "a track twice"
            tracks[one(about, 1)] = track
        sequence = sequences.setdefault(one(packet, 10), Sequence())
        if one(packet, 13, 0) & 1:
            sequence.__init__()
            sequence.cleared = True
        if 6 in packet:
            clocks = [message(clock) for clock in message(one(packet, 6))[1]]
            clocks = {one(clock, 1): clock for clock in clocks}
            assert one(clocks[64], 3) == 1 and one(clocks[64], 2) == one(clocks[6], 2)
            sequence.time = one(clocks[64], 2)
        if 59 in packet:
            defaults = message(one(packet, 59))
            assert one(defaults, 58) == 64
            sequence.track = one(message(one(defaults, 11)), 11)
        if 12 in packet:
            assert len(packet[12]) == 1, "only the last one counts"
            interned = message(one(packet, 12))
            for field, names in (1, sequence.categories), (2, sequence.names):
                for entry in map(message, interned.get(field, [])):
                    assert one(entry, 1) not in names, "a name twice"
                    names[one(entry, 1)] = one(entry, 2).decode()
        if 11 not in packet:
            continue
        if 58 in packet: # with a time of its own: the begin or the end of an arrow
            assert one(packet, 58) == 6
            event = event_of(one(packet, 11))
            track = tracks[one(event, 11)]
            assert one(event, 9) == 3 and (36 in event) != (42 in event)
            lines.add(track["pid"], track["tid"], "S" if 36 in event else "R", time,
                      one(event, 36, one(event, 42)), one(event, 23).decode())
            continue
        assert sequence.cleared and one(packet, 13) & 2
        sequence.time += time # differences
        event, track = event_of(one(packet, 11)), tracks[sequence.track]
        kind = " BEI"[one(event, 9)]
        stack = open_slices.setdefault(sequence.track, [])
        name, category = one(event, 23, b"").decode(), ""
        if kind == "B":
            name, category = sequence.names[one(event, 10)], sequence.categories[one(event, 3)]
            stack.append((name, category))
        elif kind == "E":
            name, category = stack.pop()
        if kind != "I":
            slices += 1
            bytes_of_slices += size + 2 if 12 not in packet else 0
            slices -= 12 in packet
        lines.add(track["pid"], track["tid"], kind, sequence.time, category, name)
    lines.write()
    assert not any(open_slices.values()), "slices without an end"
    print("%.1f" % (bytes_of_slices / max(slices, 1)), file=sys.stderr)


main()
