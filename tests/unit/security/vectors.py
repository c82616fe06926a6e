#!/usr/bin/env python3
"""Prints the key schedule vectors of docs/wire.md section 6, from the standard library's HMAC alone."""

import hashlib
import hmac


def expand_label(digest, secret, label, size):
    label = b"tls13 " + label
    info = size.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0"
    block, result, count = b"", b"", 1
    while len(result) < size:
        block = hmac.new(secret, block + info + bytes([count]), digest).digest()
        result, count = result + block, count + 1
    return result[:size]


for name, digest, size in (("AES-128-GCM", hashlib.sha256, 16), ("AES-256-GCM", hashlib.sha384, 32),
                           ("ChaCha20-Poly1305", hashlib.sha256, 32)):
    secret = bytes(range(digest().digest_size))
    print(name)
    for field, label, length in (("key", b"homa key", size), ("iv", b"homa iv", 12),
                                 ("next", b"homa ku", digest().digest_size)):
        print(f"  {field:5}", expand_label(digest, secret, label, length).hex())
