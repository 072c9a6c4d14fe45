"""What a line that allocates does it for: a table of DeepSpeed's functions, from 0.14.5 to 0.19.8. What no row knows is
told as other, and never left out."""

from dataclasses import dataclass

from dsgui.core.memory.answer import Component, Place

LOCKED = "locked"  # a tag: page-locked to the byte, not by torch's allocator


@dataclass(frozen=True, slots=True)
class Line:
    """`where` is file:line below its package, `source` its text. `tag` is what is known of the tensor itself."""

    place: Place
    where: str
    function: str
    source: str
    tag: str = ""

    @property
    def rounds_as(self) -> Place:
        """Whose rounding its bytes have: what DeepSpeed locks itself has none (csrc/pin_memory/page_alloc.cpp)."""
        return Place.HOST if self.tag == LOCKED else self.place


@dataclass(frozen=True, slots=True)
class Row:
    """Lines of files that end in `file`, in functions whose names hold `function`, whose text holds `text`."""

    component: Component
    file: str
    function: str = ""
    text: str = ""

    def fits(self, line: Line) -> bool:
        file = line.where.rpartition(":")[0]
        return file.endswith(self.file) and self.function in line.function and self.text in line.source


_12, _3, _INIT = "zero/stage_1_and_2.py", "zero/stage3.py", "zero/partition_parameters.py"
_BF16, _FUSED, _PLAIN = "runtime/bf16_optimizer.py", "fp16/fused_optimizer.py", "fp16/unfused_optimizer.py"
_WEIGHTS, _MASTER, _STAGING = Component.WEIGHTS, Component.MASTER, Component.STAGING
_GRADIENTS, _BUCKETS, _STEP, _MOMENTS = Component.GRADIENTS, Component.BUCKETS, Component.STEP, Component.MOMENTS

# The first row that fits holds.
TABLE = (
    Row(_MASTER, _12, "__init__", "weights_partition = "),
    Row(_STAGING, _12, "__init__", "temp_grad_buffer"),
    Row(_WEIGHTS, _12, "__init__", "temp_"),
    Row(_MASTER, _12, "__init__"),
    Row(_GRADIENTS, _12, "initialize_optimizer_states", "pin_memory("),
    Row(Component.INIT, _12, "initialize_optimizer_states"),
    Row(_BUCKETS, _12, "", "reduce_bucket_size"),
    Row(_BUCKETS, _12, "setup_buckets"),
    Row(_BUCKETS, _12, "backward"),
    Row(_STAGING, _12, "allreduce"),
    Row(_STAGING, _12, "average_tensor"),
    Row(_GRADIENTS, _12, "accumulate_to_in_cpu"),
    Row(_GRADIENTS, _12, "grad_partition"),
    Row(_GRADIENTS, _12, "grad"),
    Row(_STEP, _12, "step"),
    Row(_STEP, _12, "norm"),
    Row(_STEP, _12, "unscale"),
    Row(Component.INIT, _12, "flatten"),
    Row(_MASTER, _BF16, "setup", "fp32_groups_flat_partition"),
    Row(_GRADIENTS, _BF16, "setup"),
    Row(_WEIGHTS, _BF16, "flatten"),
    Row(_STEP, _BF16),
    Row(_MASTER, _FUSED, "__init__", "float()"),
    Row(_WEIGHTS, _FUSED, "__init__"),
    Row(_STEP, _FUSED),
    Row(_STEP, _PLAIN),
    Row(_MASTER, _3, "_create_fp32_partitions", "append("),
    Row(_MASTER, _3, "_create_fp32_partitions", "unpinned_fp32_buffer"),
    Row(Component.INIT, _3, "_create_fp32_partitions"),
    Row(_GRADIENTS, _3, "initialize_optimizer_states", "pin_memory("),
    Row(_GRADIENTS, _3, "initialize_optimizer_states", "subgroup_gradient_buffer"),
    Row(Component.INIT, _3, "initialize_optimizer_states"),
    Row(_BUCKETS, _3, "", "reduce_bucket_size"),
    Row(_GRADIENTS, _3, "", "grad_partitions_flat_buffer"),
    Row(_WEIGHTS, _3, "fp16"),
    Row(_STEP, _3, "_prepare_fp32_grad"),
    Row(_STEP, _3, "norm"),
    Row(_STEP, _3, "step"),
    Row(_STEP, _3, "unscale"),
    Row(_STAGING, _3, "reduce"),
    Row(_STAGING, _3, "reduction"),
    Row(_STAGING, _3, "grad"),
    Row(_STAGING, "comm/coalesced_collectives.py"),
    Row(Component.SECONDARY, _INIT, "_sec"),
    Row(Component.GATHERED, _INIT, "gather"),
    Row(Component.GATHERED, _INIT, "wait"),
    Row(Component.GATHERED, _INIT, "partition", ".data ="),
    Row(_WEIGHTS, _INIT, "partition"),
    Row(Component.INIT, _INIT, "wrapped_fn"),
    Row(Component.INIT, "zero/utils.py", "defragment"),
    Row(Component.GATHERED, "zero/partitioned_param_coordinator.py"),
    Row(_STEP, "runtime/utils.py", "norm"),
    Row(_STAGING, "runtime/engine.py", "allreduce"),
    Row(_WEIGHTS, "runtime/engine.py", "_configure_distributed_model"),
    Row(_WEIGHTS, "runtime/engine.py", "cast"),
    Row(Component.SWAP, "swap_tensor/partitioned_param_swapper.py"),
    Row(Component.SWAP, "swap_tensor/partitioned_optimizer_swapper.py"),
    Row(Component.SWAP, "swap_tensor/optimizer_utils.py"),
    Row(Component.SWAP, "swap_tensor/utils.py"),
    Row(_MOMENTS, "", "_init_group"),  # of torch.optim, whatever calls its step
    Row(_MOMENTS, "adam/fused_adam.py", "step", "state["),
    Row(_MOMENTS, "adam/cpu_adam.py", "step", "state["),
    Row(_MOMENTS, "lion/fused_lion.py", "step", "state["),
    Row(_MOMENTS, "lion/cpu_lion.py", "step", "state["),
    Row(_MOMENTS, "adagrad/cpu_adagrad.py", "step", "state["),
    Row(_MOMENTS, "lamb/fused_lamb.py", "step", "state["),
    Row(_GRADIENTS, "zero/linear.py", "backward", "grad_weight"),
    Row(Component.ACTIVATIONS, "zero/linear.py"),
)
_BY_TAG = {
    "weight": _WEIGHTS,
    "frozen": Component.FROZEN,
    LOCKED: Component.SWAP,
    "swapped_gradient": _GRADIENTS,
    "swapped_master": _MASTER,
    "swapped_state": _MOMENTS,
}
_ELSE_BY_TAG = {"gradient": _GRADIENTS, "logits": Component.LOGITS}


def component_of(line: Line) -> Component:
    """By what the tensor is known to be, else by its line. What autograd makes by itself has no line: gradients of
    weights are known, so the rest are of activations."""
    if line.tag in _BY_TAG:
        return _BY_TAG[line.tag]
    row = next((row for row in TABLE if row.fits(line)), None)
    if row is not None:
        return row.component
    if line.tag in _ELSE_BY_TAG:
        return _ELSE_BY_TAG[line.tag]
    is_own = not line.where.startswith("deepspeed/")
    return Component.ACTIVATIONS if is_own and line.place is Place.GPU else Component.OTHER
