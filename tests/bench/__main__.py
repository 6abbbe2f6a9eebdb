"""Run every `bench_<name>.py`'s `main()`, or those named as arguments, each in its own process."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main(names: list[str]) -> int:
    """Exit code 1 where a bench failed or a name is unknown."""
    known = sorted(file.stem.removeprefix("bench_") for file in FOLDER.glob("bench_*.py"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"no bench named {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 1
    failed = []
    for name in names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-c", f"from tests.bench.bench_{name} import main; main()"]).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
