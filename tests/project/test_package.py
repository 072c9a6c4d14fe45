"""What `pip install dsgui` gives: a command and a light core that every command works with but the pages and reports.

The wheel is built from this checkout and installed beside nothing but the packages that it names itself: links to those
of the tests' environment, so no network is needed and gradio, plotly and torch are really not there.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dsgui
from dsgui.shell.files import installation
from tests.answers.remembered import SERVER
from tests.support.ports import free_port
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]

# Beside what a server is made of: what a wheel says of it, the hook, and what builds it.
BUILT_BY = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "requirements-dev.txt")
pytestmark = pytest.mark.remembered(*SERVER, *BUILT_BY)

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HALF_A_BATCH = '{"train_batch_size": 3, "train_micro_batch_size_per_gpu": 2}'


def requirements(*extras: str) -> dict[str, Requirement]:
    """What dsgui with these extras requires, by name."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    return {canonicalize_name(one.name): one for one in map(Requirement, lines)}


def build(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """A wheel and an sdist of the checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=source, capture_output=True, check=True, timeout=60)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def needed(names: Iterable[str]) -> Iterator[Distribution]:
    """These distributions and those that they need here."""
    left, seen = [Requirement(name) for name in names], set[str]()
    while left:
        name = canonicalize_name(left.pop().name)
        if name not in seen:
            seen.add(name)
            found = distribution(name)
            yield found
            asked = map(Requirement, found.requires or ())
            left += [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]


def link(site: Path, distributions: Iterable[Distribution]) -> None:
    """Puts them into another environment."""
    for found in distributions:
        tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            (site / top).symlink_to(str(found.locate_file(top)))


class Installed:
    """An environment with dsgui from a wheel and packages that are linked to."""

    def __init__(self, folder: Path, wheel: Path, packages: Iterable[str]) -> None:
        venv.create(folder, symlinks=True)
        self.python, self.command = folder / "bin" / "python", folder / "bin" / "dsgui"
        (self.site,) = folder.glob("lib/python*/site-packages")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(self.python),
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
        ]
        subprocess.run([*pip, str(wheel)], check=True, timeout=120)
        link(self.site, needed(packages))
        (self.site / "dataclasses.py").write_text("raise SystemExit('Python has a module of this name')\n")
        self.environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "DSGUI_TOKEN")}

    def run(self, *words: str, folder: Path, start: Iterable[str] = ()) -> subprocess.CompletedProcess[str]:
        command = [*(start or [str(self.command)]), *words]
        return subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def light(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install dsgui`, without extras."""
    return Installed(tmp_path_factory.mktemp("light") / "environment", built[0], requirements())


@pytest.fixture(scope="module")
def full(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install 'dsgui[app,train]'`."""
    full = Installed(tmp_path_factory.mktemp("full") / "environment", built[0], ())
    # Not links: DeepSpeed compiles its operators anew when it lies at another path.
    (full.site / "all.pth").write_text(sysconfig.get_path("purelib"))
    full.environment["PATH"] = f"{sysconfig.get_path('scripts')}:{full.environment['PATH']}"
    return full


@pytest.fixture
def ask(light: Installed, tmp_path: Path):
    """Runs a command away from the checkout: its exit code, stdout and stderr."""
    (tmp_path / "ds_config.json").write_text(HALF_A_BATCH)

    def run(*words: str) -> tuple[int, str, str]:
        done = light.run(*words, folder=tmp_path)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def test_all_of_a_wheel_lies_in_the_package_and_all_documents_are_in_it(built: tuple[Path, Path]) -> None:
    names = set(files_of(built[0]))
    assert {name.partition("/")[0] for name in names} == {"dsgui", f"dsgui-{dsgui.__version__}.dist-info"}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    tracked = {name for name in listed.split("\0") if name.startswith(("dsgui/", "schemas/", "presets/", "recipes/"))}
    assert {name if name.startswith("dsgui/") else f"dsgui/{name}" for name in tracked} <= names
    assert not [name for name in names if "__pycache__" in name]


def test_a_wheel_made_from_the_sdist_is_the_same(built: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(built[1]) as archive:
        # Python 3.11.2, Debian's, has no filters yet.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = tmp_path.iterdir()
    assert (source / "app.py").is_file()
    assert files_of(build(tmp_path / "dist", source)[0]) == files_of(built[0])


def test_the_version_is_said_once(ask) -> None:
    assert ask("--version") == (0, f"dsgui {dsgui.__version__}\n", "")
    assert "version" not in PROJECT


def test_requirements_txt_pins_what_the_extras_allow_and_nothing_else() -> None:
    text = (ROOT / "requirements.txt").read_text("utf-8")
    pins = dict(line.split("==") for line in text.splitlines() if line and not line.startswith("#"))
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    wanted = requirements("app", "train")
    assert pins.keys() == wanted.keys()
    assert [name for name, one in wanted.items() if not one.specifier.contains(pins[name])] == []


def test_what_an_extra_brings_is_known_where_it_is_missing() -> None:
    assert {name for name in requirements("app") if name not in requirements()} <= set(installation._APP)


def test_the_light_core_checks_configs(ask) -> None:
    code, out, _ = ask("validate", "ds_config.json")
    assert (code, "error DS010" in out) == (1, True)
    code, out, _ = ask("resolve", "ds_config.json", "--format", "json")
    assert (code, json.loads(out)["config"]["train_batch_size"]) == (1, 3)
    code, out, _ = ask("rules", "DS010")
    assert (code, out.splitlines()[0][:5]) == (0, "DS010")
    code, out, _ = ask("doctor", "--format", "json")
    assert code in (0, 1)
    assert json.loads(out)


def test_the_light_core_starts_follows_and_exports_runs(ask, light: Installed, bench: Bench, tmp_path: Path) -> None:
    """The supervisor starts from the wheel, though a stray dataclasses.py lies beside it."""
    where = ("--runs-dir", str(bench.store.runs_dir))
    assert ask("runs", *where)[:2] == (
        0,
        f"No runs in {bench.store.runs_dir}. Start one with “dsgui launch” or in the browser.\n",
    )
    script = bench.script("print('step=1 loss=2', flush=True)\nraise SystemExit(3)")
    launched = ("--config", "ds_config.json", "--although", "--python", str(bench.python), str(script))
    code, out, err = ask("launch", *where, "-f", *launched)
    assert (code, "failed" in err) == (1, True), (out, err)
    assert "step=1 loss=2" in ask("logs", *where, "last")[1]
    assert ask("runs", *where)[1].splitlines()[1].split()[1:4] == ["failed", "1", "2"]
    code, out, _ = ask("export", *where, "last", "--to", "csv", "-")
    assert (code, "loss" in out) == (0, True)
    assert ask("stop", *where, "last")[0] in (0, 2)


def test_the_commands_see_nothing_of_the_extras(light: Installed) -> None:
    """Else the tests above show nothing."""
    found = {"gradio", "plotly", "orjson", "torch", "deepspeed", "transformers"} & set(os.listdir(light.site))
    assert found == set()


def test_what_needs_an_extra_says_so_in_a_sentence(ask, bench: Bench, tmp_path: Path) -> None:
    pip = re.escape("-m pip install 'dsgui[app]'")
    for words in ((), ("serve",), ("--port", str(free_port()))):
        code, out, err = ask(*words)
        assert (code, out) == (2, "")
        assert re.fullmatch(
            rf"dsgui: dsgui serve needs \w+, which is not installed here\. Install it with: \S+ {pip}\n", err
        )
    code, _, err = ask("validate", "ds_config.json", "--ask")
    assert (code, err.count("\n")) == (2, 1)
    assert re.search(r"has no DeepSpeed to ask\..* \S+ -m pip install torch deepspeed\n", err)
    code, _, err = ask("launch", "--dry-run", "--config", "ds_config.json", str(bench.script("print(1)")))
    assert code == 1
    told = " ".join(err.split())
    assert "has no torch and no deepspeed." in told
    assert "-m pip install torch deepspeed" in told
    bench.ended(bench.start("print('step=1 loss=2')"))
    code, _, err = ask("report", "--runs-dir", str(bench.store.runs_dir), "last", "-o", str(tmp_path / "report.html"))
    assert code == 2
    assert re.search(rf"needs plotly, which is not installed here\. Install it with: \S+ {pip}", err)


def test_a_checkout_without_the_extras_names_the_make_target() -> None:
    told = installation.missing("starlette.types", "dsgui serve")
    assert told.startswith("dsgui serve needs starlette, which is not installed here. Run “make setup”")
    assert installation.missing("nowhere", "dsgui serve") == ""


def test_the_hook_runs_what_a_wheel_gives(light: Installed, tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (tmp_path / "ds_config.json").write_text(HALF_A_BATCH)
    program, *words = hook["entry"].split()
    done = light.run(*words, "ds_config.json", folder=tmp_path, start=[str(light.command.with_name(program))])
    assert (done.returncode, "error DS010" in done.stdout) == (1, True), done.stderr


def test_checking_a_config_imports_neither_arrays_nor_processes(light: Installed, tmp_path: Path) -> None:
    (tmp_path / "ds_config.json").write_text("{}")
    code = (
        "import sys; from dsgui.cli import main; main(['validate', 'ds_config.json']); "
        "print([name for name in ('numpy', 'psutil', 'pynvml', 'dsgui.runs.runs') if name in sys.modules])"
    )
    done = light.run("-P", "-c", code, folder=tmp_path, start=[str(light.python)])
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.complete
@pytest.mark.parametrize("words", [(), ("serve",)])
def test_the_command_alone_serves_the_pages(full: Installed, tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [
        str(full.command),
        *words,
        "--no-token",
        "--port",
        str(free_port()),
        "--runs-dir",
        str(tmp_path / "runs"),
    ]
    environment = {**full.environment, "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().partition("running at ")[2].split()[0]
            assert b"gradio" in urlopen(url, timeout=60).read()
            assert b'"$schema"' in urlopen(f"{url}dsgui/schema.json", timeout=60).read()
            assert urlopen(f"{url}dsgui/static/runs/runs.js", timeout=60).status == 200
        finally:
            server.terminate()


@pytest.mark.complete
@pytest.mark.deepspeed
def test_the_bundled_recipe_trains_from_a_wheel_and_deepspeed_is_asked(full: Installed, tmp_path: Path) -> None:
    preset, where = full.site / "dsgui/presets/zero2-offload-t5.ds_config.json", ("--runs-dir", str(tmp_path / "runs"))
    done = full.run("validate", str(preset), "--gpus", "2", "--ask", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    recipe = (
        "--config",
        str(preset),
        "--although",
        "-f",
        str(full.site / "dsgui/recipes/translation.py"),
        "--max_steps",
        "4",
    )
    done = full.run("launch", *where, *recipe, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = full.run("report", *where, "last", "-o", "report.html", folder=tmp_path)
    assert "Plotly" in (tmp_path / "report.html").read_text("utf-8"), done.stderr
