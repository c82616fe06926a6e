#!/usr/bin/env python3
"""Turns Ethernet pcap files into the text form of README.md beside this file: pack.py OUT_FOLDER CAPTURE.pcap..."""
import pathlib
import struct
import sys

HOMA_PROTOCOLS = (146, 6)  # 6: hijack_tcp
ICMP = 1


def frames(path):
    data = path.read_bytes()
    magic, link = struct.unpack('<I', data[:4])[0], struct.unpack('<I', data[20:24])[0]
    assert magic == 0xA1B2C3D4 and link == 1, 'microsecond Ethernet capture expected'
    at = 24
    while at < len(data):
        seconds, micros, captured, original = struct.unpack('<IIII', data[at:at + 16])
        assert captured == original, 'cut frame'
        yield seconds * 1000000 + micros, data[at + 16:at + 16 + captured]
        at += 16 + captured


def ip_packet(frame):
    """(source, destination, traffic class, protocol, payload), or None when it is not IP."""
    ethertype = struct.unpack('>H', frame[12:14])[0]
    ip = frame[14:]
    if ethertype == 0x0800:
        header, total = (ip[0] & 15) * 4, struct.unpack('>H', ip[2:4])[0]
        return ip[12:16], ip[16:20], ip[1], ip[9], ip[header:total]
    if ethertype == 0x86DD:
        length = struct.unpack('>H', ip[4:6])[0]
        return ip[8:24], ip[24:40], struct.unpack('>H', ip[:2])[0] >> 4 & 0xFF, ip[6], ip[40:40 + length]
    return None


def words_counting_up(data, at):
    """How many 32-bit little-endian words from `at` on are each one more than the word before."""
    count = 0
    while at >= 4 and at + 4 <= len(data):
        before, word = struct.unpack('<II', data[at - 4:at + 4])
        if word != before + 1:
            break
        count, at = count + 1, at + 4
    return count


def pack(data):
    text, at = '', 0
    while at < len(data):
        zeros = len(data) - at - len(data[at:].lstrip(b'\0'))
        words = words_counting_up(data, at)
        if zeros > 2:
            text, at = text + f'({zeros})', at + zeros
        elif words > 2:
            text, at = text + f'[{words}]', at + 4 * words
        else:
            text, at = text + f'{data[at]:02x}', at + 1
    return text


def lines(path):
    start = None
    for time, frame in frames(path):
        packet = ip_packet(frame)
        if packet is None or packet[3] not in HOMA_PROTOCOLS + (ICMP,):
            continue
        start = time if start is None else start
        source, destination, traffic_class, protocol, payload = packet
        yield f'{time - start} {source.hex()} {destination.hex()} {traffic_class:02x} {protocol} {pack(payload)}\n'


for name in sys.argv[2:]:
    path = pathlib.Path(name)
    out = pathlib.Path(sys.argv[1]) / f'{path.parent.name}-{path.stem}.txt'
    out.write_text(''.join(lines(path)))
