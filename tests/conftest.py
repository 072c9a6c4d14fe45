"""What every test may ask for, and Hypothesis' settings for noisy two-core machines. The browser and the app are for
the rooms that need them: tests/support/pages.py."""

import gc
import os
import signal
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from tests import distribution
from tests.answers.confirmed import Confirmed
from tests.answers.remembered import ROOT, key_of

# The ninja of this environment, as in a run: each compiles anew what another has compiled.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

# Whoever starts the tests in the background has the shell ignore Ctrl-C, for the programs they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Timings say nothing on a shared machine: a slow draw or example is no failure.
settings.register_profile("dsgui", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("dsgui"), max_examples=25)  # make test-fast
settings.load_profile("dsgui")

MOST_SECOND_TRIES = 3


def pytest_addoption(parser):
    parser.addoption("--complete", action="store_true", help="also what takes minutes: make test-all")
    parser.addoption("--confirm", action="store_true", help="ask DeepSpeed again, and write down what it confirms")


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(config, items):
    distribution.mark(items)
    left_out = [item for item in items if is_left_out(config, item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(config, item)]
    distribution.order(items)


def pytest_collection_finish():
    """What was imported and collected stays to the end: the garbage collector needs not look at it again and again."""
    gc.freeze()


def is_left_out(config, item):
    """What takes minutes, unless all is asked for; with --confirm, what writes nothing down."""
    written = "confirmed" in item.fixturenames or item.get_closest_marker("remembered")
    return (config.getoption("--confirm") and not written) or (
        item.get_closest_marker("complete") and not config.getoption("--complete")
    )


def pytest_sessionfinish(session):
    """More than a few second tries are no accident of a busy machine: the tests have failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    tries = reporter.stats.get("rerun", ()) if reporter else ()
    if len(tries) > MOST_SECOND_TRIES and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    tries = terminalreporter.stats.get("rerun", ())
    if tries:
        terminalreporter.section(f"{len(tries)} tried a second time (at most {MOST_SECOND_TRIES}): look at why")
        for tried in tries:
            terminalreporter.write_line(f"{tried.nodeid}\n{tried.longreprtext[-2000:]}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return distribution.scheduler(config, log)


@cache
def operators():
    """The end of compiling DeepSpeed's, and what it printed: all at once and nobody else meanwhile. A training would
    wait for them longer than its test does."""
    words = [sys.executable, "-m", "scripts.build_ops"]
    done = subprocess.run(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    return done.returncode, done.stdout


def pytest_runtest_setup(item):
    key = remembered_by(item)
    if key and seen_before(item.config).holds(key):
        pytest.skip("passed with this very content (make test-all runs it)")
    # What trains is remembered or takes minutes. Some of these only ask; what else asks DeepSpeed needs no operator.
    if item.get_closest_marker("deepspeed") and (key or item.get_closest_marker("complete")):
        code, printed = operators()
        if code:
            pytest.fail(f"DeepSpeed's operators can't be compiled here:\n{printed[-2000:]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and report.passed and remembered_by(item):
        seen_before(item.config).held(remembered_by(item))
    return report


def remembered_by(item):
    """The key of a test that is marked `remembered`, or nothing."""
    marks = list(item.iter_markers("remembered"))
    return key_of(item.nodeid, [root for mark in marks for root in mark.args]) if marks else ""


def seen_before(config):
    """What the real DeepSpeed confirmed before is not asked again, but by `make test-all` (--complete)."""
    asks = config.getoption("--complete") or config.getoption("--confirm")
    return Confirmed(asks_again=asks, writes=config.getoption("--confirm"))


@pytest.fixture
def confirmed(request):
    return seen_before(request.config)


@pytest.fixture(scope="session")
def catalog():
    return Catalog()


@pytest.fixture(scope="session")
def schema(catalog):
    return catalog.schema()


@pytest.fixture(scope="session")
def checker(schema):
    return Checker(schema)
