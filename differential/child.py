"""Tries configs in the DeepSpeed that this interpreter imports. Run by path; reads one JSON question a line.

A question: {"text": the config's text, "reader": "native" or "hf", "world_size": n} and, where wanted, "script" (how
the training script behaves, see `differential/oracle.py`), "training_arguments" (what the HF Trainer is given) and
"until" ("parse", "initialize" or "step", the default). The answer: {"verdict": "ok", "reject" or "unavailable",
"stage": where it stopped or how far it came, "message": the exception}.

Each question is tried in a forked child: DeepSpeed keeps much in globals. One rank is a real gloo group; more ranks
are torch's fake group, whose collectives do nothing, so those end after deepspeed.initialize.
"""

import contextlib
import importlib
import json
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

os.environ["DS_ACCELERATOR"] = "cpu"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # compilers and C++ write to the first output too: only answers may go there
sys.stdout = sys.stderr
warnings.simplefilter("ignore")

import cpuinfo  # noqa: E402
import deepspeed  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402 — every optimizer imports it, for seconds: here once, not in each child
from deepspeed.accelerator import get_accelerator  # noqa: E402
from deepspeed.ops.op_builder.cpu import CPUAdamBuilder, FusedAdamBuilder  # noqa: E402

logging.disable(logging.CRITICAL)
OPS_OF_ANOTHER = "DSGUI_OPS_OF_THE_ENVIRONMENT"
LIMIT_S, MOST_MICRO_STEPS = 300, 64
# What this machine lacks, which says nothing about the config.
MACHINE = re.compile(
    r"async_io|libaio|AsyncIOBuilder|No module named '(wandb|tensorboard|tensorboardX|comet_ml|mup|swanlab|triton|cupy)"
    r"|Can ?[nN]?o?t? ?allocate memory|can't allocate|Unable to JIT load|CUDA_HOME|Torch not compiled with CUDA"
    r"|NotImplementedBuilder|'NoneType' object has no attribute 'load'|No such file or directory: '/"
    r"|Permission denied: '/|Read-only file system|please install (wandb|tensorboard|comet|mup)"
    r"|Please install DataStates|mup must be installed|No device detected|Cannot access accelerator device"
    r"|not been implemented on CPU backend"
)


class FarEnough(Exception):
    """The stage that was asked for is behind us."""


def config_file(question):
    """Both readers are given a file, as scripts give them one."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
        file.write(question["text"])
    return file.name


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ranks(world_size, rank):
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world_size), LOCAL_WORLD_SIZE=str(world_size)
    )
    os.environ.update(LOCAL_SIZE=str(world_size), CROSS_RANK="0", CROSS_SIZE="1", MASTER_ADDR="127.0.0.1")
    os.environ["MASTER_PORT"] = str(free_port())
    # The shared-memory all-reduce would leave 66 MB a child in /dev/shm, and waits for ranks that are not there.
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
    if world_size > 1:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        torch.distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world_size)
    deepspeed.init_distributed(dist_backend="gloo")


def set_accelerator(script):
    """The config is judged, not this machine's data types: a script says where they are what it is about."""
    kind = type(get_accelerator())
    fp16, bf16 = script.get("fp16_supported", True), script.get("bf16_supported", True)
    kind.is_fp16_supported, kind.is_bf16_supported = (lambda self: fp16), (lambda self: bf16)
    if "transformers.training_args" in sys.modules:
        sys.modules["transformers.training_args"].is_torch_bf16_gpu_available = lambda: True
    types = [torch.float] + [torch.half] * fp16 + [torch.bfloat16] * bf16
    kind.supported_dtypes = lambda self: types


# ------------------------------------------------------------------------------------------------------------ native
def small_model(script):
    if script.get("model") == "pipeline":
        from deepspeed.pipe import LayerSpec, PipelineModule

        layers = [LayerSpec(torch.nn.Linear, 8, 8), LayerSpec(torch.nn.Linear, 8, 8)]
        return PipelineModule(layers, num_stages=1, loss_fn=torch.nn.functional.mse_loss)
    if script.get("model") == "llama":  # one that tensor parallelism recognises
        return small_llama(script)
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))


def of_the_script(model, script, path):
    """The optimizer that the script passes: only where the file has none."""
    name = script.get("optimizer", "torch.optim.AdamW")
    if name is None or has_optimizer(path):
        return {}
    kind = torch.optim.AdamW if name == "torch.optim.AdamW" else deepspeed.ops.adam.DeepSpeedCPUAdam
    return {"optimizer": kind(model.parameters(), lr=1e-3)}


def has_optimizer(path):
    import hjson

    with contextlib.suppress(ValueError, TypeError, AttributeError):
        return "type" in (hjson.loads(Path(path).read_text("utf-8")).get("optimizer") or {})
    return True


def natively(question, path):
    script, until = question.get("script") or {}, question.get("until", "step")
    if until == "parse":
        deepspeed.DeepSpeedConfig = stops_after(deepspeed.DeepSpeedConfig)
    model = small_model(script)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    engine = deepspeed.initialize(
        model=model, model_parameters=parameters, config=path, **of_the_script(model, script, path)
    )[0]
    if script.get("checkpointing"):
        deepspeed.checkpointing.configure(None, deepspeed_config=path)
    if until == "initialize" or question["world_size"] > 1:
        return "initialize"
    for _ in range(script.get("steps", 2)):
        one_step(engine)
    if script.get("save"):
        save(engine)
    return "step"


def stops_after(parse):
    """deepspeed.initialize reads the file in its own way before it parses, so it is the one that is called."""

    def parsed(*arguments, **rest):
        parse(*arguments, **rest)
        raise FarEnough

    return parsed


