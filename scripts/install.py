"""Installs a requirements file into the environment that runs this: with uv, which takes a third of pip's time, or with
pip where uv can't be had or does not get through. uv is told what pip's own settings say."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

UV = "uv==0.13.9"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
# DeepSpeed's build looks at the installed torch, so torch and the build tools come first and nothing is built apart.
EARLY = re.compile(r"^(?:torch|setuptools|ninja)==.*$", re.MULTILINE)
# Of pip's settings: those that say where packages come from, by uv's option.
SETTINGS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}


def settings(listed: str) -> dict[str, list[str]]:
    """What `pip config list` prints, by name, without the file or section it stands in."""
    found: dict[str, list[str]] = {}
    for place, equals, value in (line.partition("=") for line in listed.splitlines()):
        if equals and value[:1] in ("'", '"'):
            found.setdefault(place.rpartition(".")[2], []).extend(ast.literal_eval(value).split())
    return found


def options(found: dict[str, list[str]]) -> list[str]:
    """uv's words for them, each once."""
    given = [(option, value) for name, option in SETTINGS.items() for value in dict.fromkeys(found.get(name, []))]
    return [word for pair in given for word in pair] + ["--no-index"] * bool(found.get("no-index"))


def environment(found: dict[str, list[str]]) -> dict[str, str]:
    """pip takes the best version of all places, trusts what the system trusts, and may be told of a certificate."""
    timeouts = found.get("default-timeout", []) + found.get("timeout", [])
    told = {"SSL_CERT_FILE": found.get("cert", []), "UV_HTTP_TIMEOUT": timeouts}
    given = {name: values[0] for name, values in told.items() if values}
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_NATIVE_TLS": "1"} | given


def with_uv(steps: list[list[str]]) -> bool:
    """Whether all went well; what uv said of a failure is on the screen."""
    if subprocess.run([*PIP, "install", "--quiet", UV], capture_output=True, check=False).returncode:
        return False
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    found = settings(listed)
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--python", sys.executable]
    around = os.environ | environment(found)
    return all(subprocess.run([*uv, *options(found), *step], env=around, check=False).returncode == 0 for step in steps)


def main(requirements: str) -> int:
    early = EARLY.findall(Path(requirements).read_text("utf-8"))
    steps = [[*early, "wheel"]] * bool(early) + [["--no-build-isolation", "-r", requirements]]
    if with_uv(steps):
        return 0
    print("dsgui: uv did not get through; installing with pip", flush=True)
    return max(subprocess.run([*PIP, "install", "--quiet", *step], check=False).returncode for step in steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
