"""Makes a PDF of the figure renderer the same bytes every time.

The renderer (svg2pdf) lists fonts and other resources in a random order and numbers its objects accordingly. Here
resources are sorted by name and objects numbered in the order in which they are first referred to.
"""

import re

_START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_REFERENCE = re.compile(rb"(\d+) 0 R\b")
_RESOURCES = re.compile(rb"(?:^[ ]*/[a-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_ROOTS = re.compile(rb"/(?:Root|Info) (\d+) 0 R")


def canonical(pdf: bytes) -> bytes:
    """The same document with objects and resources in an order that depends on nothing but the document.

    `pdf` is of the shape that svg2pdf writes: one cross-reference table, no object streams, nothing encrypted. Raises
    ValueError for another.
    """
    found = _START.search(pdf)
    if not found or not pdf.startswith(b"xref", int(found[1])):
        raise ValueError("a PDF without a cross-reference table; the figure renderer wrote another kind before")
    table = pdf[int(found[1]) : found.start()]
    entries, trailer = table.split(b"trailer", 1)
    offsets = [int(line[:10]) for line in entries.splitlines() if line.rstrip().endswith(b" n")]
    objects = dict(_object(pdf[begin:end]) for begin, end in _spans(offsets, int(found[1])))
    order: dict[bytes, bytes] = {}
    pending = _ROOTS.findall(trailer)[::-1]
    while pending:
        number = pending.pop()
        if number not in order:
            order[number] = b"%d" % (len(order) + 1)
            pending += _REFERENCE.findall(objects[number][0])[::-1]

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda match: order[match[1]] + b" 0 R", text)

    out = bytearray(pdf[: min(offsets)])
    places = []
    for old, new in order.items():
        head, stream = objects[old]
        places.append(len(out))
        out += new + b" 0 obj\n" + renumbered(head) + stream
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(order) + 1)
    out += b"".join(b"%010d 00000 n\r\n" % place for place in places)
    root, info = (re.search(rb"/%s (\d+ 0 R)" % name, trailer) for name in (b"Root", b"Info"))
    out += b"trailer\n<<\n  /Size %d\n" % (len(order) + 1)
    out += b"".join(
        b"  /%s %s\n" % (name, renumbered(match[1])) for name, match in ((b"Root", root), (b"Info", info)) if match
    )
    return bytes(out) + b">>\nstartxref\n%d\n%%%%EOF" % start


def _spans(offsets: list[int], end: int) -> list[tuple[int, int]]:
    ordered = sorted(offsets)
    return list(zip(ordered, [*ordered[1:], end], strict=True))


def _object(text: bytes) -> tuple[bytes, tuple[bytes, bytes]]:
    """An object's number, and its dictionary with sorted resources apart from its stream."""
    number, body = text.split(b" 0 obj\n", 1)
    head, mark, stream = body.partition(b"\nstream\n")
    head = _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), head)
    return number, (head, mark + stream)
