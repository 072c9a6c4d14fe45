"""What stops a launch or makes it slow, told before it starts: row by row, and the real thing beside it."""

import argparse
import json
import shlex
import socket
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from dsgui.cli import main
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.machine.hardware import Gpu, Hardware, Op, card_named
from dsgui.core.machine.machine import Disk, Host, Machine, Tool
from dsgui.core.machine.machine_report import rows_as_lines
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.room import room_of
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.preflight.argument_checks import argument_offers
from dsgui.core.preflight.model_size import ModelSize, offload_need, spelled
from dsgui.core.preflight.preflight import AGREEMENT, CHECKS, preflight
from dsgui.core.preflight.preflight import CONFIG as THE_CONFIG
from dsgui.core.preflight.surroundings import Launch, Question, SlurmAnswer, Surroundings
from dsgui.core.rules.base import advised
from dsgui.core.rules.trainer import DIFFERING
from dsgui.core.script.command_line import Option
from dsgui.core.script.gone_options import instead
from dsgui.core.script.imports import Absent
from dsgui.core.script.named_files import NamedFile, named_files
from dsgui.core.script.script import script_facts
from dsgui.core.script.taken import ArgumentsFromFile, ScriptAnswers
from dsgui.core.texts.saying import as_told, said, sentences
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.preflight.model_files import model_size
from dsgui.shell.preflight.scout import FRESH_S, Scout
from dsgui.shell.preflight.slurm_asked import SlurmAsked, asked
from dsgui.ui.launch.config_line import verdict
from dsgui.ui.launch.launch_page import _accepted
from dsgui.ui.machine.machine_view import list_html
from dsgui.ui.preflight.preflight_view import ToConfigure, before_start, preflight_html, press_html, worst_of
from tests.answers.remembered import TEXTS
from tests.shell.machine.test_machine import CPU, SOUND, TOOLS, environment, host, target, without
from tests.support.cases import each_case
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]

GIB, MIB = 1 << 30, 1 << 20
HF, NATIVE, NONE = ConfigArgument.HF, ConfigArgument.NATIVE, ConfigArgument.NONE
PARSER = "import argparse; p = argparse.ArgumentParser(); "
TRAINER = "from transformers import HfArgumentParser; a = HfArgumentParser(T).parse_args_into_dataclasses()\n"
WHOLE = (
    PARSER + "p.add_argument('--lr'); p.add_argument('--epochs'); p.add_argument('--ever'); "
    "p.add_argument('--flag', action='store_true'); p.parse_args()"
)
BY_CLASS = "from transformers import HfArgumentParser as H\nHfArgumentParser((A, B)).parse_args_into_dataclasses()"
ALONE = "\nif len(sys.argv) == 2: p.parse_json_file(sys.argv[1])"
OPTIONS = tuple(Option(name, (f"--{name}",), "?") for name in ("fp16", "learning_rate", "eval_strategy", "dtype"))
TRAINERS = {"answers": ScriptAnswers(options=OPTIONS, known=True)}
MORE = tuple(Option(name, (f"--{name}",)) for name in ("use_cpu", "deepspeed", "accelerator_config"))
WIDE = {"answers": ScriptAnswers(options=OPTIONS + MORE, known=True)}
NAMED = TRAINERS | {"arguments_file": ArgumentsFromFile("a.json", {"fp61": True})}
GIVEN = (
    "import deepspeed\n" + PARSER + "deepspeed.add_config_arguments(p); p.add_argument('--local_rank'); p.parse_args()"
)
ON_CUDA = GIVEN + "\ntorch.cuda.set_device(0)\nd = torch.device('cuda', 0)\na = a.cuda().to(d)\n"
STAGE_3 = {"zero_optimization": {"stage": 3}}
OFFLOAD = {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
NVME = {"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme", "nvme_path": "/x"}}}
ADAM = {"optimizer": {"type": "AdamW"}}
SMALL, LARGE = (ModelSize("m", count) for count in (10**8, 7 * 10**9))
OPS = (Op("cpu_adam", False, True), Op("fused_adam", False, True), Op("deepspeed_shm_comm", False, True))
READY = target(ops=OPS)
ON_CPU = replace(environment(CPU, target=READY.environment.target))
ASKED = replace(ON_CPU, environment=replace(ON_CPU.environment, target=replace(READY.environment.target,
                                                                            accelerator="cpu", gpus=())))  # fmt: skip
ERROR = Finding("DS001", Severity.ERROR, "/train_batch_size", as_told("100 is not 128."), (as_told("Set it to 128."),))
BUSY = Gpu(0, "A100", (8, 0), 80 * GIB, 2 * GIB)


def fitted_on(gib, **more):
    """A 7B model with plain Adam on one GPU of `gib`."""
    case = Case(
        {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}},
        Context(Integration.NATIVE),
        (),
        model_of_size("7B"),
        ModelChoice("7B"),
    )
    card = Hardware("this", "GPU 0", "nvidia", (8, 0), gib * GIB)
    return fit(case, Checker(Catalog().schema()).schema, lambda group: room_of((card,), HOST, group))


HOST = Host(memory_bytes=512 * GIB)


def fitted_offloading():
    """A 7B model on one RTX 4090 that is planned for, with its optimizer states on a host that nobody described."""
    config = {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}, **ADAM}
    config["zero_optimization"] = {
        "stage": 3,
        "offload_optimizer": {"device": "cpu"},
        "offload_param": {"device": "cpu"},
    }
    choice = ModelChoice("7B", length=128, checkpointing=True)
    case = Case(config, Context(Integration.NATIVE), (), model_of_size("7B"), choice)
    planned = (card_named("rtx4090"),)
    return fit(case, Checker(Catalog().schema()).schema, lambda group: room_of(planned, None, group))


def unusable(code):
    return CannotSay(said("memory_cannot", code, path="/x"))


def rows(config=None, source=TRAINER, machine=ON_CPU, around=None, **launch):
    """The rows of a launch that is sound but for what is given."""
    planned = {"config": config or {}, "findings": (), "devices": "2 CPU ranks", "ranks": 2, "script": "/train.py"}
    facts = script_facts(dedent(source))
    meets = Surroundings(facts, machine, output="/out", output_disk=Disk("/out", 500 * GIB, 300 * GIB))
    planned |= {"passes_local_rank": facts.passes_local_rank, "master_port": 29600} | launch
    return preflight(Launch(**planned), replace(meets, **(around or {})))


def asked_with(source, around, arguments):
    facts = script_facts(dedent(source))
    launch = Launch({}, (), "2 CPU ranks", 2, script="/train.py", arguments=tuple(arguments))
    return Question(launch, replace(Surroundings(facts, ON_CPU), **around))


def old(package, release):
    versions = {**SOUND.environment.target.versions, package: release}
    return environment(ON_CPU, target=replace(READY.environment.target, versions=versions))


NEEDED = ("comet_ml", "datastates", "mup", "tensorboard", "wandb")


def lacking(*modules):
    return environment(ON_CPU, target=replace(READY.environment.target, lacking=modules))


def no_tool(command, name):
    return environment(ON_CPU, tools={**TOOLS, name: Tool(command)})


