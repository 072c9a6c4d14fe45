#!/usr/bin/env python
"""Shows what a DeepSpeed release changes for dsgui: `make release VERSION=0.19.9`. Changes no tracked file.

Installs the release into `.overlays/`, compares its keys, types, defaults and bounds with the schema, then runs every
example of a rule in it and lists the answers that differ from those recorded for the newest known release. Exit code 1
if anything differs.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from differential import oracle  # noqa: E402
from differential.examples import Verdicts, examples  # noqa: E402


def schema_differences(release: str) -> list[str]:
    """One line per key, type, default or bound in which the schema and `release` disagree."""
    path = os.pathsep.join(filter(None, [str(oracle.overlay(release)), os.environ.get("PYTHONPATH")]))
    environment = dict(os.environ) if release == oracle.installed() else os.environ | {"PYTHONPATH": path}
    script = ROOT / "scripts" / "schema_against_deepspeed.py"
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return lines if done.returncode == 0 or lines else done.stderr.splitlines()[-3:]


def changed_answers(release: str, base: str) -> Iterator[str]:
    """One line per example that `release` answers otherwise than `base` did."""
    known = Verdicts()
    asked = [e for e in examples() if not (e.is_for_the_trainer or "unverified" in e.content)]
    for example, new in zip(asked, oracle.ask([e.question for e in asked], release), strict=True):
        old = known.of(example, base)
        if old is not None and (old.verdict, old.stage) != (new.verdict, new.stage):
            said = f" ({new.message.splitlines()[0][:120]})" if new.message else ""
            yield f"{example.name}: {old.verdict} at {old.stage} → {new.verdict} at {new.stage}{said}"


def main() -> int:
    """Prints both lists."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("release", metavar="VERSION")
    release = parser.parse_args().release
    base = next(known for known in reversed(oracle.RELEASES) if known != release)
    oracle.install(release)
    schema, answers = schema_differences(release), list(changed_answers(release, base))
    print(f"Schema against DeepSpeed {release}: {len(schema)} differences", *schema, sep="\n  ")
    print(f"Examples, DeepSpeed {base} → {release}: {len(answers)} answers changed", *answers, sep="\n  ")
    return 1 if schema or answers else 0


if __name__ == "__main__":
    sys.exit(main())
