"""Predicted memory against measured, on one GPU: `make gpu-memory`.

Each case trains four steps as one rank of many in a process of its own: torch's fake group gives every collective the
rank's own shard, so kernels, DeepSpeed and the caching allocator are the real ones and numbers stay finite, while NCCL
takes nothing. Measured are, for each moment of the last step, what tensors took and what the allocator reserved; of the
process, what the driver counts (NVML), anonymous and locked host memory. Half of the cases calibrate the CUDA context
and the allocator's share; the other half is predicted with them. Printed, and written as a table with `--out`."""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsgui.core.memory.answer import Answer, CannotSay, Device, Moment
from dsgui.core.memory.fits.overhead import Amount, Constant, Overhead, exactly, overheads
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit, judge
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.core.sizes import GIB, MIB
from dsgui.shell.memory.asking import as_json

STEPS = 4
LIMIT_S = 300
_T5 = {"model_type": "t5", "decoder_start_token_id": 0, "vocab_size": 32128, "feed_forward_proj": "relu"}
_LLAMA = {"model_type": "llama", "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": False}
MODELS: Mapping[str, Mapping[str, Any]] = {
    "t5-small": _T5 | {"d_model": 512, "num_layers": 6, "d_ff": 2048, "num_heads": 8, "d_kv": 64},
    "t5-large": _T5 | {"d_model": 1024, "num_layers": 24, "d_ff": 4096, "num_heads": 16, "d_kv": 64},
    "t5-3b": _T5 | {"d_model": 1024, "num_layers": 24, "d_ff": 16384, "num_heads": 32, "d_kv": 128},
    "llama-1b": _LLAMA
    | {"hidden_size": 2048, "num_hidden_layers": 22, "intermediate_size": 5632}
    | {"num_attention_heads": 32, "num_key_value_heads": 4},
    "llama-7b, 8 layers": _LLAMA
    | {"hidden_size": 4096, "num_hidden_layers": 8, "intermediate_size": 11008}
    | {"num_attention_heads": 32, "num_key_value_heads": 32},
}
_ON_HOST = {"device": "cpu", "pin_memory": True}
_BF16 = {"bf16": {"enabled": True}, "gradient_clipping": 1.0}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "stage 0": {},
    "stage 1": {"zero_optimization": {"stage": 1}},
    "stage 2": {"zero_optimization": {"stage": 2, "reduce_bucket_size": 200_000_000}},
    "stage 2, optimizer offload": {"zero_optimization": {"stage": 2, "offload_optimizer": _ON_HOST}},
    "stage 3": {"zero_optimization": {"stage": 3}},
    "stage 3, both offloads": {
        "zero_optimization": {"stage": 3, "offload_optimizer": _ON_HOST, "offload_param": _ON_HOST}
    },
}


@dataclass(frozen=True, slots=True)
class Case:
    """One training. `calibrates`: its measurements make the constants that the others are predicted with."""

    model: str
    config: str
    ranks: int
    work: Workload
    calibrates: bool = False

    @property
    def name(self) -> str:
        again = ", checkpointing" if self.work.checkpointing else ""
        return f"{self.model}, {self.config}, {self.ranks} ranks, {self.work.micro_batch}×{self.work.length}{again}"

    @property
    def question(self) -> Question:
        offloads = "offload" in self.config
        adam = {"type": "AdamW", "params": {"lr": 1e-5} | ({} if offloads else {"torch_adam": True})}
        config = {**_BF16, "optimizer": adam, **CONFIGS[self.config]}
        return Question(Model(self.model, MODELS[self.model]), config, self.work, Group(self.ranks))