LOADS = "m = M.from_pretrained(x, {})\n"
MAPPED, SPARING = TRAINER + LOADS.format("device_map='auto'"), TRAINER + LOADS.format("low_cpu_mem_usage=True")
P, W = Status.PROBLEM, Status.WARNING
TOO_LARGE, TIGHT, ROOMY = (fitted_on(gib) for gib in (24, 176, 400))
ON_BARE_HOST = fitted_offloading()
TICKED, DIVIDED = ModelChoice("7B", checkpointing=True), ModelChoice("7B", zero_init=True)
MODES = PARSER + "p.add_argument('--mode', choices=['full', 'lora']); p.parse_args()"
FAULTS = [
    ("model_memory", {"memory": TOO_LARGE}, P, "7B: doesn’t fit (GPU ≈ "),
    ("model_memory", {"memory": TIGHT}, W, "Each GPU needs "),
    ("model_memory", {"memory": ON_BARE_HOST}, W, "needs 157 GiB on the host"),
    ("checkpointing", {"memory": ROOMY, "choice": TICKED}, W, "but the arguments don’t turn it on"),
    ("checkpointing", {"memory": ROOMY, "choice": TICKED, "arguments": ("--gradient_checkpointing", "False")}, W,
     "but the arguments don’t turn it on"),
    ("checkpointing", {"memory": ROOMY, "choice": TICKED, "source": GIVEN, "config_argument": NATIVE}, W,
     "nothing in the script’s own file turns it on"),
    ("zero_init", {"memory": ROOMY, "choice": DIVIDED, "source": GIVEN, "config_argument": NATIVE,
                   "config": STAGE_3}, W,
     "nothing in the script’s own file does that"),
    ("config", {"findings": (ERROR,)}, P, "on 2 CPU ranks: 100 is not 128"),
    ("config", {"unreadable": "Line 1: no."}, P, "can't be read. Line 1"),
    ("script", {"source": "a = ("}, P, "can't be read as Python"),
    ("script", {"source": "a = (", "around": {"own_python": (3, 10)}}, W, "newer and may"),
    ("values", {"source": MODES, "arguments": ("--mode", "x"), "config_argument": NONE}, P, "invalid choice: 'x'"),
    ("takes_config", {"source": PARSER + "p.parse_args()"}, P, "unrecognized arguments: --deepspeed FILE"),
    ("takes_config", {"config_argument": NATIVE}, P, "expected one argument"),
    ("takes_config", {"source": GIVEN}, P, "unrecognized arguments: FILE"),
    ("takes_config", {"source": "import click"}, W, "Unless another file adds"),
    ("takes_config", {"source": PARSER + "more.add(p); p.parse_args()"}, W, "Unless another file adds"),
    ("accelerate", {"source": "Accelerator().prepare(optimizer)", "config_argument": ConfigArgument.ACCELERATE,
                    "config": {"optimizer": {"type": "Lamb"}}}, P, "Both the config and the script have an optimizer"),
    ("twice", {"arguments": ("--deepspeed", "other.json")}, W, "The last one counts"),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--epoch", "3", "--lrr=1", "x")}, P,
     "2 of the arguments don’t fit the script. The script ends with exit code 2, “unrecognized arguments: --lrr=1 x”. "
     "--lrr is not an option of this script. Did you mean --lr? “x” does not belong to any option. Remove “x”"),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--lr",)}, P, "expected one argument"),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--lr", "-1e-4", "--", "a", "b")}, P,
     "The script ends with exit code 2, “argument --lr: expected one argument”. --lr has no value: argparse takes "
     "-1e-4 for an option. Write --lr=-1e-4. “a” does not belong to any option."),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--", "--lr")}, P,
     "“--lr” does not belong to any option. The script ends with exit code 2, “unrecognized arguments: -- --lr”."),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--flag=1",)}, P, "--flag takes no value"),
    ("options", {"source": WHOLE, "config_argument": NONE, "arguments": ("--e", "1")}, P, "--e is ambiguous: --epochs"),
    ("options", {"source": WHOLE.replace("parse_args", "parse_known_args"), "config_argument": NONE,
                 "arguments": ("--epcohs", "1", "--else", "2")}, W, "--epcohs is not an option of this script."),
    ("options", {"source": WHOLE + "\nothers.add(p)", "config_argument": NONE, "arguments": ("--epcohs", "1")}, W,
     "--epcohs is not"),
    ("options", {"source": BY_CLASS, "around": TRAINERS, "arguments": ("--overwrite_output_dir", "--fp16")}, P,
     "--overwrite_output_dir is not an option of this script with transformers 5.23.0. The script ends with “Some "
     "specified arguments are not used by the HfArgumentParser: ['--overwrite_output_dir']”."),
    ("files", {"around": {"missing_files": ((NamedFile("--train_file", "x.json"), "/w/x.json"),)}}, P,
     "--train_file: /w/x.json does not exist."),
    ("files", {"around": {"missing_files": ((NamedFile("--train_file", "x.json"), "/w/x.json"),)}, "elsewhere": "a"}, W,
     "--train_file"),
    ("imports", {"source": TRAINER, "around": {"answers": ScriptAnswers((Absent("evaluate", "", 2),))}}, P,
     "lacks evaluate (line 2), which the script imports"),
    ("agreement", {"by_arguments": (ERROR,)}, P, "100 is not 128."),
    ("agreement", {"by_arguments": (replace(ERROR, severity=Severity.WARNING),)}, W, "100 is not 128."),
    ("twice", {"arguments": ("--deepspeed",)}, P, "has no value"),
    ("twice", {"arguments": ("--deepspeed",), "source": "print('deepspeed')"}, W, "has no value"),
    ("twice", {"source": GIVEN, "config_argument": NATIVE, "arguments": ("--deepspeed_config=a",)}, W, "as a in the"),
    ("stage_3", {"config": STAGE_3, "source": MAPPED}, P, "passing a `device_map`"),
    ("stage_3", {"config": STAGE_3, "source": TRAINER + LOADS.format("device_map=w()")}, W, "device_map= in line 2"),
    ("stage_3", {
        "config": STAGE_3, "source": SPARING,
        "machine": old("transformers", "4.50.3")}, P, "compatible with `low_cpu_mem_usage=True` or"),
    ("stage_3", {
        "config": STAGE_3, "source": SPARING,
        "machine": replace(CPU, environment=None)},
     W, "4.51, transformers raises “DeepSpeed Zero-3 is not compatible with `low"),
    ("stage_3", {"config": STAGE_3, "source": MAPPED, "config_argument": NONE}, P, "passing a `device_map`"),
    ("stage_3", {"config": STAGE_3, "source": "HfDeepSpeedConfig(c)\n" + LOADS.format("device_map=0"),
                 "config_argument": NATIVE}, P, "device_map= in line 2"),
    ("packages", {"machine": replace(without("deepspeed"), gpus=())}, P, "has no deepspeed"),
    ("trainer", {"machine": replace(without("accelerate"), gpus=())}, W, "no accelerate"),
    ("cuda", {"machine": environment(READY, torch=replace(SOUND.environment.torch, usable=False, why_not="old")),
              "ranks": 1}, P, "can't use it: old"),
    ("operators", {"config": OFFLOAD | ADAM,
                   "machine": environment(CPU, target=target(ops=(Op("cpu_adam", False, False, "No AVX."),))
                                          .environment.target)}, P, "can't compile it: No AVX"),
    *(("needs", {"config": config, "machine": lacking(*NEEDED)}, P, says)
      for config, says in (
        ({"datastates_ckpt": {}}, "imports datastates (for datastates_ckpt), which the training environment lacks"),
        ({"tensorboard": {"enabled": True}}, "imports tensorboard (for tensorboard.enabled)"),
        ({"wandb": {"enabled": True}, "comet": {"enabled": True}},
         "imports comet_ml (for comet.enabled), wandb (for wandb.enabled)"),
        ({"optimizer": {"type": "MuAdam"}}, "imports mup (for the optimizer MuAdam)"),
      )),
    ("compiler", {"config": ADAM, "machine": no_tool("c++", "compiler")}, P, "No c++"),
    ("ninja", {"config": ADAM, "machine": no_tool("ninja", "ninja")}, P, "No ninja"),
    ("headers", {"config": ADAM, "machine": environment(ON_CPU, has_headers=False)}, P, "No Python headers"),
    ("toolkit", {"config": ADAM, "machine": environment(READY, toolkit_release=""), "ranks": 1}, P, "No CUDA toolkit"),
    ("builds_disk", {"config": ADAM, "machine": host(ON_CPU, builds_disk=Disk("/cache", GIB, 0))}, P, "in /cache"),
    ("gpus", {"machine": READY, "gpu_indices": (7,), "ranks": 1}, P, "GPU 7 was selected; this machine has 0"),
    ("gpus", {"gpu_indices": (0,), "ranks": 1}, W, "no NVIDIA driver responds"),
    ("gpus", {"machine": READY, "ranks": 4}, P, "4 ranks were requested, but this machine has 1 GPU."),
    ("gpus", {"machine": replace(READY, gpus=(BUSY,)), "gpu_indices": (0,), "ranks": 1}, W, "2 GiB of 80 GiB free"),
    ("offload", {"config": OFFLOAD, "around": {"model": LARGE}}, P, "104.3 GiB for model states alone"),
    ("offload", {"config": OFFLOAD, "around": {"model": SMALL},
                 "machine": host(ON_CPU, memory_available_bytes=2 * GIB)}, W, "2.2 GiB with buffers"),
    ("offload", {"config": OFFLOAD, "around": {"model": SMALL}, "machine": host(ON_CPU, memory_limit_bytes=GIB)},
     P, "limit"),
    ("memlock", {"config": NVME, "machine": host(ON_CPU, memlock_bytes=8 * MIB)}, P, "locks 953.7 MiB per rank"),
    ("nvme", {"config": NVME, "around": {"folders": {"/x": unusable("nvme_not_writable")}}}, P, "/x is not writable"),
    ("nvme", {"config": NVME, "around": {"folders": {"/x": unusable("nvme_no_folder")}}}, W, "/x doesn’t exist"),
    ("nvme", {"config": NVME, "around": {"folders": {"/x": unusable("nvme_is_file")}}}, P, "/x is not a folder"),
    ("shm", {"machine": host(ON_CPU, shm=Disk("/dev/shm", GIB, 100 * MIB))}, P, "2 CPU ranks take 132 MiB"),
    ("cores", {"ranks": 9}, W, "9 ranks share 8 usable cores"),
    ("cores", {"around": {"beside": ("t5", "gpt")}}, W, "on these 8 cores: “t5”, “gpt”"),
    ("port", {"around": {"port_taken": True}}, P, "29600: another program"),
    ("checkpoints", {"around": {"output_disk": Disk("/out", GIB, 0)}}, P, "0 bytes free in /out"),
    ("checkpoints", {"around": {"output_disk": Disk("/out", GIB, GIB)}}, W, "1.1 GB free in /out"),
    ("checkpoints", {"around": {"output_disk": Disk("/out", GIB, GIB), "model": SMALL}}, P, "takes about 1.6 GB"),
    ("checkpoints", {"around": {"output_disk": Disk("/out", GIB, 5 * GIB // 4), "model": SMALL}}, W, "about 1.6 GB"),
    ("use_cpu", {"machine": ASKED, "config": {"train_batch_size": "auto"}}, P, "made for one rank"),
    ("use_cpu", {"machine": ASKED, "arguments": ("--use_cpu", "False"), "config": {"train_batch_size": 8}}, P, "only"),
    ("use_cpu", {"machine": ASKED}, W, "every rank trains on all of the data"),
    ("use_cpu", {"machine": ASKED, "ranks": 1, "arguments": ("--bf16",)}, P, "support bf16/gpu"),
    ("asks_for_cuda", {"machine": ASKED, "source": ON_CUDA, "config_argument": NATIVE}, W,
     "(line 3: torch.cuda.set_device, line 4: torch.device('cuda'), line 5: .cuda()), and there is none here"),
    ("asks_for_cuda", {"machine": ASKED, "source": ON_CUDA + "b.cuda()\nc.cuda()", "config_argument": NATIVE}, W,
     "and 2 more), and"),
    ("tf32", {"machine": ASKED, "ranks": 1, "arguments": ("--tf32", "True")}, P, "stops at --tf32 on the CPU"),
    ("tf32", {"machine": replace(READY, gpus=(replace(BUSY, name="V100", capability=(7, 0), free_bytes=79 * GIB),)),
              "gpu_indices": (0,), "ranks": 1, "arguments": ("--tf32", "True")}, P, "V100 is older than Ampere"),
    ("slurm", {"place": SlurmJob(), "around": {"slurm": SlurmAnswer(submits=False)}}, P, "sbatch isn’t installed"),
    ("slurm", {"place": SlurmJob(), "around": {"slurm": SlurmAnswer("sinfo", words="Unable to contact slurm")}},
     P,
     "Slurm doesn’t answer from this machine. sinfo: Unable to contact slurm."),
    ("runs_disk", {"machine": host(ON_CPU, runs_disk=Disk("/runs", GIB, 0))}, P, "where dsgui keeps"),
]  # fmt: skip


@each_case(("name", "given", "status", "says"), FAULTS, ids=[f"{f[0]}-{n}" for n, f in enumerate(FAULTS)])
def test_a_launch_with_one_fault_has_one_row_that_says_it(name, given, status, says):
    bad = [row for row in rows(**given) if row.status in (P, W)]
    assert [row.check for row in bad] == [name]
    assert bad[0].status is status
    assert says in bad[0].all_seen
    assert bad[0].advice or bad[0].items  # each line has its own


def test_what_is_ticked_and_may_be_done_is_no_fault():
    def told(**given):
        return [row.check for row in rows(memory=ROOMY, **given) if row.status in (P, W)]

    on = ("--gradient_checkpointing", "True")
    native = {"config_argument": NATIVE, "choice": TICKED}
    assert told(choice=TICKED, arguments=on) == []
    assert told(choice=TICKED, around={"arguments_file": ArgumentsFromFile("a.json", {on[0][2:]: True})}) == []
    for line in (
        "model.gradient_checkpointing_enable()",
        "a.gradient_checkpointing = True",
        "m = prepare_model_for_kbit_training(m)",
    ):
        assert told(choice=TICKED, source=TRAINER + line) == []
    asks = "if a.gradient_checkpointing: model.config.use_cache = False"
    assert told(choice=TICKED, source=TRAINER + asks) == ["checkpointing"]
    usual = Option(on[0][2:], (on[0],), "?", True)
    assert told(choice=TICKED, around={"answers": ScriptAnswers(options=(*MORE, usual), known=True)}) == []
    for line in ("model.gradient_checkpointing_enable()", "x = torch.utils.checkpoint.checkpoint(f, x)"):
        assert told(source=GIVEN + "\n" + line, **native) == []
    inside = GIVEN + "\nwith deepspeed.zero.Init(config_dict_or_path=c):\n    m = M()"
    assert told(source=inside, config_argument=NATIVE, choice=DIVIDED, config=STAGE_3) == []
    assert told(source=GIVEN, config_argument=NATIVE, choice=DIVIDED) == []  # divides nothing below stage 3


def test_one_click_gives_the_script_what_is_ticked():
    launch = Launch({}, (), "1 GPU", 1, script="/train.py", choice=TICKED, memory=ROOMY)
    (offer,) = before_start(launch, Surroundings(script_facts(TRAINER), READY)).offers
    assert str(offer.label) == "Add --gradient_checkpointing True to the arguments"
    taken = _accepted(offer, "auto", "--lr 1 --gradient_checkpointing False --fp16", "")
    assert taken[:3] == ("auto", "--lr 1 --fp16 --gradient_checkpointing True", "")


def test_every_check_is_tried():
    told = {fault[0] for fault in FAULTS} - {AGREEMENT} | {"local_rank", "elsewhere", "arguments_file"}
    assert {entry.id for entry in CHECKS} == told


SOUND_LAUNCHES = [
    {},
    {"place": SlurmJob(), "around": {"slurm": SlurmAnswer("sinfo", answers=True)}},
    {"around": {"slurm": SlurmAnswer(submits=False)}},  # trains on this machine
    {"config": OFFLOAD | ADAM, "around": {"model": SMALL}},
    {"source": GIVEN, "config_argument": NATIVE},
    {"source": PARSER + "p.add_argument('--deepspeed'); p.parse_args()"},
    {"source": PARSER + "p.add_argument('--deepspeed_config'); p.parse_args()"},  # argparse takes a beginning for it
    {"source": PARSER + "p.add_argument('--ds'); p.parse_args()", "config_argument": NONE},
    {"source": "print(1)"},
    {"script": "", "source": ""},
    {"source": WHOLE, "config_argument": NONE, "arguments": ("--epo", "3", "--lr=-1e-4", "--flag")},
    {"source": WHOLE + "\nothers.add(p)", "config_argument": NONE, "arguments": ("--train_iters", "1", "x")},
    {"source": BY_CLASS, "around": TRAINERS, "arguments": ("--learning_rate", "1", "--fp16", "--eval_strat", "no")},
    {"source": BY_CLASS, "arguments": ("--anything", "1")},  # its classes could not be read
    {"source": BY_CLASS, "around": TRAINERS | {"arguments_file": ArgumentsFromFile("a.yaml", {"fp16": True})}},
    {"by_arguments": (replace(ERROR, severity=Severity.NOTE),)},
    {"config": STAGE_3, "source": SPARING},  # ignored since 4.51
    {"config": OFFLOAD, "source": MAPPED},  # stage 2
    {"config": STAGE_3, "source": LOADS.format("device_map='auto'"), "config_argument": NATIVE},
    {"arguments": ("--save_strategy", "no"), "around": {"output_disk": Disk("/out", GIB, GIB), "model": LARGE}},
    {"config": NVME, "machine": host(ON_CPU, memlock_bytes=8 * MIB, locks_freely=True)},
    {"config": NVME, "machine": host(old("deepspeed", "0.18.9"), memlock_bytes=8 * MIB)},
    {"config": ADAM | {"zero_optimization": {"stage": 1}}, "machine": READY, "gpu_indices": (0,), "ranks": 1},
    {"config": {"optimizer": {"type": "Adam", "params": {"torch_adam": True}}}, "machine": replace(READY), "ranks": 1},
    {"config": OFFLOAD, "around": {"model": LARGE}, "nodes": 2, "elsewhere": "a, b"},
    {"machine": ASKED, "config": {"train_batch_size": "auto"}, "arguments": ("--bf16", "--use_cpu")},
    {"machine": ASKED, "ranks": 1, "config": {"train_batch_size": "auto"}},
    {"machine": ASKED, "source": TRAINER + "TrainingArguments(use_cpu=True)"},
    {"machine": ASKED, "ranks": 1, "config": {"train_batch_size": "auto"}, "arguments": ("--tf32", "False")},
    {"machine": ASKED, "source": "print(1)"},
    {"machine": ASKED, "source": ON_CUDA, "config_argument": NATIVE, "elsewhere": "node-1"},
    {"machine": replace(ASKED, environment=None), "source": ON_CUDA, "config_argument": NATIVE},
    {
        "machine": replace(READY, gpus=(replace(BUSY, free_bytes=79 * GIB),)),
        "gpu_indices": (0,),
        "ranks": 1,
        "source": ON_CUDA,
        "config_argument": NATIVE,
    },
]


@each_case("given", SOUND_LAUNCHES, ids=range(len(SOUND_LAUNCHES)))
def test_what_is_different_and_fine_is_no_fault(given):
    assert [row for row in rows(**given) if row.status in (P, W)] == []


UNKNOWN = [
    ("offload", {"config": OFFLOAD}, "no model is named"),
    ("offload", {"config": OFFLOAD, "around": {"model": SMALL}, "source": TRAINER + "get_peft_model(m)"}, "LoRA"),
    (
        "offload",
        {"config": OFFLOAD, "around": {"model": SMALL}, "source": TRAINER + "model.requires_grad_(False)"},
        "frozen",
    ),
    ("offload", {"config": OFFLOAD | {"optimizer": {"type": "Lion"}}, "around": {"model": SMALL}}, "another optimizer"),
    ("offload", {"config": NVME, "around": {"model": SMALL}}, "no case"),
    ("operators", {"config": ADAM, "machine": replace(CPU, environment=None)}, "fused_adam, deepspeed_shm_comm"),
    ("takes_config", {"source": "print(1)"}, "doesn’t seem to read a command line"),
    ("takes_config", {"source": PARSER + "a, b = p.parse_known_args()"}, "lets unknown arguments pass"),
    ("slurm", {"place": SlurmJob(), "around": {"slurm": SlurmAnswer()}}, "sinfo isn’t installed"),
    (
        "slurm",
        {"place": SlurmJob(), "around": {"slurm": SlurmAnswer("scontrol", silent=True)}},
        f"Slurm didn’t answer scontrol within {SlurmAnswer.LIMIT_S:g} s",
    ),
    ("elsewhere", {"nodes": 2, "elsewhere": "worker-0, b"}, "of worker-0, b are not"),
]


@each_case(("name", "given", "says"), UNKNOWN, ids=[f"{u[0]}-{n}" for n, u in enumerate(UNKNOWN)])
def test_what_is_not_known_is_said_and_not_guessed(name, given, says):
    (row,) = [row for row in rows(**given) if row.check == name]
    assert row.status is Status.UNKNOWN
    assert says in row.seen


@each_case(
    ("named", "status"),
    [(None, P), ("9.0a", P), ("9.0", Status.OK), ("8.0;9.0+PTX", Status.OK), ("", Status.OK)],
)
def test_architectures_that_deepspeed_can_not_read_stop_a_run_that_names_no_others(named, status):
    reason = "TORCH_CUDA_ARCH_LIST=9.0a: invalid literal for int() with base 10: '0a'"
    bad = replace(READY.environment.target, ops=(Op("fused_adam", False, False, reason),))
    machine = replace(READY, environment=replace(READY.environment, target=bad))
    environment = {} if named is None else {"TORCH_CUDA_ARCH_LIST": named}
    (row,) = [row for row in rows(config=ADAM, machine=machine, environment=environment) if row.check == "operators"]
    assert row.status is status
    if status is P:
        assert reason in row.seen
        assert "numbers, such as 9.0" in row.advice


@each_case(("named", "status"), [("9.0a", P), ("9.0", Status.OK), ("", Status.OK)])
def test_architectures_that_a_run_itself_names_are_read_as_deepspeed_does(named, status):
    given = {"config": ADAM, "machine": READY, "environment": {"TORCH_CUDA_ARCH_LIST": named}}
    (row,) = [row for row in rows(**given) if row.check == "operators"]
    assert row.status is status
    on_host = rows(**given | {"config": OFFLOAD | ADAM})
    assert {row.status for row in on_host if row.check == "operators"} == {Status.OK}


def test_the_program_of_slurm_that_must_answer_is_the_one_that_was_asked():
    said_by = {"slurm": SlurmAnswer("scontrol", words="Slurmctld(primary) at login is DOWN")}
    (row,) = [row for row in rows(place=SlurmJob(), around=said_by) if row.check == "slurm"]
    assert row.status is P
    assert "scontrol must answer there" in row.advice


def test_where_nothing_can_be_submitted_that_comes_before_what_is_wrong_with_the_script():
    said_by = {"slurm": SlurmAnswer("sinfo", words="Unable to contact slurm")}
    told = [row.check for row in rows(place=SlurmJob(), around=said_by, source="x(") if row.status is P]
    assert told[0] == "slurm"
    assert len(told) > 1


def test_a_script_without_local_rank_is_told_as_fine():
    source = PARSER + "p.add_argument('--deepspeed'); p.parse_args()"
    (row,) = [row for row in rows(source=source) if row.check == "local_rank"]
    assert (row.status, "--no_local_rank" in row.seen) == (Status.OK, True)
    (row,) = [row for row in rows(source=source, started_by=StartedBy.TORCHRUN) if row.check == "local_rank"]
    assert row.seen == "torchrun passes none"


def test_nothing_known_gives_no_exception_and_no_problem_of_its_own():
    around = Surroundings(script_facts(""), Machine(Host()))
    told = preflight(Launch({}, (), "1 CPU rank", 1), around)
    assert {row.check for row in told if row.status in (P, W)} == {"shm"}  # there is no /dev/shm
    assert Question(Launch({}, (), "", 1), around).gpus == ()


def test_the_page_folds_what_is_fine_and_escapes():
    html = preflight_html(rows(findings=(replace(ERROR, says=as_told("<script>")),)))
    shown, folded = html.split("<details")
    assert "&lt;script&gt;" in shown
    assert "<script>" not in html
    assert "The script" in folded
    assert "The script" not in shown
    assert f"All {folded.count('<dt ')} checks" in folded
    assert 'role="img" aria-label="Problem">!</span><span>The config' in folded
    assert 'role="img" aria-label="OK">✓</span><span>The script' in folded
    assert preflight_html(()) == ""


def test_errors_of_a_config_that_the_script_is_not_given_are_listed_as_such():
    warned = replace(ERROR, severity=Severity.WARNING, pointer="/x", says=as_told("x: perhaps."))
    found = (ERROR, replace(ERROR, pointer="/fp16"), warned, replace(warned, pointer="/y"))
    row = replace(rows(findings=found)[0], status=Status.WARNING)
    html = preflight_html((row,), ToConfigure(found=found))
    assert "All 2 errors" in html
    assert 'data-goto="/x"' not in html


def test_a_button_breaks_no_option_at_a_hyphen_and_is_escaped():
    html = press_html("id", "Replace --no-cuda with --use_cpu <b>")
    whole = '<span class="ds-whole">{}</span>'.format
    assert f">Replace {whole('--no-cuda')} with {whole('--use_cpu')} &lt;b&gt;</button>" in html


def test_all_that_stops_the_config_is_behind_a_fold_and_leads_to_its_field():
    other = replace(ERROR, pointer="/fp16", says=as_told("fp16: no."))
    same = replace(ERROR, pointer="/bf16", says=as_told("bf16: no."))
    found = (ERROR, other, same)
    html = preflight_html(rows(findings=found), ToConfigure(found=found, reads="native", converts=True))
    assert "All 3 errors" in html
    assert "Pre-flight: 1 problem<" in html  # of the checks; one press mends them all
    assert '<span class="ds-word">3 errors</span> The config' in html  # as many as 1 · Configure lists
    assert worst_of(rows(findings=found)) == "1 problem"  # the button beside it
    assert '<span class="ds-word">Problem</span> The config' in preflight_html(rows(findings=(ERROR,)))
    assert [html.count(f'data-goto="{one.pointer}"') for one in found] == [1, 1, 1]
    assert html.count("<p>no.</p>") == 1  # said once, of both
    assert html.count("Convert to native values</button>") == 1
    assert 'ds-preflight" data-reads="native"><p' in html
    alone = preflight_html(rows(findings=(ERROR,)), ToConfigure(found=(ERROR,)))
    assert "ds-every" not in alone
    assert '<span class="ds-word">Problem</span> The config' in alone
    assert "data-reads" not in alone
    cured = ToConfigure("Hello", found, "native", converts=True)
    assert "Convert to" not in preflight_html(rows(findings=found), cured)  # its own preset is the better cure


def test_one_button_for_what_stops_stands_above_several_problems_and_within_a_single_one():
    one, other = (Row(check, as_told("A"), Status.PROBLEM, (as_told("seen"),)) for check in (THE_CONFIG, AGREEMENT))
    to = ToConfigure(fixes="<button>Fix</button>")
    assert '</p><p class="ds-wide"><button>Fix</button></p><ul>' in preflight_html((one, other), to)
    assert preflight_html((one, other), to).count("<button>Fix") == 1
    alone = preflight_html((one,), to)
    assert ("ds-wide" in alone, alone.count("<button>Fix")) == (False, 1)


def test_a_heading_is_green_where_all_was_checked():
    """What was not checked is no reason to worry, and none to be sure."""
    ok, unknown = (Row("a", as_told("A"), one, (as_told("seen"),)) for one in (Status.OK, Status.UNKNOWN))
    assert '<p class="ds-verdict ds-ok"' in list_html("Said", (ok,), ("",))
    assert '<p class="ds-verdict ds-note"' in list_html("Said", (unknown, ok), ("", ""))


CONFIGS = [
    ({"findings": (ERROR,)}, "1 problem", "ds-error", "Mine · 2 CPU ranks"),
    ({"unreadable": "Line 1: no."}, "1 problem", "ds-error", "can’t be read: [see below](#stops)."),
    ({"findings": (replace(ERROR, severity=Severity.WARNING),)}, "1 warning", "ds-warning", "[1 warning](#findings)"),
    ({}, "all checks passed", "ds-ok", "no findings"),
]


@pytest.mark.parametrize(("found", "heading", "kind", "line"), CONFIGS)
def test_one_heading_of_the_page_tells_the_worst_of_config_and_machine(found, heading, kind, line):
    """No green heading stands under a config that would be refused, or that can't be read."""
    planned = {"config": {}, "findings": (), "devices": "2 CPU ranks", "ranks": 2, "script": "/train.py"} | found
    launch = Launch(**planned, master_port=29600)
    around = Surroundings(script_facts(TRAINER), ON_CPU, output="/out", output_disk=Disk("/out", 500 * GIB, 300 * GIB))
    html = preflight_html(before_start(launch, around).rows)
    assert f'<p class="ds-verdict {kind}" role="status">Pre-flight: {heading}</p>' in html
    told = verdict(launch, "Mine").replace("*", "")
    assert line in told
    if launch.findings and kind == "ds-error":
        assert told == line  # what stops it is told once, among the checks


# --------------------------------------------------------------------------------------------------- the real argparse
PARSED = [
    (("p.add_argument('--lr')", HF), False),
    (("p.add_argument('--lr')", NATIVE), False),
    (("p.add_argument('--deepspeed')", HF), True),
    (("p.add_argument('--deepspeed')", NATIVE), False),
    (("p.add_argument('--deepspeed', action='store_true')", HF), False),
    (("p.add_argument('--deepspeed', action='store_true')", NATIVE), False),
    (("p.add_argument('--deepspeed', action='store_true'); p.add_argument('--deepspeed_config')", NATIVE), True),
    (("p.add_argument('--deepspeed', nargs='?', const=1); p.add_argument('--deepspeed_config')", NATIVE), True),
    (("p.add_argument('--deepspeed', nargs='*'); p.add_argument('--deepspeed_config')", NATIVE), True),
    (("p.add_argument('--deepspeed', nargs='+'); p.add_argument('--deepspeed_config')", NATIVE), False),
    (("p.add_argument('--deepspeed', nargs='?')", HF), True),
    (("p.add_argument('--deepspeed', nargs='?')", NATIVE), False),
    (("p.add_argument('--deepspeed_config')", HF), True),
    (("p.add_argument('--deepspeed_config')", NATIVE), False),
    (("p.add_argument('--deepspeed', action=argparse.BooleanOptionalAction)", HF), False),
]


@pytest.mark.parametrize(("case", "taken"), PARSED, ids=[f"{c[0][1].name}-{c[0][0]}" for c in PARSED])
def test_argparse_itself_ends_as_the_check_says(tmp_path, case, taken):
    options, how = case
    source = f"{PARSER}{options}; p.parse_args()"
    (tmp_path / "train.py").write_text(source)
    given = {HF: ["--deepspeed", "FILE"], NATIVE: ["--deepspeed", "--deepspeed_config", "FILE"]}[how]
    done = subprocess.run([sys.executable, tmp_path / "train.py", *given], capture_output=True, text=True, check=False)
    (row,) = [row for row in rows(source=source, config_argument=how) if row.check == "takes_config"]
    assert (done.returncode == 0, row.status is Status.OK) == (taken, taken)
    if not taken:
        assert done.returncode == 2
        assert row.seen.partition("“")[2].rstrip(".").rstrip("”") in done.stderr


REAL = """
    import json, os, sys
    os.environ |= {"HF_HUB_OFFLINE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": sys.argv[2], "RANK": "0",
                   "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    from transformers import GPT2Config, GPT2LMHeadModel, HfArgumentParser, TrainingArguments
    from transformers.integrations import HfDeepSpeedConfig
    from deepspeed.runtime.zero.stage_1_and_2 import estimate_zero2_model_states_mem_needs as two
    from deepspeed.runtime.zero.stage3 import estimate_zero3_model_states_mem_needs as three
    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=50, n_positions=16))
    model.save_pretrained(sys.argv[1])
    told = {"parameters": sum({p.data_ptr(): p.numel() for p in model.parameters()}.values())}
    shapes, both = ((1, 1), (8, 1), (4, 2)), (True, False)
    told["two"] = [two(10**9, gpus, nodes)[0] for gpus, nodes in shapes]
    told["three"] = [three(10**9, 1, gpus, nodes, True, moved, zero_init)[0]
                     for gpus, nodes in shapes for moved in both for zero_init in both]
    keep = HfDeepSpeedConfig({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3}})
    for name, value in (("device_map", "auto"), ("low_cpu_mem_usage", True)):
        try:
            GPT2LMHeadModel.from_pretrained(sys.argv[1], **{name: value})
            told[name] = ""
        except ValueError as error:
            told[name] = str(error)
        except Exception as error:  # ZeRO-3 wants a process group, which comes after this check
            told[name] = ""
    try:
        HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(["--deepspeed", "--deepspeed_config", "x"])
    except SystemExit as end:
        told["trainer"] = end.code
    print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """What transformers and DeepSpeed themselves say."""
    folder = tmp_path_factory.mktemp("model")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-c", dedent(REAL), str(folder), port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]) | {"folder": folder, "stderr": done.stderr}


@pytest.mark.deepspeed
@pytest.mark.remembered(TEXTS)
def test_transformers_raises_the_sentence_that_is_quoted_and_ignores_the_other_keyword(real):
    (row,) = [row for row in rows(STAGE_3, source=MAPPED) if row.check == "stage_3"]
    assert real["device_map"]
    assert f"“{real['device_map']}”" in row.seen
    assert real["low_cpu_mem_usage"] == ""


@pytest.mark.deepspeed
@pytest.mark.remembered(TEXTS)
def test_the_trainers_parser_stops_at_the_native_form(real):
    assert real["trainer"] == 2
    assert "argument --deepspeed: expected one argument" in real["stderr"]


@pytest.mark.deepspeed
@pytest.mark.remembered(TEXTS)
def test_the_memory_for_offload_is_deepspeeds_own_estimate(real):
    shapes = ((1, 1), (8, 1), (4, 2))

    def ours(stage, gpus, nodes, moved=False, zero_init=False):
        return offload_need(
            10**9,
            stage=stage,
            offloads_parameters=moved,
            ranks=gpus * nodes,
            nodes=nodes,
            divided_at_once=zero_init,
        ).estimate_bytes

    assert [ours(2, gpus, nodes) for gpus, nodes in shapes] == real["two"]
    both = (True, False)
    assert [ours(3, g, n, moved, init) for g, n in shapes for moved in both for init in both] == real["three"]


@pytest.mark.deepspeed
@pytest.mark.remembered(TEXTS)
def test_a_saved_model_has_the_parameters_that_torch_counts(real):
    assert model_size(str(real["folder"]), "/", {}, lambda path: None).parameters == real["parameters"]


@pytest.mark.deepspeed
@pytest.mark.remembered
def test_the_launcher_refuses_a_slot_that_is_not_there(tmp_path):
    (tmp_path / "train.py").write_text("")
    command = [sys.executable, "-m", "deepspeed.launcher.runner", "--include=localhost:9999", tmp_path / "train.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert "No slot '9999' specified on host 'localhost'" in done.stderr


# ------------------------------------------------------------------------------------------------------ a model's size
def safetensors(path, shapes):
    header = {f"w{n}": {"dtype": "BF16", "shape": shape, "data_offsets": [0, 0]} for n, shape in enumerate(shapes)}
    text = json.dumps(header | {"__metadata__": {"format": "pt"}}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text)


def counted(folder, check=lambda path: None, named="", environment=None):
    return model_size(named or str(folder), str(folder), environment or {}, check)


def test_sizes_come_from_the_files_own_headers(tmp_path):
    safetensors(tmp_path / "model.safetensors", [[3, 4], [5]])
    assert counted(tmp_path) == ModelSize(str(tmp_path), 17)


def test_a_divided_model_is_counted_over_its_files_or_by_its_index(tmp_path):
    index = {"metadata": {"total_size": 400}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert counted(tmp_path).parameters is None  # neither files nor a dtype
    (tmp_path / "config.json").write_text('{"torch_dtype": "bfloat16"}')
    assert counted(tmp_path).parameters == 200
    for name in ("one", "two"):
        safetensors(tmp_path / f"{name}.safetensors", [[7]])
    assert counted(tmp_path).parameters == 14


def test_pickled_weights_are_measured_and_never_opened(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"x" * 800)
    assert counted(tmp_path).parameters is None
    (tmp_path / "config.json").write_text('{"dtype": "float32"}')
    assert counted(tmp_path).parameters == 200


def test_a_hub_name_is_found_in_the_local_cache_alone(tmp_path):
    hub = tmp_path / "hub" / "models--org--small"
    (hub / "refs").mkdir(parents=True)
    (hub / "refs" / "main").write_text("abc")
    (hub / "snapshots" / "abc").mkdir(parents=True)
    safetensors(hub / "snapshots" / "abc" / "model.safetensors", [[9]])
    assert counted(tmp_path, named="org/small", environment={"HF_HOME": str(tmp_path)}).parameters == 9
    other = counted(tmp_path, named="org/other", environment={"HF_HOME": str(tmp_path)})
    assert "neither a folder here" in str(other.why)


@pytest.mark.parametrize("header", [b"", b"\xff" * 8, struct.pack("<Q", 4) + b"nope", struct.pack("<Q", 2) + b"[]"])
def test_a_file_that_is_no_model_is_said_and_raises_nothing(tmp_path, header):
    (tmp_path / "model.safetensors").write_bytes(header)
    found = counted(tmp_path)
    assert found.parameters is None


def test_a_folder_outside_the_places_is_not_read(tmp_path):
    from dsgui.shell.access.places import Places

    (tmp_path / "in").mkdir()
    safetensors(tmp_path / "model.safetensors", [[3]])
    places = Places([tmp_path / "in"])
    found = counted(tmp_path, places.check)
    assert (found.parameters, "outside" in str(found.why)) == (None, True)
    (tmp_path / "in" / "model.safetensors").symlink_to(tmp_path / "model.safetensors")
    found = counted(tmp_path / "in", places.check)
    assert (found.parameters, "outside" in str(found.why)) == (None, True)


@pytest.mark.parametrize(("count", "told"), [(7 * 10**9, "7 billion"), (60_500_000, "60.5 million"), (999, "999")])
def test_counts_are_spelled(count, told):
    assert spelled(count) == told


def test_what_the_trainer_names_in_one_error_is_one_row_behind_what_stops_it_before():
    def differs(key, code="DS013.different", quoted=DIFFERING, **more):
        given = {"key": key, "seen": "1", "wanted": "2", "quoted": f"{quoted}- ds {key}"} | more
        return Finding("DS013", Severity.ERROR, f"/{key}", said("findings", code, **given), (advised("remove_it"),))

    default, there = differs("c", "DS013.default", names="c"), differs("d", "DS013.different_there", place="train.py")
    earlier = differs("a", quoted="`--mixed_precision` arg cannot be set ")
    told = [row for row in rows(by_arguments=(differs("b"), earlier, default, there)) if row.check == AGREEMENT]
    assert [(row.count, len(row.items)) for row in told] == [(1, 0), (1, 3)]
    assert str(told[1].found) == "3 errors"
    assert "cannot be set" in told[0].seen
    assert told[1].seen.startswith("3 values of the config differ from the HF Trainer’s arguments.")
    assert [str(one).split(".")[0] for one in told[1].items] == [
        "b: 1 in the file, 2 from the arguments",
        "c: 1 in the file, 2 by the HF Trainer’s default",
        "d: 1 in the file, 2 from the arguments (train",
    ]


# ----------------------------------------------------------------------------------------------------- what is gathered
def test_folders_on_nvme_are_those_of_the_config_and_the_plans_own(bench, tmp_path):
    scout = Scout(lambda: CPU, lambda: None, clock=lambda: 0.0)
    plan = bench.runs.prepare(bench.request(bench.script("print(1)")))
    plan = replace(plan, model=ModelChoice("7B", nvme=str(tmp_path)))
    block = {"device": "nvme", "nvme_path": str(tmp_path / "none")}
    text = json.dumps({"zero_optimization": {"stage": 3, "offload_optimizer": block}})
    found = scout.surroundings(plan, script_facts(""), False, text).folders
    assert found[str(tmp_path)].free_bytes > 0
    assert found[str(tmp_path / "none")].why.code == "nvme_no_folder"
    assert list(scout.surroundings(plan, script_facts(""), False, "{").folders) == [str(tmp_path)]


def test_a_recipe_that_makes_its_own_model_has_room_for_it_anywhere(bench):
    plan = bench.runs.prepare(bench.request(bench.script("print(1)")))
    named = replace(plan, arguments=("--model_name_or_path", "large"))
    as_recipe, as_script = (Scout(lambda: CPU, lambda: None, recipes=one) for one in ([Path(plan.script)], ()))
    assert as_recipe.surroundings(plan, script_facts(""), False).model.is_small
    assert not as_recipe.surroundings(named, script_facts(""), False).model.is_small
    assert not as_script.surroundings(plan, script_facts(""), False).model.is_small
    told = [row for row in rows(config=OFFLOAD, around={"model": ModelSize()}) if row.check == "offload"]
    assert [row.status for row in told] == [Status.UNKNOWN]
    small = rows(config=OFFLOAD, around={"model": ModelSize(is_small=True)})
    assert not [row for row in small if row.check == "offload"]


@pytest.mark.parametrize("code", ["nvme_outside", "nvme_relative"])
def test_a_folder_on_nvme_that_is_not_looked_at_is_no_problem(code):
    """DeepSpeed takes it: a drive that dsgui may not read, a name from where the script runs."""
    (row,) = [row for row in rows(config=NVME, around={"folders": {"/x": unusable(code)}}) if row.check == "nvme"]
    assert row.status is Status.UNKNOWN
    assert "/x" in row.seen


def test_the_scout_reads_the_machine_again_only_after_a_while(bench):
    now, read = [0.0], []
    scout = Scout(lambda: read.append(1) or CPU, lambda: SOUND.environment, clock=lambda: now[0])
    plan = bench.runs.prepare(bench.request(bench.script("print(1)"), arguments="--output_dir out --model small"))
    safetensors((bench.folder / "small").mkdir() or bench.folder / "small" / "model.safetensors", [[8]])
    plan = replace(plan, working_directory=str(bench.folder))
    for _ in range(3):
        around = scout.surroundings(plan, script_facts(""), False)
    safetensors(bench.folder / "small" / "model.safetensors", [[9]])
    assert scout.surroundings(plan, script_facts(""), False).model == around.model
    assert len(read) == 1
    assert (around.model.parameters, around.output) == (8, str(bench.folder / "out"))
    assert around.output_disk.free_bytes
    assert around.machine.environment is SOUND.environment
    now[0] = FRESH_S + 1
    assert scout.surroundings(plan, script_facts(""), False).model.parameters == 9
    assert len(read) == 2


def test_a_model_is_read_once_though_each_preview_has_another_folder(bench):
    safetensors(bench.folder / "model.safetensors", [[8]])
    scout = Scout(lambda: CPU, lambda: None, clock=lambda: 0.0)
    request = bench.request(bench.script("print(1)"), arguments=f"--model '{bench.folder}'")
    told = [scout.surroundings(bench.runs.prepare(request), script_facts(""), False).model for _ in range(2)]
    assert told[0] is told[1]
    assert told[0].parameters == 8


def test_a_shape_that_the_arguments_name_is_judged_as_a_model_is(bench):
    """A recipe is given no planned model: what trains is what its arguments name."""
    (bench.folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": 3}))
    scout = Scout(lambda: CPU, lambda: None, clock=lambda: 0.0)
    for option in ("--config_name", "--model_name_or_path"):
        request = bench.request(bench.script("print(1)"), arguments=f"{option} '{bench.folder}'")
        shape = scout.surroundings(bench.runs.prepare(request), script_facts(""), False).shape
        assert shape.config["n_layer"] == 3


def test_a_port_is_free_for_the_run_that_holds_it_and_taken_by_another_program(bench):
    plan = bench.runs.prepare(bench.request(bench.script("")))
    assert bench.runs.port_is_free(plan)
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = replace(plan, run_id="another", master_port=other.getsockname()[1])
        assert not bench.runs.port_is_free(taken)


# ----------------------------------------------------------------------------------------------------- the command line
CONFIG = json.dumps({"train_batch_size": 8, "zero_optimization": {"stage": 0}})
STRICT = PARSER + "p.parse_args()"


@pytest.fixture
def dsgui(bench: Bench, capsys):
    def run(command, *arguments):
        code = main([command, "--runs-dir", str(bench.store.runs_dir), *map(str, arguments)])
        return code, *capsys.readouterr()

    (bench.folder / "ds.json").write_text(CONFIG)
    return run


def launched(bench, dsgui, source, *options):
    config = ("--config", bench.folder / "ds.json", "--python", bench.python)
    return dsgui("launch", *config, *options, bench.script(source))


def test_a_dry_run_tells_the_checks_beside_the_command(bench, dsgui):
    code, out, err = launched(bench, dsgui, STRICT, "--dry-run")
    assert code == 1
    assert len(out.replace("\\\n", "").splitlines()) == 1  # the command alone, a part to a line
    assert "1 problem" in err
    assert "unrecognized arguments: --deepspeed FILE" in " ".join(err.split())
    code, _, err = launched(bench, dsgui, "", "--dry-run")
    assert (code, "no problems found" in err) == (0, True)


def test_a_launch_with_a_problem_is_refused_unless_it_is_asked_for_all_the_same(bench, dsgui):
    code, out, err = launched(bench, dsgui, STRICT)
    assert (code, out) == (2, "")
    assert "--although" in err
    assert bench.runs.list() == []
    code, out, err = launched(bench, dsgui, STRICT, "--although", "-f")
    assert code == 1
    assert "unrecognized arguments: --deepspeed" in out  # as the check said
    assert "exit code 2" in err


def test_a_config_that_deepspeed_refuses_is_a_problem_of_the_launch(bench, dsgui):
    (bench.folder / "ds.json").write_text('{"train_batch_size": 3, "zero_optimization": {"stage": 0}}')
    code, _, err = launched(bench, dsgui, "", "--ranks", "2")
    assert (code, "DeepSpeed would refuse it on 2" in " ".join(err.split())) == (2, True)
    (bench.folder / "ds.json").write_text("{")
    assert "can't be read" in launched(bench, dsgui, "", "--dry-run")[2]


def test_native_deepspeed_reads_comments_and_the_trainer_does_not(bench, dsgui):
    (bench.folder / "ds.json").write_text('{"train_batch_size": 8, # all\n "zero_optimization": {"stage": 0}}')
    assert launched(bench, dsgui, "", "--dry-run", "--reader", "native")[0] == 0
    assert launched(bench, dsgui, "", "--dry-run")[0] == 1


def doctored(tmp_path, monkeypatch, capsys, *options):
    monkeypatch.setattr("dsgui.commands.doctor.read_machine", lambda *_: ON_CPU)
    (tmp_path / "ds.json").write_text(json.dumps(OFFLOAD | {"train_micro_batch_size_per_gpu": 1}))
    code = main(["doctor", "--runs-dir", str(tmp_path), *map(str, options)])
    return code, *capsys.readouterr()


def test_doctor_adds_the_rows_of_a_launch(tmp_path, monkeypatch, capsys):
    (tmp_path / "train.py").write_text(STRICT)
    config = ("--config", tmp_path / "ds.json", "--format", "json")
    script = ("--script", tmp_path / "train.py")
    code, out, _ = doctored(tmp_path, monkeypatch, capsys, *config, *script, "--parameters", "7B", "--ranks", "20")
    told = {row["check"]: row["status"] for row in json.loads(out)["checks"]}
    assert code == 1
    assert (told["takes_config"], told["offload"], told["cores"]) == ("problem", "problem", "warning")
    assert [row["check"] for row in json.loads(out)["checks"]].count("shm") == 1
    code, out, _ = doctored(tmp_path, monkeypatch, capsys, *config, "--ranks", "2", "--parameters", "1e8")
    assert (code, json.loads(out)["ok"]) == (0, True)


def test_doctor_without_a_config_is_about_the_machine_alone(tmp_path, monkeypatch, capsys):
    _, out, _ = doctored(tmp_path, monkeypatch, capsys, "--format", "json")
    assert "takes_config" not in {row["check"] for row in json.loads(out)["checks"]}
    code, _, err = doctored(tmp_path, monkeypatch, capsys, "--ranks", "2")
    assert (code, "--config" in err) == (2, True)
    assert doctored(tmp_path, monkeypatch, capsys, "--config", Path("/no/such.json"))[0] == 2


ADVICE = [
    (("--overwrite_output_dir",), "Remove --overwrite_output_dir."),
    (("--evaluation_strategy", "epoch"), "Write --eval_strategy epoch instead."),
    (("--evaluation_strategy=epoch",), "Write --eval_strategy epoch instead."),
    (("--torch_dtype", "bfloat16"), "Write --dtype bfloat16 instead."),
    (("--per_gpu_train_batch_size", "4"), "Remove --per_gpu_train_batch_size."),  # the other is not there either
    (("--lerning-rate", "1"), "Did you mean --learning_rate?"),
    (("--zzz", "1"), "Remove --zzz."),
]


@pytest.mark.parametrize(("arguments", "advice"), ADVICE)
def test_what_to_write_for_an_option_that_is_gone_or_misspelt(arguments, advice):
    (row,) = [row for row in rows(source=BY_CLASS, around=TRAINERS, arguments=arguments) if row.check == "options"]
    assert row.advice.startswith(advice)


def options_row(**launch):
    return next((row for row in rows(**launch) if row.check == "options"), None)


def test_an_option_is_suggested_as_its_parser_spells_it():
    source = PARSER + "p.add_argument('--log-with'); p.add_argument('--lr', dest='learning_rate'); p.parse_args()"
    for typed, meant in (("--log_with", "--log-with"), ("--lrr", "--lr")):
        row = options_row(source=source, config_argument=NONE, arguments=(typed, "x"))
        assert row.advice == f"Did you mean {meant}?", typed


def test_an_option_that_is_gone_is_told_by_the_release_where_a_class_of_the_scripts_cant_be_read():
    """That class may declare anything that was not the Trainer's own."""
    newer = {"answers": ScriptAnswers(trainers=frozenset({"eval_strategy", "output_dir"}))}
    older = {"answers": ScriptAnswers(trainers=frozenset({"evaluation_strategy", "output_dir"}))}
    given = {"source": BY_CLASS, "arguments": ("--evaluation_strategy", "no")}
    row = options_row(around=newer, **given)
    assert (row.status, row.advice) == (W, "Write --eval_strategy no instead.")
    assert options_row(around=older, **given) is None
    assert options_row(around={}, **given) is None
    assert options_row(around=newer, source=BY_CLASS, arguments=("--max_seq_length", "64")) is None


def what_to_do(name, value, known):
    return sentences(instead(name, value, known))


def test_a_renamed_option_is_told_in_both_directions():
    assert what_to_do("eval_strategy", "no", {"evaluation_strategy"}) == "This release calls it --evaluation_strategy."
    assert what_to_do("use_cpu", "", {"no_cuda"}) == "This release calls it --no_cuda."
    assert instead("fp16", "", {"bf16"}) is None


def test_an_option_that_was_off_is_removed_and_not_switched_on():
    known = {"use_cpu", "optim", "warmup_steps", "accelerator_config"}
    assert what_to_do("no_cuda", "False", known) == "Remove --no_cuda."
    assert what_to_do("adafactor", "0", known) == "Remove --adafactor."
    assert what_to_do("adafactor", "True", known) == "Write --optim adafactor instead."
    assert what_to_do("warmup_ratio", "0", known).startswith("Write --warmup_steps 0 instead.")
    assert what_to_do("split_batches", "False", known).startswith("Write --accelerator_config")


def test_what_is_missing_says_what_to_install():
    lacks = {
        "answers": ScriptAnswers(
            (
                Absent("sklearn", "", 24),
                Absent("my_own", "", 24),
            )
        )
    }
    found = rows(source=TRAINER + "import sklearn, my_own", around=lacks, target_python="/envs/a b/bin/python")
    (row,) = [row for row in found if row.check == "imports"]
    assert row.command == "'/envs/a b/bin/python' -m pip install scikit-learn"
    assert [str(one) for one in row.items] == [
        "sklearn (line 24): pip install scikit-learn",
        "my_own (line 24): your own code, or another package",
    ]
    assert row.seen.startswith("The training environment lacks 2 modules that the script imports")
    assert row.advice == "For modules of your own, add their folder to PYTHONPATH; install other packages, too."
    shown = rows_as_lines([row])
    assert [line.strip() for line in shown if line.strip().startswith("- ")] == [f"- {one}" for one in row.items]


def test_more_that_is_missing_than_anybody_reads_is_counted():
    lacks = {"answers": ScriptAnswers(tuple(Absent(f"mine_{n}", "", n) for n in range(1, 31)))}
    (row,) = [row for row in rows(source=TRAINER, around=lacks) if row.check == "imports"]
    assert "lacks 30 modules" in row.seen
    assert (len(row.items), str(row.items[-1])) == (12, "And 19 more.")


def test_one_that_is_missing_is_named_in_the_sentence():
    for name, advice in (("sklearn", "Install it there: pip install scikit-learn."), ("mine", "If mine is your own")):
        lacks = {"answers": ScriptAnswers((Absent(name, "", 24),))}
        (row,) = [row for row in rows(source=TRAINER, around=lacks) if row.check == "imports"]
        assert f"lacks {name} (line 24), which" in row.seen
        assert advice in row.advice
        assert row.items == ()


def test_what_lies_above_the_script_is_not_to_be_installed():
    lacks = {"answers": ScriptAnswers((Absent("dschat", "", 4, "/code/chat"), Absent("my_own", "", 5)))}
    (row,) = [row for row in rows(source=TRAINER + "import dschat, my_own", around=lacks) if row.check == "imports"]
    assert row.status is P
    assert "dschat: found in /code/chat. Set PYTHONPATH=/code/chat" in row.advice
    assert "my_own (line 5): your own code, or another package" in map(str, row.items)
    assert not row.command


def test_all_folders_above_the_script_and_the_old_path_are_one_pythonpath():
    above = (Absent("dschat", "", 4, "/code/chat"), Absent("mine", "", 5, "/code"), Absent("too", "", 6, "/code"))
    lacks = {"answers": ScriptAnswers(above, python_path="/a::/b")}
    (row,) = [row for row in rows(source=TRAINER + "import dschat", around=lacks) if row.check == "imports"]
    assert "dschat, mine, too: found in /code/chat, /code. Set PYTHONPATH=/code/chat:/code:/a::/b under" in row.advice
    assert row.advice.count("PYTHONPATH") == 1


def test_what_has_the_name_of_a_package_may_be_installed_though_a_folder_above_the_script_has_it():
    lacks = {"answers": ScriptAnswers((Absent("wandb", "", 4, "/code"),))}
    found = rows(source=TRAINER + "import wandb", around=lacks, target_python="/envs/x/bin/python")
    (row,) = [row for row in found if row.check == "imports"]
    assert "wandb: found in /code. Set PYTHONPATH=/code" in row.advice
    assert "Or install the package there: pip install wandb." in row.advice
    assert row.command == "/envs/x/bin/python -m pip install wandb"


def test_names_of_another_release_and_imports_of_files_beside_it_say_where():
    lacks = {"answers": ScriptAnswers((Absent("openai", "utils.py", 11),), (Absent("transformers.deepspeed", "", 2),))}
    (row,) = [row for row in rows(source=TRAINER, around=lacks) if row.check == "imports"]
    assert row.status is P
    assert [str(one) for one in row.items] == [
        "openai (utils.py, line 11): pip install openai",
        "transformers.deepspeed (line 2): not in the installed release",
    ]
    assert "lacks a module" in row.seen
    assert "lacks a name" in row.seen
    assert "written for another release" in row.advice


def test_keywords_of_another_release_say_where():
    lacks = {"answers": ScriptAnswers(refused=(Absent("Trainer(tokenizer=…)", "", 9),))}
    (row,) = [row for row in rows(source=TRAINER, around=lacks) if row.check == "imports"]
    assert row.status is P
    assert (
        row.seen
        == "The installed release doesn't accept Trainer(tokenizer=…) (line 9): the script ends with TypeError."
    )
    assert "written for another release" in row.advice


def test_files_to_read_are_told_from_those_to_write():
    given = {
        "train_file": ("a.json",), "validation_files": ("b.json", "c.json"), "model_name_or_path": ("./m",),
        "resume_from_checkpoint": ("out/checkpoint-5",), "tokenizer_name": ("org/name",), "log_file": ("l.txt",),
        "output_dir": ("out",), "test_file": ("https://x/y.json",), "data_file": ("*.json",), "logging_dir": ("/l",),
        "data_dir": ("data",), "data_path": ("/d/absent.json", "Dahoas/rm-static", "made.json", "/made"),
        "train_data_path": ("./t.jsonl",), "data_fn": ("../b.jsonl",), "data_output_path": ("/o.json",),
    }  # fmt: skip
    assert [(file.option, file.path) for file in named_files(given)] == [
        ("--train_file", "a.json"), ("--validation_files", "b.json"), ("--validation_files", "c.json"),
        ("--model_name_or_path", "./m"), ("--resume_from_checkpoint", "out/checkpoint-5"),
        ("--data_path", "/d/absent.json"), ("--train_data_path", "./t.jsonl"), ("--data_fn", "../b.jsonl"),
    ]  # fmt: skip


def test_a_file_of_arguments_alone_is_read_and_its_keys_are_known():
    alone = {"config_argument": ConfigArgument.TRAINER, "started_by": StartedBy.TORCHRUN, "arguments": ("a.json",)}
    found = rows(source=BY_CLASS + ALONE, around=NAMED, **alone)
    (row,) = [row for row in found if row.check == "arguments_file"]
    assert row.status is P
    assert "Some keys are not used by the HfArgumentParser: ['fp61']" in row.seen
    assert row.advice == "Did you mean fp16?"


def test_a_file_of_arguments_that_could_not_be_read_is_not_called_fine():
    alone = {"config_argument": ConfigArgument.TRAINER, "started_by": StartedBy.TORCHRUN, "arguments": ("a.json",)}
    broken = TRAINERS | {"arguments_file": ArgumentsFromFile("a.json", problem="line 2: Expecting value")}
    (row,) = [row for row in rows(source=BY_CLASS + ALONE, around=broken, **alone) if row.check == "arguments_file"]
    assert row.status is P
    assert row.seen.startswith("a.json: line 2: Expecting value. The script can’t read its arguments there")
    absent = TRAINERS | {"arguments_file": ArgumentsFromFile("a.json", was_read=False)}
    assert "arguments_file" not in {row.check for row in rows(source=BY_CLASS + ALONE, around=absent, **alone)}


def test_a_file_of_arguments_beside_other_words_is_not_looked_at():
    found = rows(source=BY_CLASS + ALONE, around=NAMED, arguments=("a.json",))
    (row,) = [row for row in found if row.check == "arguments_file"]
    assert row.status is P
    assert "is also given --deepspeed FILE and --local_rank" in row.seen
    assert "takes_config" not in {row.check for row in found}  # one cause, one row
    alone = {"config_argument": ConfigArgument.TRAINER, "passes_local_rank": False}
    said = {row.check for row in rows(source=BY_CLASS + ALONE, around=NAMED, arguments=("a.json",), **alone)}
    assert {"takes_config", "arguments_file"} <= said


CLICKS = [
    ("--fp16 --overwrite_output_dir --dtype x", "--fp16 --dtype x"),
    ("--evaluation_strategy=no --fp16", "--eval_strategy no --fp16"),
    ("--no_cuda --overwrite_output_dir True --dtype 'a b'", "--use_cpu --dtype 'a b'"),
    ("--no_cuda False --fp16", "--fp16"),
    ("--no_cuda True --fp16", "--use_cpu --fp16"),
    ("--deepspeed ds.json --fp16", "--fp16"),
    ("--fp16 --deepspeed", "--fp16"),
    ("--split_batches True", None),
    ("--fp61", "--fp16"),
    ("--fp16 --fp61", None),  # which of them is meant?
    ("--nothing-alike 3 --fp61", "--fp16"),
    ("--nothing-alike 3 4 --fp16", None),  # more than one value
    ("--fp16", None),
]


def better_arguments(asked):
    """What is offered first."""
    return next(argument_offers(asked), None)


def clicked(asked, typed):
    """The arguments after the click; None where none is offered."""
    found = better_arguments(asked)
    return _accepted(found, "NONE", typed, "")[1] if found else None


@each_case(("typed", "after"), CLICKS)
def test_an_option_that_is_gone_or_unknown_goes_with_a_click(typed, after):
    assert clicked(asked_with(BY_CLASS, WIDE, shlex.split(typed)), typed) == after
    if after is not None:
        assert better_arguments(asked_with(BY_CLASS, WIDE, shlex.split(after))) is None


# What the source says, and the same parser itself.
OPTIONS = {
    "--lr": {"type": float},
    "--batch-size": {"type": int},
    "--no-warmup": {"action": "store_true"},
    "--name": {},
    "-b": {"type": int},
    "--epochs": {"type": int},
    "--several": {"nargs": "+"},
}


@each_case(
    ("typed", "after"),
    [
        ("--lr 1 --epoch-s 3 --no-such x", "--lr 1 --epochs 3"),
        ("--lrr=1e-4", "--lr=1e-4"),
        ("--lrr=-1e-4", "--lr=-1e-4"),
        ("-z --no-warmup", "--no-warmup"),
        ("--batch_size 8 --lr 1", "--batch-size 8 --lr 1"),
        ("--no_warmup --lr 1", "--no-warmup --lr 1"),
        ("-lr 1e-4", "--lr 1e-4"),
        ("--name epochs --epochz 3", "--name epochs --epochs 3"),
        ("--no-such -b 8", "-b 8"),
        ("--no-such -b8", "-b8"),
        ("--severall 3", "--several 3"),
        ("--epochz '3' --name 'a b'", "--epochs 3 --name 'a b'"),
        # What may be meant otherwise stays for its user.
        ("--batch-size 4 --batch_size 8", None),
        ("--lrr", None),
        ("--lrr=", None),
        ("--no-warmupp 3", None),
        ("--severall 3 4", None),
        ("--no-such x --lr 1 --no-such y z", None),
        ("--no-such x y --lr 1 --no-such", None),
    ],
)
def test_a_click_makes_what_a_parser_ends_at_one_that_it_takes(typed, after):
    parser = argparse.ArgumentParser(exit_on_error=False)
    calls = [
        parser.add_argument(name, **how) and f"p.add_argument('{name}', {_spelled(how)})"
        for name, how in OPTIONS.items()
    ]
    source = PARSER + "; ".join(calls) + "; p.parse_args()"
    assert clicked(asked_with(source, {}, shlex.split(typed)), typed) == after
    if after is not None:
        assert not parser.parse_known_args(shlex.split(after))[1]
        assert better_arguments(asked_with(source, {}, shlex.split(after))) is None


def _spelled(how):
    return ", ".join(
        f"{key}={value.__name__ if isinstance(value, type) else repr(value)}" for key, value in how.items()
    )


@pytest.mark.parametrize("source", [WHOLE.replace("parse_args", "parse_known_args"), "p.add_argument('data'); "])
def test_nothing_goes_where_a_parser_lets_the_rest_be_or_takes_words_without_an_option(source):
    whole = source if source.startswith("import") else WHOLE.replace("p.parse_args", f"{source}p.parse_args")
    assert better_arguments(asked_with(whole, {}, ["--no-such", "x"])) is None


def test_tf32_goes_with_a_click_where_no_gpu_can():
    asked = asked_with(TRAINER, {}, ["--tf32", "True"])
    found = better_arguments(replace(asked, around=replace(asked.around, machine=ASKED)))
    assert (str(found.label), found.words, found.without) == ("Remove --tf32", (), ("--tf32",))


@each_case(
    ("typed", "after"),
    [("--fp16", "--fp16 --use_cpu"), ("--use_cpu False --fp16", "--fp16 --use_cpu"), ("", "--use_cpu")],
)
def test_use_cpu_is_added_with_a_click_where_ranks_need_it(typed, after):
    def offered(words):
        asked = asked_with(TRAINER, {}, shlex.split(words))
        here = replace(asked, around=replace(asked.around, machine=ASKED))
        return better_arguments(replace(here, launch=replace(here.launch, ranks=2)))

    found = offered(typed)
    assert str(found.label) == "Add --use_cpu to the arguments"
    assert _accepted(found, "NONE", typed, "")[:2] == ("NONE", after)
    assert offered(after) is None


def test_one_press_does_not_wait_for_another():
    asked = asked_with(BY_CLASS, WIDE, ["--overwrite_output_dir"])
    here = replace(asked, around=replace(asked.around, machine=ASKED), launch=replace(asked.launch, ranks=2))
    assert [offer.at for offer in argument_offers(here)] == ["options", "use_cpu"]
    gone = replace(here, launch=replace(here.launch, arguments=("--no_cuda",)))
    assert [offer.at for offer in argument_offers(gone)] == ["options"]  # which brings it


def test_use_cpu_is_not_added_where_the_script_takes_it_otherwise_or_not_at_all():
    def offered(asked, **answers):
        here = replace(asked.around, machine=ASKED, answers=replace(asked.around.answers, **answers))
        return better_arguments(replace(asked, around=here, launch=replace(asked.launch, ranks=2)))

    assert offered(asked_with(TRAINER, {}, ["--fp16"]), trainers=frozenset({"no_cuda"})) is None
    assert offered(asked_with(TRAINER, {}, ["--fp16"]), trainers=frozenset({"use_cpu"})) is not None
    assert offered(asked_with(BY_CLASS + ALONE, NAMED, ["a.json"])) is None


def test_the_click_says_what_it_does():
    typed = ["--overwrite_output_dir", "--no_cuda"]
    assert str(better_arguments(asked_with(BY_CLASS, WIDE, typed[:1])).label) == "Remove --overwrite_output_dir"
    both = better_arguments(asked_with(BY_CLASS, WIDE, typed)).label
    assert str(both) == "Replace --no_cuda with --use_cpu, remove --overwrite_output_dir"
    assert better_arguments(asked_with(BY_CLASS, {}, typed)) is None  # where not all options are known


def test_a_package_is_not_missed_where_the_run_has_a_path_of_its_own():
    wandb, path = {"wandb": {"enabled": True}}, {"PYTHONPATH": "/opt/more"}
    told = rows(wandb, machine=lacking("wandb"), environment=path)
    assert [row.status for row in told if row.check == "needs"] == [Status.UNKNOWN]
    assert [row.status for row in rows(wandb, machine=lacking("wandb")) if row.check == "needs"] == [Status.PROBLEM]


def test_a_config_that_fails_with_the_arguments_is_not_called_fine_too():
    told = rows(by_arguments=(ERROR,))
    assert [row.status for row in told if row.check in ("config", "agreement")] == [Status.PROBLEM]


@pytest.mark.parametrize(
    "config",
    [
        {"datastates_ckpt": False, "tensorboard": {"enabled": False}, "optimizer": {"type": "AdamW"}},
        {"datastates_ckpt": {}, "checkpoint": {"writer": {"type": "fast"}}},
    ],
)
def test_a_package_that_deepspeed_does_not_import_for_this_config_is_not_missed(config):
    machine = lacking(*NEEDED)
    assert "needs" not in {row.check for row in rows(config, machine=machine)}
    older = old("deepspeed", "0.16.9")
    older = replace(older, environment=replace(older.environment, target=replace(
        older.environment.target, lacking=("datastates",))))  # fmt: skip
    assert "needs" not in {row.check for row in rows({"datastates_ckpt": {}}, machine=older)}


PROGRAMS = {
    "answers": ({"sbatch": "", "sinfo": "echo debug"}, SlurmAnswer("sinfo", answers=True)),
    "down": (
        {"sbatch": "", "sinfo": "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1"},
        SlurmAnswer("sinfo", words="slurm_load_partitions: Unable to contact slurm controller"),
    ),
    "silent": ({"sbatch": "", "sinfo": "exec /bin/sleep 60"}, SlurmAnswer("sinfo", silent=True)),
    "ping": (
        {"sbatch": "", "scontrol": "echo 'Slurmctld(primary) at login is UP'"},
        SlurmAnswer("scontrol", answers=True),
    ),
    "ping_down": (
        {"sbatch": "", "scontrol": "echo 'Slurmctld(primary) at login is DOWN'"},
        SlurmAnswer("scontrol", words="Slurmctld(primary) at login is DOWN"),
    ),
    "no_sinfo": ({"sbatch": ""}, SlurmAnswer()),
    "no_slurm": ({}, SlurmAnswer(submits=False)),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_slurm_is_asked_where_the_job_would_be_submitted(tmp_path, case):
    programs, expected = PROGRAMS[case]
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    assert asked({"PATH": str(tmp_path)}, limit_s=1.0 if case == "silent" else 20.0) == expected


def test_slurm_is_asked_again_only_after_a_while(tmp_path):
    program, now = tmp_path / "sinfo", [0.0]
    (tmp_path / "sbatch").write_text("#!/bin/sh\n", "utf-8")
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    for path in tmp_path.iterdir():
        path.chmod(0o755)
    slurm = SlurmAsked(lambda: now[0])
    assert not slurm.answer({"PATH": str(tmp_path)}).answers
    program.write_text("#!/bin/sh\nexit 0\n", "utf-8")
    assert not slurm.answer({"PATH": str(tmp_path)}).answers
    now[0] = 60.0
    assert slurm.answer({"PATH": str(tmp_path)}).answers


def test_what_changes_memory_is_named_as_it_is_set():
    """“auto” is what an argument says: the key would stay as it is."""
    advised = {}
    for value in (True, "auto"):
        launch = Launch({"bf16": {"enabled": value}}, (), "1 GPU", 1, script="/train.py", memory=TOO_LARGE)
        rows = preflight(launch, Surroundings(script_facts(PARSER), ON_CPU))
        advised[value] = next(row.advice for row in rows if row.check == "model_memory")
    assert "bf16.enabled" in advised[True]
    assert "--bf16" in advised["auto"]
    assert "bf16.enabled" not in advised["auto"]
