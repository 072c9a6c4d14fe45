"""What the user says about a run: each field declared once, for the Launch page and the command line alike.

A field's value is what its input contains: a text, a number, a tick; for `GPUS`, the numbers as texts. `spec.py` turns
them into the run's spec.
"""

from collections.abc import Mapping
from typing import Any

from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.plan import AS_SCRIPT_READS, PLACEHOLDER, WHEN_BUSY, StartedBy
from dsgui.core.launch.planned import THIS_MACHINE
from dsgui.core.launch.where import PLACES
from dsgui.core.machine.hardware import ALIASES, CARDS
from dsgui.core.memory.choice import ATTENTIONS, USUAL_LENGTH

OWN_SCRIPT = "own"


_READERS = (
    ("Detect from script", AS_SCRIPT_READS),
    ("--deepspeed FILE (HF Trainer)", "hf"),
    ("--deepspeed --deepspeed_config FILE (native)", "native"),
    ("deepspeed=FILE (LLaMA-Factory with a YAML file)", "llamafactory"),
    ("Environment, as “accelerate launch” sets it", "accelerate"),
    ("Environment, as Lightning reads it", "lightning"),
    ("The script reads its own config (HF Trainer or accelerate)", "script-hf"),
    ("The script reads its own config (native DeepSpeed)", "none"),
)
_READER_USAGE = (
    "how the script gets the config. auto: as its source reads it, else as hf; hf: --deepspeed FILE; native: "
    "--deepspeed --deepspeed_config FILE; llamafactory: deepspeed=FILE after a YAML file; accelerate, lightning: by "
    "the variables that each reads; script-hf, none: not at all, it reads one of its own (with the HF Trainer or "
    "accelerate; natively). "
    "{config} among the script's arguments, or in --env, stands for the config's place (default: %(default)s)"
)
_LOGS_USAGE = (
    "don’t add --logging_steps 10, which scripts with the HF Trainer are given where they would log every 500 steps"
)

