"""What Slurm answers on this machine, which would submit the job."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping

from dsgui.core.preflight.surroundings import SlurmAnswer

_FRESH_S = 20.0  # asked with every keystroke: whoever is down is not waited for each time
_ASKS = (("sinfo", "-h"), ("scontrol", "ping"))
_MOST_WORDS = 200


class SlurmAsked:
    """Keeps an answer for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: tuple[tuple[str, ...], float, SlurmAnswer] | None = None

    def answer(self, environment: Mapping[str, str]) -> SlurmAnswer:
        """In an environment that has a PATH and may name Slurm's configuration."""
        of = tuple(environment.get(name, "") for name in ("PATH", "SLURM_CONF"))
        if self._known and self._known[0] == of and self._clock() - self._known[1] < _FRESH_S:
            return self._known[2]
        answer = asked(environment)
        self._known = (of, self._clock(), answer)
        return answer


def asked(environment: Mapping[str, str], limit_s: float = SlurmAnswer.LIMIT_S) -> SlurmAnswer:
    """Takes `limit_s` at most."""
    path = environment.get("PATH", os.defpath)
    if not shutil.which("sbatch", path=path):
        return SlurmAnswer(submits=False)
    words = next((words for words in _ASKS if shutil.which(words[0], path=path)), None)
    if words is None:
        return SlurmAnswer()
    program, found = words[0], shutil.which(words[0], path=path) or words[0]
    try:
        done = subprocess.run(
            [found, *words[1:]],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return SlurmAnswer(program, silent=True)
    except OSError as error:
        return SlurmAnswer(program, words=error.strerror or str(error))
    up = done.returncode == 0 and not ("DOWN" in done.stdout and "UP" not in done.stdout and words[-1] == "ping")
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    why = re.sub(rf"^{program}: (?:error|fatal): ", "", lines[-1]).strip()[:_MOST_WORDS] if lines and not up else ""
    return SlurmAnswer(program, answers=up, words=why.rstrip("."))
