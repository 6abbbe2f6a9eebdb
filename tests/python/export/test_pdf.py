"""PDFs of figures: the same bytes in every process, and the same picture."""

import io
import subprocess
import sys

import numpy as np
import pypdfium2
import pytest

from export.figures.pdf import canonical
from tests.python.support.command import ROOT

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="90"><text x="5" y="20" font-family="Liberation Sans">'
    'plain</text><text x="5" y="40" font-weight="bold">bold</text><text x="5" y="60" font-family="Liberation Serif">'
    'serif</text><rect width="9" height="9" opacity="0.3"/><rect x="20" width="9" height="9" fill-opacity="0.2"/>'
    '<g opacity="0.5"><circle cx="200" cy="40" r="20"/></g></svg>'
)


def test_a_pdf_is_the_same_bytes_in_every_process():
    code = (
        "import sys, hashlib, vl_convert; from export.figures.pdf import canonical;"
        "print(hashlib.sha256(canonical(vl_convert.svg_to_pdf(sys.argv[1]))).hexdigest())"
    )
    command = [sys.executable, "-c", code, SVG]
    digests = {subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(4)}
    assert len(digests) == 1


def test_a_canonical_pdf_is_the_same_picture():
    import vl_convert

    pdf = vl_convert.svg_to_pdf(SVG)
    pictures = [pypdfium2.PdfDocument(io.BytesIO(p))[0].render(scale=2).to_pil() for p in (pdf, canonical(pdf))]
    assert pictures[0].tobytes() == pictures[1].tobytes()
    assert np.count_nonzero(pictures[0].convert("L").histogram()) > 5
    assert canonical(canonical(pdf)) == canonical(pdf)
    with pytest.raises(ValueError, match="cross-reference"):
        canonical(b"%PDF-1.7 something else")