FIELDS = (
    Field(
        name="what",
        part=Part.WHAT,
        kind=Kind.OPEN_CHOICE,
        default=OWN_SCRIPT,
        label="Script or recipe",
        help="No download needed. Times are for 2 idle CPU cores; the first run also compiles operators (1 to 2 min).",
        id="what-to-run",
    ),
    Field(
        name="script",
        part=Part.WHAT,
        label="Script",
        placeholder="/path/to/train.py",
        shown=False,
        most_lines=1,
        id="script",
    ),
    Field(
        name="arguments",
        part=Part.WHAT,
        label="Arguments for the script",
        placeholder="e.g. --learning_rate 1e-4 --max_steps 500",
        help=f"As typed after the script’s name. The config is added; {PLACEHOLDER} stands for its path, in variables "
        "too.",
        id="arguments",
    ),
    Field(
        name="name",
        part=Part.WHAT,
        label="Run name",
        placeholder="the script's name",
        option="--name",
        usage="name of the run (default: the script's)",
        id="run-name",
    ),
    Field(
        name="reader",
        part=Part.WHAT,
        kind=Kind.CHOICE,
        default=AS_SCRIPT_READS,
        choices=_READERS,
        label="How the script takes the config",
        option="--reader",
        usage=_READER_USAGE,
        shown=False,
        id="reader",
    ),
    Field(
        name="where",
        part=Part.WHERE,
        kind=Kind.OPEN_CHOICE,
        default=PLACES[0].NAME,
        choices=tuple((kind.LABEL, kind.NAME) for kind in PLACES),
        label="Where it trains",
        id="where",
    ),
    *(field for kind in PLACES for field in kind.FIELDS),
    Field(
        name="ranks",
        part=Part.DEVICES,
        kind=Kind.COUNT,
        default=1,
        label="CPU ranks (this machine has no GPU)",
        option="--ranks",
        metavar="N",
        usage="ranks on the CPU (default: 1)",
        id="ranks",
    ),
    Field(
        name="gpus",
        part=Part.DEVICES,
        kind=Kind.GPUS,
        default=(),
        label="GPUs",
        option="--gpus",
        usage="GPUs by number, as nvidia-smi counts: 0,1",
        id="gpu-list",
    ),
    Field(
        name="saves",
        part=Part.DEVICES,
        kind=Kind.TICK,
        default=False,
        label="Save a checkpoint on stop",
        help="For the HF Trainer: “Save and stop” writes a checkpoint first. Adds --enable_jit_checkpoint True.",
        id="saves",
    ),
    Field(
        name="logs",
        part=Part.DEVICES,
        kind=Kind.TICK,
        default=True,
        label="Log every 10 steps (adds --logging_steps 10)",
        help="Otherwise the HF Trainer logs every 500 steps, so a short run would show no curve.",
        option="--no-logging-steps",
        usage=_LOGS_USAGE,
        shown=False,
        id="logs",
    ),
    Field(
        name="nvme",
        part=Part.MODEL,
        label="NVMe folder",
        placeholder="none",
        option="--nvme-path",
        metavar="FOLDER",
        usage="a folder on a local NVMe drive of this machine, for plans that offload to it",
        id="memory-nvme",
    ),
    Field(
        name="model",
        part=Part.MODEL,
        label="Model",
        placeholder="a folder, a hub id, or 7B",
        option="--model",
        metavar="PATH|ID|SIZE",
        usage="the model, to estimate its memory: a folder with config.json, a hub id, or a size "
        "such as 7B (default: what the script’s arguments name)",
        id="memory-model",
    ),
    Field(
        name="length",
        part=Part.MODEL,
        kind=Kind.COUNT,
        default=0,
        label="Sequence length",
        placeholder=str(USUAL_LENGTH),
        option="--length",
        metavar="TOKENS",
        usage=f"tokens per sequence (default: what the script’s arguments say, else {USUAL_LENGTH})",
        beside=True,
        id="memory-length",
    ),
    Field(
        name="target_length",
        part=Part.MODEL,
        kind=Kind.COUNT,
        default=0,
        label="Target length",
        placeholder="same length",
        option="--target-length",
        metavar="TOKENS",
        usage="tokens of a target, for encoder-decoder models (default: the length)",
        beside=True,
        id="memory-target-length",
    ),
    Field(
        name="lora_rank",
        part=Part.MODEL,
        kind=Kind.COUNT,
        default=0,
        label="LoRA rank",
        placeholder="none",
        option="--lora-rank",
        metavar="RANK",
        usage="train LoRA adapters of this rank only",
        beside=True,
        id="memory-lora-rank",
    ),
    Field(
        name="checkpointing",
        part=Part.MODEL,
        kind=Kind.TICK,
        default=False,
        label="Gradient checkpointing",
        option="--checkpointing",
        usage="the run recomputes activations (--gradient_checkpointing)",
        id="memory-checkpointing",
    ),
    Field(
        name="zero_init",
        part=Part.MODEL,
        kind=Kind.TICK,
        default=False,
        label="Model built within deepspeed.zero.Init",
        option="--zero-init",
        usage="a native script builds its model within deepspeed.zero.Init (stage 3; the HF Trainer always does)",
        id="memory-zero-init",
    ),
    Field(
        name="attention",
        part=Part.MODEL,
        kind=Kind.CHOICE,
        default=ATTENTIONS[0],
        choices=tuple((name, name) for name in ATTENTIONS),
        label="Attention",
        option="--attention",
        usage="transformers’ attn_implementation (default: %(default)s)",
        id="memory-attention",
    ),
    Field(
        name="device",
        part=Part.BAR,
        label="Device",
        kind=Kind.CHOICE,
        default=THIS_MACHINE,
        choices=tuple((one, one) for one in (THIS_MACHINE, "cpu", *(card.id for card in CARDS), *ALIASES)),
        option="--device",
        metavar="DEVICE",
        usage="check the config for another device than the one there is, as `validate` does (default: %(default)s)",
    ),
    Field(
        name="version",
        part=Part.BAR,
        label="DeepSpeed",
        option="--target-version",
        usage="check the config for another DeepSpeed than the installed one",
    ),
    Field(
        name="host_memory",
        part=Part.BAR,
        kind=Kind.COUNT,
        default=0,
        label="Host memory (GiB)",
        option="--host-memory",
        metavar="GIB",
        usage="memory of each machine’s host in GiB, where other machines train (default: not known)",
        id="memory-host",
    ),
    Field(name="planned_gpus", part=Part.BAR, kind=Kind.COUNT, default=1),
    Field(name="planned_nodes", part=Part.BAR, kind=Kind.COUNT, default=1),
    Field(
        name="started_by",
        part=Part.MORE,
        kind=Kind.CHOICE,
        default=StartedBy.DEEPSPEED.value,
        choices=tuple((kind.value, kind.value) for kind in StartedBy if kind.starts_ranks),
        label="Launcher",
        option="--launcher",
        usage="what starts the ranks (default: %(default)s)",
        id="started-by",
    ),
    Field(
        name="when_busy",
        part=Part.MORE,
        kind=Kind.CHOICE,
        choices=tuple((choice.value, word) for word, choice in WHEN_BUSY.items()),
        label="If another run uses these GPUs",
        option="--when-busy",
        usage="if another run uses these GPUs (default: wait; on the CPU: start)",
        id="when-busy",
    ),
    Field(
        name="environment",
        part=Part.MORE,
        kind=Kind.LINES,
        lines=2,
        label="Environment variables",
        placeholder="NAME=value, one per line",
        help="Added to dsgui’s own. Secrets (HF_TOKEN, WANDB_API_KEY …) are passed on but never stored.",
        option="--env",
        metavar="NAME=VALUE",
        usage="an environment variable",
        id="environment",
    ),
    Field(
        name="notify",
        part=Part.MORE,
        kind=Kind.SECRET,
        label="Notify",
        placeholder="https://hooks.slack.com/services/…",
        help="Slack, Feishu, DingTalk or JSON",
        option="--notify",
        metavar="URL",
        usage="webhook to tell when the run ends, fails, logs NaN or stalls (Slack, Feishu, DingTalk, else JSON); "
        "#secret=… signs, #form=slack chooses; “off”: not for this run (default: DSGUI_NOTIFY)",
        id="notify",
    ),
    Field(
        name="port",
        part=Part.MORE,
        label="Master port",
        placeholder="a free port",
        option="--port",
        usage="master port (default: a free one)",
        most_lines=1,
        id="port",
    ),
    Field(
        name="directory",
        part=Part.MORE,
        label="Working directory",
        placeholder="the script's folder (a recipe: the run's own)",
        option="--cwd",
        usage="working directory (default: the script's folder; for a bundled recipe, the run's)",
        most_lines=1,
        id="working-dir",
    ),
    Field(
        name="output",
        part=Part.MORE,
        label="Output directory",
        placeholder="as the arguments say, else the script's own",
        help="Passed to the script as --output_dir; replaces one in its arguments.",
        most_lines=1,
        id="output-dir",
    ),
    Field(
        name="stop_after_steps",
        part=Part.MORE,
        kind=Kind.COUNT,
        default=0,
        label="Stop after steps",
        placeholder="no limit",
        help="dsgui then stops the run, whatever its script would do.",
        option="--stop-after-steps",
        metavar="N",
        usage="stop the run once it has logged N optimizer steps",
        beside=True,
        id="stop-after-steps",
    ),
    Field(
        name="stop_after_minutes",
        part=Part.MORE,
        kind=Kind.COUNT,
        default=0,
        label="Stop after minutes",
        placeholder="no limit",
        help="Includes loading and compiling.",
        option="--stop-after-minutes",
        metavar="N",
        usage="stop the run N minutes after its start",
        beside=True,
        id="stop-after-minutes",
    ),
    Field(name="parent", part=Part.NOWHERE, kind=Kind.HIDDEN),
)
BY_NAME: Mapping[str, Field] = {field.name: field for field in FIELDS}


def fields_of(part: Part) -> tuple[Field, ...]:
    """In the order in which they are shown."""
    return tuple(field for field in FIELDS if field.part is part)


def complete(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` by the fields' names, with the default for each value that was not given. A text box that was never
    shown, and a number that was cleared, contain None. Raises KeyError for an unknown name."""
    given = {name: _held(BY_NAME[name], value) for name, value in values.items()}
    return {field.name: field.default for field in FIELDS} | given


def _held(field: Field, value: Any) -> Any:
    if value is not None:
        return value
    return 0 if field.kind is Kind.COUNT else field.default