def every_case() -> tuple[Case, ...]:
    """24, every other one for calibration."""
    short, long = Workload(8, 512), Workload(2, 1024, checkpointing=True)
    plain = [
        ("t5-small", "stage 0", 1, short), ("t5-small", "stage 2", 8, short),
        ("t5-small", "stage 3", 8, short), ("t5-small", "stage 2, optimizer offload", 1, short),
        ("t5-small", "stage 3, both offloads", 1, short), ("t5-small", "stage 1", 8, short),
        ("t5-large", "stage 0", 1, short), ("t5-large", "stage 1", 8, short),
        ("t5-large", "stage 2", 1, short), ("t5-large", "stage 2, optimizer offload", 1, short),
        ("t5-large", "stage 3", 8, short), ("t5-large", "stage 3, both offloads", 8, short),
        ("t5-3b", "stage 2, optimizer offload", 1, Workload(1, 512)), ("t5-3b", "stage 3", 8, Workload(1, 512)),
        ("t5-3b", "stage 3, both offloads", 1, Workload(1, 512)), ("t5-3b", "stage 2", 8, Workload(1, 512)),
        ("llama-1b", "stage 0", 1, long), ("llama-1b", "stage 1", 8, long),
        ("llama-1b", "stage 2", 1, Workload(2, 1024)), ("llama-1b", "stage 3", 8, Workload(2, 1024)),
        ("llama-1b", "stage 3, both offloads", 1, long), ("llama-7b, 8 layers", "stage 2", 8, long),
        ("llama-7b, 8 layers", "stage 3", 8, long), ("llama-7b, 8 layers", "stage 3, both offloads", 1, long),
    ]  # fmt: skip
    return tuple(Case(*one, calibrates=number % 2 == 0) for number, one in enumerate(plain))


# ------------------------------------------------------------------------------------------------ in a process each
def train(given: str) -> None:
    """Trains one question on the first card, and prints what was measured."""
    from dsgui.shell.memory import fake_machine, rehearsal

    answers = os.dup(1)
    os.dup2(2, 1)  # DeepSpeed prints to stdout
    before = driver_bytes()
    import torch

    class Card(rehearsal.Stage):
        """The first card itself: nothing is replaced, and nothing is counted by tensors."""

        def __init__(self) -> None:
            self.on_gpu, self.real, self.device = True, True, torch.device("cuda:0")

        def modes(self, counter: Any, group: dict[str, int]) -> list[Any]:
            fake_machine.start_group(group["rank"], group["ranks"], group["nodes"])
            os.environ |= {"LOCAL_RANK": "0", "LOCAL_SIZE": "1"}  # it is the only one here
            return []

        def place_of(self, tensor: Any) -> str:
            return ""

    class Measured(rehearsal.Rehearsal):
        """Reads the allocator at the end of each phase."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.phase, self.losses = "", list[float]()
            self.moments: dict[str, dict[str, int]] = {}

        def enter(self, phase: str, step: int) -> None:
            torch.cuda.synchronize()
            seen = {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}
            seen |= host_bytes()
            whole = self.moments.get(self.phase, {}) if self.phase in ("load", "model", "init") else {}
            self.moments[self.phase] = {name: max(count, whole.get(name, 0)) for name, count in seen.items()}
            torch.cuda.reset_peak_memory_stats()
            self.phase = phase

    measured = Measured(json.loads(given) | {"steps": STEPS}, lambda message: None, Card())
    loss_of = rehearsal.loss_of

    def kept(out: Any) -> Any:
        loss = loss_of(out)
        measured.losses.append(float(loss.detach()))
        return loss

    rehearsal.loss_of = kept
    measured.run()
    told = {"moments": measured.moments, "driver": own_bytes(before), "losses": measured.losses}
    told |= {"reserved": torch.cuda.memory_reserved(), "most_reserved": most_reserved(measured.moments)}
    held = torch.cuda.memory_allocated()
    torch._C._cuda_clearCublasWorkspaces()
    told["workspaces"] = held - torch.cuda.memory_allocated()
    with open(answers, "w") as out:
        out.write(json.dumps(told) + "\n")
    os._exit(0)


def most_reserved(moments: Mapping[str, Mapping[str, int]]) -> int:
    return max(seen["reserved"] for seen in moments.values())


def driver_bytes() -> int | None:
    """In use on the first card, by everybody; None without NVML."""
    import pynvml

    try:
        pynvml.nvmlInit()
        return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).used)
    except pynvml.NVMLError as error:
        print(f"NVML: {error}", file=sys.stderr)
        return None


def own_bytes(before: int | None) -> int:
    """Of this process on the first card, as the driver counts it; where it names no processes, what the card has in use
    beyond `before`: then nothing else may run."""
    import pynvml

    try:
        running = pynvml.nvmlDeviceGetComputeRunningProcesses(pynvml.nvmlDeviceGetHandleByIndex(0))
    except pynvml.NVMLError:
        running = []
    named = [one.usedGpuMemory for one in running if one.pid == os.getpid() and one.usedGpuMemory]
    if named:
        return int(named[0])
    print("NVML names no process", file=sys.stderr)
    return (driver_bytes() or 0) - (before or 0)


def host_bytes() -> dict[str, int]:
    """Of this process: anonymous, locked and pinned pages."""
    wanted = {"RssAnon": "anonymous", "VmLck": "locked", "VmPin": "pinned"}
    lines = (line.split() for line in Path("/proc/self/status").read_text("utf-8").splitlines())
    return {wanted[line[0][:-1]]: int(line[1]) * 1024 for line in lines if line and line[0][:-1] in wanted}


# ------------------------------------------------------------------------------------------------ beside the formula
@dataclass(frozen=True, slots=True)
class Seen:
    """What a case took: tensors at the fullest moment of the last step, all that the driver counted, and the host's
    anonymous and pinned bytes. `reserved` is the allocator's most; `workspaces` are cuBLAS's among the tensors."""

    case: Case
    moments: Mapping[Moment, int]
    reserved: int
    driver: int
    host: int
    workspaces: int = 0

    @property
    def allocated(self) -> int:
        return max(self.moments.values())

    @property
    def context(self) -> int:
        """What the driver counts beyond the allocator's."""
        return self.driver - self.reserved


