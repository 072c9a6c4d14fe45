"""Records what real failures print: `python tests/support/record_failures.py [NAME…]` writes
tests/examples/failures/*.log.

Each failure is made on purpose under DeepSpeed's own launcher, on CPU ranks. What names a machine (paths, the host)
is replaced, so that a recording says the same wherever it was made.
"""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

FOLDER = Path(__file__).parents[1] / "examples" / "failures"
TIMEOUT_S = 280

NATIVE = """
    import argparse, os, sys, torch, deepspeed
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    deepspeed.add_config_arguments(parser)
    options = parser.parse_args()
    deepspeed.init_distributed("gloo")
    rank = torch.distributed.get_rank()
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
"""
ENGINE = "engine, *_ = deepspeed.initialize(args=options, model=model, model_parameters=model.parameters())"
TRAIN = """
    for step in range(3):
        loss = engine(torch.ones(1, 8)).mean()
        engine.backward(loss)
        engine.step()
"""
ADAM = {"type": "Adam", "params": {"lr": 0.001, "torch_adam": True}}
HF = """
    from transformers import T5Config, T5ForConditionalGeneration, Trainer, HfArgumentParser, TrainingArguments
    import sys, torch
    (arguments,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = T5ForConditionalGeneration(T5Config(vocab_size=64, d_model=16, d_kv=4, d_ff=32, num_layers=1, num_heads=2,
                                                decoder_start_token_id=0))
    rows = [{"input_ids": torch.ones(4, dtype=torch.long), "labels": torch.ones(4, dtype=torch.long)}] * 64
    Trainer(model, arguments, train_dataset=rows).train()
"""
ON_GPU_WORDS = ("--output_dir", "out", "--report_to", "none", "--max_steps", "2", "--save_strategy", "no")
HF_WORDS = ("--output_dir", "out", "--use_cpu", "--report_to", "none", "--max_steps", "2", "--save_strategy", "no")


@dataclass(frozen=True)
class Failure:
    """What to run; `launched` False is a plain Python without the launcher. `words` go to the script."""

    source: str
    config: dict = field(default_factory=lambda: {"train_micro_batch_size_per_gpu": 1, "optimizer": ADAM})
    words: tuple[str, ...] = ()
    how: str = "native"
    ranks: int = 2
    environment: dict = field(default_factory=dict)
    busy_port: bool = False
    address_space_bytes: int = 0  # as `ulimit -v` sets it, in KiB
    twice: tuple[int, int] | None = None  # ranks of a first run that succeeds, and of the second that fails


def zero(**block: object) -> dict:
    return {"train_micro_batch_size_per_gpu": 1, "optimizer": ADAM, "zero_optimization": block}


def native(*rest: str) -> str:
    return dedent(NATIVE) + "\n".join(dedent(part) for part in rest)


AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "zero_optimization": {"stage": 1},
}
SAVE_THEN_LOAD = """
    found = os.path.isdir("saved")
    torch.distributed.barrier()
    if found:
        engine.load_checkpoint("saved")
    else:
        engine.save_checkpoint("saved")
"""
FAILURES = {
    "batch-identity": Failure(
        native(ENGINE), {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
    ),
    "auto-natively": Failure(native(ENGINE), {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}),
    "hf-mismatch": Failure(
        HF,
        {
            "train_micro_batch_size_per_gpu": 8,
            "gradient_accumulation_steps": 1,
            "optimizer": {"type": "AdamW", "params": {"lr": 0.001}},
            "zero_optimization": {"stage": 1},
        },
        (*HF_WORDS, "--per_device_train_batch_size", "4"),
        "hf",
    ),
    "local-rank-argument": Failure(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr')\nparser.parse_args()\n",
        how="none",
    ),
    "deepspeed-argument": Failure(
        "import argparse\nparser = "
        "argparse.ArgumentParser()\nparser.add_argument('--local_rank')\nparser.parse_args()\n",
        how="hf",
    ),
    "unknown-key": Failure(native(ENGINE), zero(stage=1, stagee=2, reduce_bucket=5)),
    "wrong-type": Failure(native(ENGINE), zero(stage="two", overlap_comm="maybe")),
    "untested-optimizer": Failure(
        native(
            "client = torch.optim.Adadelta(model.parameters())",
            "engine, *_ = deepspeed.initialize(args=options, model=model, optimizer=client)",
        ),
        {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}},
    ),
    "offload-client-optimizer": Failure(
        native(
            "client = torch.optim.SGD(model.parameters(), lr=0.1)",
            "engine, *_ = deepspeed.initialize(args=options, model=model, optimizer=client)",
        ),
        {
            "train_micro_batch_size_per_gpu": 1,
            "zero_allow_untested_optimizer": True,
            "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}},
        },
    ),
    "zero-needs-optimizer": Failure(
        native(ENGINE, TRAIN), {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}
    ),
    "address-in-use": Failure(native(ENGINE), busy_port=True),
    "disk-full": Failure(native(ENGINE, "torch.save(model.state_dict(), open('/dev/full', 'wb'))")),
    "disk-full-plain": Failure("open('/dev/full', 'w').write('x' * 100_000)\n", how="none"),
    "module-missing": Failure("import no_such_package.parts\n", how="none"),
    "file-missing": Failure("open('data/train.jsonl')\n", how="none"),
    "killed": Failure(native(ENGINE, "if rank == 1: os.kill(os.getpid(), 9)", TRAIN, "import time; time.sleep(30)")),
    "segfault": Failure(
        native("import ctypes, faulthandler; faulthandler.enable()", "if rank == 1: ctypes.string_at(0)", ENGINE)
    ),
    "checkpoint-world-size": Failure(native(ENGINE, SAVE_THEN_LOAD), zero(stage=2), twice=(2, 1)),
    "checkpoint-shapes": Failure(
        native(
            "if os.path.isdir('saved'): model = torch.nn.Sequential(torch.nn.Linear(8, 9), torch.nn.Linear(9, 1))",
            "torch.distributed.barrier()",
            ENGINE,
            SAVE_THEN_LOAD,
        ),
        twice=(2, 2),
    ),
    "fp16-unsupported": Failure(
        native(ENGINE), zero(stage=1) | {"fp16": {"enabled": True}}, environment={"DS_ACCELERATOR": "cpu"}
    ),
    "syntax": Failure("for step in range(3):\nprint(step)\n", how="none"),
    "hub-offline": Failure(
        "from transformers import "
        "AutoModelForSeq2SeqLM\nAutoModelForSeq2SeqLM.from_pretrained('google/flan-t5-small')\n",
        how="none",
        environment={"HF_HUB_OFFLINE": "1"},
    ),
    "device-map": Failure(
        dedent(HF).replace(
            "rows =",
            "model.save_pretrained('m' + str(arguments.process_index))\n"
            "T5ForConditionalGeneration.from_pretrained('m' + str(arguments.process_index), device_map='auto')\nrows =",
        ),
        {"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 3}},
        HF_WORDS,
        "hf",
    ),
    "gloo": Failure(
        "import os, datetime, torch.distributed as dist\nif os.environ['RANK'] == '0':\n"
        "    dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=4))\n",
        how="none",
    ),
    "gloo-peer-gone": Failure(
        native("if rank == 1: raise ValueError('rows must not be empty')", "torch.distributed.barrier()")
    ),
    "async-io": Failure(
        native(ENGINE),
        zero(stage=3, offload_param={"device": "nvme", "nvme_path": "nvme"}) | {"optimizer": {"type": "Adam"}},
    ),
    "no-compiler": Failure(
        native("from deepspeed.ops.op_builder import CPUAdagradBuilder", "CPUAdagradBuilder().load()"),
        environment={"CXX": "no-such-compiler", "TORCH_EXTENSIONS_DIR": "extensions"},
        ranks=1,
    ),
    "hangup": Failure("import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\n", how="none"),
    "state-dict": Failure(
        "import torch\ntorch.nn.Linear(4, 4).load_state_dict(torch.nn.Linear(4, 5).state_dict())\n", how="none"
    ),
    "use-cpu-batch": Failure(HF, AUTO, ON_GPU_WORDS, "hf"),
    "use-cpu-mismatch": Failure(
        HF,
        AUTO | {"train_micro_batch_size_per_gpu": 8, "train_batch_size": 16, "gradient_accumulation_steps": 1},
        ON_GPU_WORDS,
        "hf",
    ),
    "zero-block-missing": Failure(HF, {"train_micro_batch_size_per_gpu": "auto"}, HF_WORDS, "hf"),
    "example-too-new": Failure(
        "from transformers.utils import check_min_version\ncheck_min_version('99.1.0.dev0')\n", how="none", ranks=1
    ),
    "package-too-old": Failure(
        "from transformers.utils.versions import require_version\n"
        "require_version('datasets>=99.0', 'To fix: pip install -r examples/pytorch/translation/requirements.txt')\n",
        how="none",
        ranks=1,
    ),
    "use-cpu-bf16": Failure(HF, AUTO | {"bf16": {"enabled": "auto"}}, (*ON_GPU_WORDS, "--bf16"), "hf"),
    "hf-fp16-cpu": Failure(HF, AUTO | {"fp16": {"enabled": "auto"}}, (*HF_WORDS, "--fp16"), "hf"),
    "hf-mismatch-calculated": Failure(
        HF, AUTO | {"train_batch_size": 64, "gradient_clipping": 0.5}, (*HF_WORDS, "--max_grad_norm", "1.0"), "hf"
    ),
    "option-gone": Failure(HF, AUTO, (*HF_WORDS, "--overwrite_output_dir", "--evaluation_strategy", "no"), "hf"),
    "option-unknown": Failure(native(ENGINE), words=("--epochs", "3", "--fp32")),
    "dataset-unreachable": Failure(
        "from datasets import load_dataset\nload_dataset('wikitext', 'wikitext-2-raw-v1')\n", how="none", ranks=1
    ),
    "evaluate-unreachable": Failure("import evaluate\nevaluate.load('sacrebleu')\n", how="none", ranks=1),
    "evaluate-offline": Failure(
        "import evaluate\nevaluate.load('sacrebleu')\n", how="none", ranks=1, environment={"HF_HUB_OFFLINE": "1"}
    ),
    "hub-unreachable": Failure(
        "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('google-t5/t5-small')\n",
        how="none",
        ranks=1,
    ),
    "model-folder-missing": Failure(
        "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('./models/t5')\n", how="none", ranks=1
    ),
    "data-file-missing": Failure(
        "from datasets import load_dataset\nload_dataset('json', data_files={'train': 'data/train.json'})\n",
        how="none",
        ranks=1,
    ),
    "data-folder-missing": Failure(
        "from datasets import load_from_disk\nload_from_disk('data/tokenized')\n", how="none", ranks=1
    ),
    "address-space": Failure(
        native(ENGINE, "torch.empty(4 << 30)"),
        address_space_bytes=12 << 30,
        ranks=1,
        environment={"OMP_NUM_THREADS": "1"},
    ),
    "address-space-libraries": Failure(native(ENGINE), address_space_bytes=1 << 30, ranks=1),
    "host-memory-tensor": Failure(native(ENGINE, "torch.empty(1 << 50)"), ranks=1),
    "torch-without-cuda": Failure(native(ENGINE, "engine.module.cuda()"), ranks=1),
    "config-twice": Failure(
        native(
            "engine, *_ = deepspeed.initialize(args=options, model=model, model_parameters=model.parameters(), "
            "config={'train_batch_size': 2})"
        )
    ),
    "config-twice-option": Failure(HF, AUTO, ("--deepspeed", *HF_WORDS), "hf"),
    "prints-between": Failure(
        """
        import os, sys, time
        if os.environ["RANK"] == "1":
            time.sleep(1)
            raise ValueError("rows must not be empty")
        for number in range(200):
            print(f"rank 0: Loading: shard {number} of 200", flush=True)
            time.sleep(0.02)
        """,
        how="none",
    ),
    "unknown": Failure(
        native("def collate(rows):\n    return rows[0]['labels']\n", "collate([{'input_ids': 1}])"),
    ),
}


def main(names: list[str]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or FAILURES:
        failure = FAILURES[name]
        with tempfile.TemporaryDirectory() as folder:
            code, output = record(failure, Path(folder))
            (FOLDER / f"{name}.log").write_text(tidy(output, folder), encoding="utf-8")
        print(name, "ended with", code, flush=True)
    return 0


def record(failure: Failure, folder: Path) -> tuple[int, str]:
    (folder / "ds_config.json").write_text(json.dumps(failure.config))
    (folder / "train.py").write_text(dedent(failure.source))
    if failure.twice:
        run(failure, folder, failure.twice[0])
        return run(failure, folder, failure.twice[1])
    return run(failure, folder, failure.ranks)


def run(failure: Failure, folder: Path, ranks: int) -> tuple[int, str]:
    words = {"hf": ["--deepspeed", "ds_config.json"], "none": []}
    given = words.get(failure.how, ["--deepspeed", "--deepspeed_config", "ds_config.json"])
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        if failure.busy_port:
            held.listen()
        else:
            held.close()
        launcher = [sys.executable, "-m", "deepspeed.launcher.runner", f"--num_gpus={ranks}", f"--master_port={port}"]
        process = subprocess.Popen(
            [*launcher, "train.py", *failure.words, *given],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "TQDM_DISABLE": "1", **failure.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: (
                failure.address_space_bytes
                and resource.setrlimit(resource.RLIMIT_AS, (failure.address_space_bytes,) * 2)
            ),
        )
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the ranks outlive their launcher
    return process.returncode, output.decode("utf-8", "replace")


def tidy(output: str, folder: str) -> str:
    """Without what names this machine."""
    output = output.replace(folder, "/home/you/project").replace(sys.prefix, "/home/you/env")
    output = output.replace(os.path.realpath(sys.base_prefix), "/usr").replace(socket.gethostname(), "node1")
    output = re.sub(r"/(?:tmp|work|root)/[\w./-]*", "/home/you/other", output)
    output = re.sub(r"https://[\w.-]+", "https://hub.example", output)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", "2026-01-31 12:00:00,000", output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