def one_step(engine):
    dtype = next(engine.module.parameters()).dtype
    if hasattr(engine, "train_schedule") or type(engine).__name__ == "PipelineEngine":
        engine.train_batch(iter(lambda: (torch.randn(2, 8, dtype=dtype), torch.randn(2, 8, dtype=dtype)), None))
        return
    if type(engine.optimizer).__name__ == "DeepSpeedZeRoOffload":  # stage 3 without an optimizer: inference
        engine(torch.randn(2, 8, dtype=dtype))
        return
    for _ in range(min(int(engine.gradient_accumulation_steps()) or 1, MOST_MICRO_STEPS)):
        engine.backward(engine(torch.randn(2, 8, dtype=dtype)).float().square().mean())
        engine.step()


def save(engine):
    with tempfile.TemporaryDirectory() as folder:
        engine.save_16bit_model(folder)
        if not list(Path(folder).iterdir()):
            raise FileNotFoundError("save_16bit_model wrote no file")


# ---------------------------------------------------------------------------------------------------------- HF Trainer
def through_the_trainer(question, path):
    from accelerate.state import DistributedType, PartialState
    from transformers import Trainer, TrainerCallback, TrainingArguments

    # On a GPU machine this is "nccl"; without a GPU accelerate would count one process whatever the group says.
    PartialState._prepare_backend = lambda *arguments, **rest: ("gloo", DistributedType.NO)
    until, script = question.get("until", "step"), question.get("script") or {}

    class Stop(TrainerCallback):
        def on_train_begin(self, arguments, state, control, **rest):
            if until == "initialize" or question["world_size"] > 1:
                raise FarEnough

        def on_step_end(self, arguments, state, control, **rest):
            control.should_training_stop = True

    with tempfile.TemporaryDirectory() as folder:
        given = {"max_steps": 100, **(question.get("training_arguments") or {})}
        arguments = TrainingArguments(
            output_dir=folder, deepspeed=path, report_to=[], save_strategy="no", logging_strategy="no",
            disable_tqdm=True, **given,
        )  # fmt: skip
        trainer = Trainer(model=small_llama(script), args=arguments, train_dataset=Texts(), callbacks=[Stop()])
        try:
            trainer.train()
        except FarEnough:
            return "initialize"
    if not isinstance(trainer.model_wrapped, deepspeed.DeepSpeedEngine):
        raise RuntimeError("the HF Trainer trained without DeepSpeed")
    return "step"


def small_llama(script):
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, max_position_embeddings=32, **sizes))


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        tokens = torch.arange(8) + index % 32
        return {"input_ids": tokens, "labels": tokens}


# --------------------------------------------------------------------------------------------------------------- answer
def stage_of(error, reader):
    """Where an exception was raised, read from its traceback."""
    frames = [(frame.filename, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    if any(file.endswith("deepspeed/runtime/config.py") and name == "__init__" for file, name in frames):
        return "parse"
    if any(file.endswith("deepspeed/__init__.py") and name == "initialize" for file, name in frames):
        return "initialize"
    if any(name == "small_model" for _, name in frames):
        return "initialize"
    stepped = any(name in ("training_step", "one_step", "save", "_inner_training_loop") for _, name in frames)
    prepared = any(name in ("_prepare_deepspeed", "prepare", "deepspeed_init") for _, name in frames)
    return "trainer" if reader == "hf" and (prepared or not stepped) else "step"


def answer(question):
    path = config_file(question)
    hf = question["reader"] == "hf"
    os.chdir(tempfile.gettempdir())  # the autotuner leaves a file where it runs
    try:
        set_accelerator(question.get("script") or {})
        start_ranks(question["world_size"], (question.get("script") or {}).get("rank", 0))
        came_to = through_the_trainer(question, path) if hf else natively(question, path)
    except FarEnough:
        came_to = "parse"
    except BaseException as error:  # noqa: BLE001 — whatever DeepSpeed raises is the answer, a SystemExit too
        message = f"{type(error).__name__}: {error}".strip().replace(path, "ds_config.json")
        verdict = "unavailable" if MACHINE.search(message) else "reject"
        return {"verdict": verdict, "stage": stage_of(error, question["reader"]), "message": message[:400]}
    finally:
        os.unlink(path)
    return {"verdict": "ok", "stage": came_to, "message": ""}


def in_a_child(question):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(LIMIT_S)
        os.write(write, json.dumps(answer(question)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    ended = f"the process ended with status {os.waitstatus_to_exitcode(status)}"
    return json.loads(text or json.dumps({"verdict": "crash", "stage": "", "message": ended}))


def borrow(builder):
    """Takes the op that the environment's own DeepSpeed compiled: it is called alike in all releases asked here, and
    compiling it for each takes minutes. Two releases would also overwrite each other's in torch's one cache."""
    from torch.utils.cpp_extension import _get_build_directory, _import_module_from_library

    folder = _get_build_directory(builder.NAME, verbose=False)
    op = _import_module_from_library(builder.NAME, folder, is_python_module=True)
    builder.load = lambda self, verbose=False: op


def warm_up():
    """What each child would load anew: CPU Adam and the processor's description."""
    known = cpuinfo.get_cpu_info()  # DeepSpeed's CPU optimizers ask anew each time, which takes seconds
    cpuinfo.get_cpu_info = lambda: known
    for builder in (CPUAdamBuilder, FusedAdamBuilder):
        if os.environ.get(OPS_OF_ANOTHER):
            borrow(builder)
        builder().load(verbose=False)


def load_trainer():
    for name in ("accelerate.accelerator", "transformers.trainer", "transformers.models.llama.modeling_llama"):
        importlib.import_module(name)


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        one = json.loads(line)
        if one["reader"] == "hf":
            load_trainer()
        print(json.dumps(in_a_child(one)), file=answers, flush=True)