def seen_of(case: Case, told: Mapping[str, Any]) -> Seen:
    """Raises RuntimeError where a loss was not finite: such a training shows nothing."""
    if not all(map(math.isfinite, told["losses"])):
        raise RuntimeError(f"losses {told['losses']}")
    moments = {moment: told["moments"][moment.value] for moment in Moment if moment.value in told["moments"]}
    allocated = {moment: one["allocated"] for moment, one in moments.items()}
    host = max(one["anonymous"] + one["pinned"] for one in moments.values())
    driver = told["driver"] - told["reserved"] + told["most_reserved"]  # as it was when the allocator held most
    return Seen(case, allocated, told["most_reserved"], driver, host, told.get("workspaces", 0))


def raw_of(seen: Seen) -> dict[str, Any]:
    """In bytes; `predicted` are the formula's peaks of the GPU."""
    peaks = {peak.moment.value: peak.count for peak in predicted(seen.case).of(Device.GPU)}
    measured = {moment.value: count for moment, count in seen.moments.items()}
    rest = {"reserved": seen.reserved, "driver": seen.driver, "host": seen.host, "workspaces": seen.workspaces}
    return {"case": seen.case.name, "measured": measured, "predicted": peaks, **rest}


def measure(case: Case, python: str) -> Seen:
    """Raises RuntimeError when the training fails."""
    command = [python, "-m", "benchmarks.gpu_memory", "--train", json.dumps(as_json(case.question))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise RuntimeError(done.stderr[-1500:])
    return seen_of(case, json.loads(done.stdout.splitlines()[-1]))


def predicted(case: Case) -> Answer:
    """The formula's answer. Raises RuntimeError where it can't say."""
    found = answer(case.question)
    if isinstance(found, CannotSay):
        raise RuntimeError(str(found.why))
    return found


def constants_of(seen: Sequence[Seen]) -> dict[Overhead, Constant]:
    """The CUDA context and the allocator's share, by those that calibrate; lowest, median, highest."""
    context = [one.context for one in seen]
    return {Overhead.CONTEXT: Constant(_spread(context), "measured here")}


def share_of(seen: Sequence[Seen]) -> tuple[float, float, float]:
    """Reserved beyond allocated, over allocated."""
    shares = sorted((one.reserved - one.allocated) / one.allocated for one in seen)
    return shares[0], statistics.median(shares), shares[-1]


def _spread(counts: list[int]) -> Amount:
    return Amount(min(counts), round(statistics.median(counts)), max(counts))


@dataclass(frozen=True, slots=True)
class Row:
    """Of one case: predicted and measured bytes of tensors, of the whole card, and of the host."""

    seen: Seen
    tensors: int
    card: int
    host: int
    false_fit: bool

    @property
    def off(self) -> float:
        """The whole card's, in parts of what was measured."""
        return self.card / self.seen.driver - 1

    @property
    def tensors_off(self) -> float:
        """Without cuBLAS's workspaces, which are an overhead of their own."""
        return self.tensors / (self.seen.allocated - self.seen.workspaces) - 1


def row_of(seen: Seen, constants: Mapping[Overhead, Constant], share: tuple[float, float, float]) -> Row:
    """`false_fit`: dsgui would say "fits" of a card that has a MiB less than what was in use."""
    found = predicted(seen.case)
    worst = found.worst(Device.GPU)
    tensors = worst.count if worst else 0
    spare = Constant(Amount(*(round(tensors * one) for one in share)), "measured here")
    in_fake_group = Constant(exactly(0), "measured here")
    room = Room(
        gpu_bytes=seen.driver - MIB,
        ranks=2,
        overheads=overheads({**constants, Overhead.FRAGMENTATION: spare, Overhead.NCCL: in_fake_group}),
    )
    verdict = judge(found, room)
    bar = verdict.worst(Device.GPU)
    host = max((peak.count for peak in found.of(Device.HOST)), default=0)
    return Row(seen, tensors, bar.amount.likely if bar else 0, host, verdict.fit_of(Device.GPU) is Fit.FITS)


def lines_of(rows: Sequence[Row], card: str) -> Iterator[str]:
    """A table in Markdown, and the medians."""
    yield f"# Predicted and measured memory, {card}, {datetime.date.today()}"
    yield ""
    yield "| case | tensors GiB | predicted | card GiB | predicted | host GiB | predicted | |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        seen = row.seen
        figures = (seen.allocated, row.tensors), (seen.driver, row.card), (seen.host, row.host)
        told = " | ".join(f"{was / GIB:.2f} | {said / GIB:.2f}" for was, said in figures)
        yield f"| {seen.case.name} | {told} | {'calibrates' if seen.case.calibrates else f'{row.off:+.1%}'} |"
    yield ""
    judged = [abs(row.off) for row in rows if not row.seen.case.calibrates]
    tensors = [abs(row.tensors_off) for row in rows]
    for name, counts in (
        ("beyond the allocator (CUDA context, libraries)", [row.seen.context for row in rows]),
        ("cuBLAS's workspaces, among the tensors", [row.seen.workspaces for row in rows]),
    ):
        low, likely, high = (count / MIB for count in (min(counts), statistics.median(counts), max(counts)))
        yield f"{name}: median {likely:.0f} MiB, {low:.0f} to {high:.0f}"
    low, likely, high = share_of([row.seen for row in rows])
    yield f"reserved beyond allocated: median {likely:.1%}, {low:.1%} to {high:.1%}"
    for name, off in (("whole card, those predicted", judged), ("tensors, all", tensors)):
        if off:
            yield f"{name}: median {statistics.median(off):.1%}, worst {max(off):.1%} of {len(off)}"
    yield f"said to fit on a card that is a MiB too small: {sum(row.false_fit for row in rows)} of {len(rows)}"


def name_of_card() -> str:
    """The first card's; "" where torch sees none."""
    try:
        import torch

        return torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    except ImportError:
        return ""


def main() -> int:
    """Measures, predicts, prints. Exit code 2 where there is no GPU: nothing was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cases", type=int, nargs="*", help="numbers of cases; all without it")
    parser.add_argument("--beside", type=int, default=1, help="so many cases at once, if the driver names processes")
    parser.add_argument("--limit-s", type=float, default=1500.0, help="no case is begun after so many seconds")
    parser.add_argument("--out", type=Path, help="the table goes there as well")
    parser.add_argument("--raw", type=Path, help="what was measured of each case and moment goes there, as JSON lines")
    options = parser.parse_args()
    if options.train:
        train(options.train)
    card = name_of_card()
    if not card:
        print("gpu-memory: torch sees no GPU here, so nothing was measured.", file=sys.stderr)
        return 2
    began, seen, cases = time.monotonic(), list[Seen](), every_case()
    chosen = [cases[number] for number in options.cases] if options.cases else list(cases)

    def one(case: Case) -> Seen | str:
        if time.monotonic() - began > options.limit_s:
            return "not begun, the time is over"
        try:
            return measure(case, options.python)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(options.beside) as pool:
        running = {pool.submit(one, case): case for case in chosen}
        for done in concurrent.futures.as_completed(running):
            case, found = running[done], done.result()
            if isinstance(found, str):
                print(f"{case.name}: {found}", flush=True)
            else:
                seen.append(found)
                if options.raw:
                    with options.raw.open("a", encoding="utf-8") as raw:
                        raw.write(json.dumps(raw_of(found)) + "\n")
                print(f"{case.name}: {found.allocated / GIB:.2f} GiB, card {found.driver / GIB:.2f}", flush=True)
    return told(seen, card, options.out)


def told(seen: Sequence[Seen], card: str, out: Path | None) -> int:
    """Prints the table, and keeps it."""
    calibrate = [one for one in seen if one.case.calibrates] or list(seen)
    if not calibrate:
        return 1
    constants, share = constants_of(calibrate), share_of(calibrate)
    lines = list(lines_of([row_of(one, constants, share) for one in seen], card))
    print("\n".join(lines))
    if out:
        out.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
