"""How much work one optimizer step is, counted: arithmetic, bytes between ranks, over PCIe, in host memory and on NVMe.
It orders configs by speed; the machine that it is weighed on is no machine in particular, so it promises no times."""

from dataclasses import dataclass

from dsgui.core.memory.question import Group, Workload
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.walk import Walk

# A second: of an A100-like card's 16-bit arithmetic, between cards of a node and between nodes, of one card's PCIe, of
# a rank's share of host memory and of an NVMe drive. Only their ratios matter.
FLOPS = 150e12
WITHIN_NODE, BETWEEN_NODES = 100e9, 12e9
PCIE, HOST, NVME = 20e9, 40e9, 3e9
A_MESSAGE = 30e-6
# Tokens of a micro batch at which a card is half busy: smaller ones keep it waiting for its kernels' starts.
HALF_BUSY = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one rank and one optimizer step. Bytes but `flops`, the floating-point operations, and `messages`."""

    flops: float
    tokens: int
    collective: float
    messages: float
    pcie: float
    host: float
    nvme: float
    between_nodes: bool

    @property
    def per_token(self) -> float:
        """What orders configs: the smaller, the faster the training should be."""
        lane = BETWEEN_NODES if self.between_nodes else WITHIN_NODE
        busy = self.flops / FLOPS + self.collective / lane + self.messages * A_MESSAGE
        return (busy + self.pcie / PCIE + self.host / HOST + self.nvme / NVME) / self.tokens


def cost_of(walk: Walk, settings: Settings, workload: Workload, group: Group) -> Cost:
    every, trained = walk.every, walk.trained
    tokens = workload.micro_batch * workload.length
    part = trained / group.ranks if settings.stage else trained
    gathers = passes(settings, every, workload.checkpointing) * settings.gas
    return Cost(
        flops=arithmetic(every, trained, tokens, workload.checkpointing) * settings.gas,
        tokens=tokens * settings.gas,
        collective=between_ranks(settings, every, trained, gathers) * (1 - 1 / group.ranks),
        messages=settings.gas * trained / max(settings.bucket, 1) if group.ranks > 1 else 0,
        pcie=over_pcie(settings, part, every / group.ranks, gathers),
        host=in_host(settings, part),
        nvme=on_nvme(settings, part, every / group.ranks, gathers),
        between_nodes=group.nodes > 1,
    )


def arithmetic(every: int, trained: int, tokens: int, checkpointing: bool) -> float:
    """2 a weight and token in the forward, again when it is computed anew, 2 for the gradients of activations, 2 for
    those of trained weights; attention's own is the same in all configs. A short micro batch counts for more."""
    once = (4 + 2 * checkpointing) * every + 2 * trained
    return once * tokens * (1 + HALF_BUSY / tokens)


def passes(settings: Settings, every: int, checkpointing: bool) -> int:
    """How often stage 3 gathers a weight in a micro batch: once where all stay from forward to backward, else twice;
    recomputed and released in between, a third time."""
    if settings.stage < 3:
        return 0
    if max(settings.live, settings.reuse) >= 2 * every:
        return 1
    return 3 if checkpointing and settings.reuse < every / 100 else 2


def between_ranks(settings: Settings, every: int, trained: int, gathers: int) -> float:
    """An all-reduce sends everything twice, a gather or scatter once. Stage 2 reduces each micro batch; stages 1 and 2
    all-reduce too (`use_multi_rank_bucket_allreduce`)."""
    gradients = trained * settings.reduced
    if settings.stage == 3:
        return gathers * every * settings.weight + settings.gas * gradients
    updated = trained * settings.weight * bool(settings.stage)
    return 2 * gradients * (settings.gas if settings.stage == 2 else 1) + updated


def over_pcie(settings: Settings, part: float, share: float, gathers: int) -> float:
    moved = 0.0
    if settings.optimizer_at.is_on:
        down = settings.gas * (settings.accumulated if settings.stage == 3 else settings.weight)
        back = (settings.gas - 1) * settings.weight  # accumulated on the GPU, so earlier ones come back
        moved += part * (down + back + settings.weight)
    if settings.params_at.is_on:
        moved += gathers * share * settings.weight
    return moved


def in_host(settings: Settings, part: float) -> float:
    """The CPU optimizer reads and writes master and moments, reads the gradient, writes the weight."""
    if not settings.optimizer_at.is_on:
        return 0.0
    states = settings.master + settings.moments * settings.moment
    return part * (2 * states + settings.master + settings.weight) * min(1.0, settings.optimizer_at.ratio)


def on_nvme(settings: Settings, part: float, share: float, gathers: int) -> float:
    moved = 0.0
    if settings.optimizer_at.is_nvme:
        moved += part * 2 * (2 * settings.master + settings.moments * settings.moment)
    if settings.params_at.is_nvme:
        moved += gathers * max(0.0, share - settings.params_at.max_in_cpu) * settings.weight
    return moved


def relative(cost: Cost, to: Cost) -> float:
    """How much longer a token takes, by estimate: 1.0 is as long."""
    return cost.per_token / to.per_token
