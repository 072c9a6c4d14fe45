#!/usr/bin/env python
"""Asks the real DeepSpeed of every release about tests/examples, and writes the answers down: `make matrix`.

Installs each release once, without its dependencies, into `.overlays/<release>` (or DSGUI_OVERLAYS/<release>); the
newest is the environment's own. Only what is new or changed is asked, unless --all is given. Writes
tests/examples/verdicts.json and docs/rule-matrix.md.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from differential import matrix, oracle  # noqa: E402
from differential.examples import Example, Verdicts, examples  # noqa: E402
from dsgui.core.config.context import RELEASES  # noqa: E402


def ask(release: str, known: Verdicts, every: list[Example]) -> None:
    """Asks `release` about the examples in `every`, and notes the answers."""
    print(f"DeepSpeed {release}: {len(every)} examples", flush=True)
    for example, answer in zip(every, oracle.ask([e.question for e in every], release), strict=True):
        known.add(example, release, answer)


def main() -> None:
    """Asks, and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--all", action="store_true", help="ask again what is known")
    parser.add_argument("--releases", nargs="+", default=RELEASES, metavar="RELEASE")
    options = parser.parse_args()
    every, known = (
        [example for example in examples() if not (example.is_for_the_trainer or "unverified" in example.content)],
        Verdicts(),
    )
    for release in options.releases:
        new = [example for example in every if options.all or known.of(example, release) is None]
        if new:
            oracle.install(release)
            ask(release, known, new)
            known.write({example.name for example in every})
    matrix.PAGE.write_text(matrix.page(examples(), known), "utf-8")


if __name__ == "__main__":
    main()
