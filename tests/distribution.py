"""Which tests go to a worker together, and in which order: what takes longest begins first, so that none is left alone
with it at the end. `python -m tests.distribution REPORT.xml` writes the seconds down (pytest --junitxml)."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

SECONDS = Path(__file__).with_name("seconds.json")
LEAST_S = 3.0
# Each test of these stands alone: nothing of the module is set up for several.
APART = (
    "tests/machines/test_slurm.py::test_the_page_shows_the_script_and_submits_it",
    "tests/real_deepspeed/test_integration.py",
    "tests/real_deepspeed/test_real_launcher.py",
    "tests/real_deepspeed/test_real_resume.py",
    "tests/real_deepspeed/test_remedies.py",
    "tests/runs/test_two_servers.py",
)
# What starts servers, supervisors, launchers or other environments: `make test-fast` leaves it out.
PROCESSES = (
    "tests/commands/test_memory.py",
    "tests/commands/test_run_commands.py",
    "tests/project/test_package.py",
    "tests/project/test_recipe.py",
    "tests/runs/",
    "tests/security/test_server.py",
    "tests/security/test_table.py",
    "tests/shell/logs/test_past.py",
    "tests/shell/logs/test_sources.py",
    "tests/shell/metrics/test_driver.py",
    "tests/shell/metrics/test_nodes.py",
    "tests/shell/notify/test_run_notify.py",
    "tests/ui/site/test_app.py",
)

# What computes for seconds: `make test-fast` leaves it out as well.
SLOW = (
    "tests/commands/test_memory_ask.py",
    "tests/core/config/test_versions.py::test_the_whole_schema",
    "tests/core/launch/test_handing.py::test_doctor_asks_the_script_too",
    "tests/core/logs/test_parsing.py::test_lines_read_together",
    "tests/core/memory/fits/test_cheapest.py::test_its_edits_pass_the_checks_and_fit",
    "tests/core/memory/fits/test_first_choices.py",
    "tests/core/memory/test_as_recorded.py",
    "tests/core/rules/test_rule_examples.py",
    "tests/core/script/test_class_keywords.py::test_a_keyword_and_names_that",
    "tests/core/script/test_trees.py",
    "tests/core/script/test_imports.py",
    "tests/core/script/test_script_options.py::test_the_options_are_those_that_the_real_parser_has",
    "tests/core/texts/test_bare_labels.py",
    "tests/core/texts/test_coded.py",
    "tests/core/texts/test_diagnosis_texts.py::test_every_text",
    "tests/core/texts/test_finding_texts.py",
    "tests/core/texts/test_texts.py::test_every_code",
    "tests/core/validation/test_fixes.py",
    "tests/differential/test_public_runs.py::test_event_files_are_read",
    "tests/project/test_architecture.py::test_no_arrow_turns_back",
    "tests/project/test_linear.py",
    "tests/project/test_sentences.py",
    "tests/security/test_places.py::test_no_shell_anywhere",
    "tests/security/test_planted_secret.py",
    "tests/security/test_secrets.py::test_what_a_stranger_prints_costs",
    "tests/shell/machine/test_machine.py::test_this_environment",
    "tests/shell/machine/test_target.py::test_the_cpu_accelerator",
    "tests/shell/memory/test_counting.py",
    "tests/shell/memory/test_dry_runs.py",
)

REAL_PROGRAMS = ("processes", "browser", "deepspeed", "machines")


def unit(nodeid: str) -> str:
    """What goes to one worker together: a file, or a test that stands alone."""
    return nodeid if nodeid.startswith(APART) else nodeid.partition("::")[0]


def mark(items: list[Any]) -> None:
    """Marks the tests of these files, for `-m`; what waits for real programs may be tried a second time."""
    for item in items:
        if item.nodeid.startswith(PROCESSES):
            item.add_marker("processes")
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
        if any(item.get_closest_marker(name) for name in REAL_PROGRAMS):
            item.add_marker(pytest.mark.flaky(reruns=1))


def order(items: list[Any]) -> None:
    """Sorts the tests, the longest unit first; the tests of a unit stay together, as they were."""
    seconds = json.loads(SECONDS.read_text("utf-8"))
    items.sort(key=lambda item: -seconds.get(unit(item.nodeid), 0))


def scheduler(config: Any, log: Any) -> Any:
    """xdist's scheduler for whole files, with our units, in our order."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    config.option.loadscopereorder = False
    return Scheduler(config, log)


def main(reports: list[str]) -> None:
    """Sums the reports' tests by unit; writes those of some seconds."""
    sums: dict[str, float] = {}
    for case in (case for report in reports for case in ElementTree.parse(report).iter("testcase")):
        nodeid = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
        sums[unit(nodeid)] = sums.get(unit(nodeid), 0) + float(case.attrib["time"])
    kept = sorted(((took, name) for name, took in sums.items() if took >= LEAST_S), reverse=True)
    SECONDS.write_text(json.dumps({name: round(took) for took, name in kept}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
