"""torch's operations on the tape: what each allocates and saves (torch's `tools/autograd/derivatives.yaml`), and what
its backward needs besides the gradients (`torch/csrc/autograd/FunctionsManual.cpp`). Where CUDA's kernels differ from
the CPU's, CUDA's are meant."""

from dsgui.core.memory.tape import SAME, Tape, Tensor

FLOAT = 4  # bytes of a float32
NARROW = 2  # of a float16 or bfloat16
INDEX = 8  # of an int64
BOOL = 1


def cast(tape: Tape, x: Tensor, element: int) -> Tensor:
    """`x.to(dtype)`: itself where it has that dtype."""
    if x.element == element:
        return x
    out = tape.operation((x,), x.numel, element)
    out.scattered = x.scattered
    return out


def lowered(tape: Tape, x: Tensor) -> Tensor:
    """As autocast hands it to a matrix product. Only casts of weights are kept for another."""
    return cast(tape, x, NARROW) if tape.lower else x


def promoted(tape: Tape, x: Tensor, element: int) -> Tensor:
    """`x` plus something that wants no gradient, in the wider dtype of both."""
    return shifted(tape, x) if x.element >= element else like(tape.operation((x,), x.numel, element), x)


def contiguous(tape: Tape, x: Tensor) -> Tensor:
    return tape.operation((x,), x.numel, x.element, sizes=(SAME,)) if x.scattered else x


def scaled(tape: Tape, x: Tensor) -> Tensor:
    """`x` times or plus a number: nothing is saved."""
    return like(tape.operation((x,), *x.size), x)


def shifted(tape: Tape, x: Tensor) -> Tensor:
    return like(tape.operation((x,), *x.size, sizes=(SAME,)), x)


def like(out: Tensor, x: Tensor) -> Tensor:
    out.scattered = x.scattered
    return out


def added(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    """`x + y` in the wider dtype of both; a smaller `y` is broadcast, and its gradient is summed."""
    element = max(x.element, y.element)
    small = SAME if y.size == (x.numel, element) else y.size
    return like(tape.operation((x, y), x.numel, element, sizes=(SAME if x.element == element else x.size, small)), x)


def times(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    """`x * y`: each saves the other if that needs a gradient. Of a broadcast `y` the gradient is made whole first."""
    saves = ((x,) if y.node else ()) + ((y,) if x.node else ())
    whole = x.numel * x.element if y.node and y.numel < x.numel else 0
    element = max(x.element, y.element)
    return like(tape.operation((x, y), x.numel, element, saves=saves, back=whole), x)


def squared(tape: Tape, x: Tensor) -> Tensor:
    """`x.pow(2)`: its backward is `grad * (2 * x.pow(1))`."""
    return power(tape, x)


def power(tape: Tape, x: Tensor) -> Tensor:
    """In fp32 under autocast."""
    x = cast(tape, x, FLOAT) if tape.lower else x
    return tape.operation((x,), *x.size, saves=(x,), back=2 * x.numel * x.element)


def mean(tape: Tape, x: Tensor, width: int) -> Tensor:
    return tape.operation((x,), x.numel // width, x.element)


def rsqrt(tape: Tape, x: Tensor) -> Tensor:
    return tape.operation((x,), *x.size, keeps_out=True, extra=x.numel * x.element)


def tanh(tape: Tape, x: Tensor) -> Tensor:
    return tape.operation((x,), *x.size, keeps_out=True)


def saving_input(tape: Tape, x: Tensor, *, extra: int = 0, back: int = 0) -> Tensor:
    """An elementwise function whose backward reads its input (silu, gelu, clamp)."""
    return like(tape.operation((x,), *x.size, saves=(x,), extra=extra, back=back), x)


def relu(tape: Tape, x: Tensor) -> Tensor:
    return tape.operation((x,), *x.size, keeps_out=True)


def dropout(tape: Tape, x: Tensor, p: float) -> Tensor:
    """native_dropout keeps a mask of a byte an element; with p = 0 it is its input."""
    return x if p == 0 else like(tape.operation((x,), *x.size, keeps=x.numel * BOOL), x)


def softmax(tape: Tape, x: Tensor) -> Tensor:
    return tape.operation((x,), *x.size, keeps_out=True)


def product(tape: Tape, x: Tensor, y: Tensor, numel: int) -> Tensor:
    """A batched matrix product. Operands whose heads lie apart are copied first, and the copies are saved."""
    x, y = contiguous(tape, lowered(tape, x)), contiguous(tape, lowered(tape, y))
    saves = ((x,) if y.node else ()) + ((y,) if x.node else ())
    return tape.operation((x, y), numel, x.element, saves=saves)


def rotary(tape: Tape, x: Tensor, tables: Tensor) -> Tensor:
    """`x * cos + rotate_half(x) * sin`: keeps the tables, not `x`."""
    element = max(x.element, tables.element)
    count = x.numel * element
    return like(tape.operation((x,), x.numel, element, saves=(tables,), extra=2 * count, back=2 * count), x)


def cross_entropy(tape: Tape, logits: Tensor, labels: Tensor) -> Tensor:
    """log_softmax keeps its result, nll_loss the labels; each makes a gradient as large as the logits. Under autocast
    nll_loss reads fp32, and keeps what it reads; log_softmax is told to stay in the dtype of the logits
    (aten/native/LossNLL.cpp)."""
    logarithms = tape.operation((logits,), *logits.size, keeps_out=True)
    read = cast(tape, logarithms, FLOAT) if tape.lower else logarithms
    return tape.operation((read,), 1, read.element, saves=(labels, read))


def new_gelu(tape: Tape, x: Tensor) -> Tensor:
    """`0.5 * x * (1 + tanh(c * (x + 0.044715 * x ** 3)))`, written in Python (activations.py:66)."""
    half = scaled(tape, x)
    return times(tape, half, shifted(tape, tanh(tape, scaled(tape, added(tape, x, scaled(tape, power(tape, x)))))))


def bloom_gelu(tape: Tape, x: Tensor) -> Tensor:
    """A function of its own that keeps its input and computes with many temporaries (modeling_bloom.py:107)."""
    count = x.numel * x.element
    return saving_input(tape, x, extra=3 * count, back=4 * count)


def part(tape: Tape, x: Tensor, numel: int) -> Tensor:
    """`x[..., i:j]`: a view; its gradient is as large as `x`, zero elsewhere."""
    return like(tape.operation((x,), numel, x.element, of=x), x)


def selected(tape: Tape, x: Tensor, parts: int) -> Tensor:
    """`x[..., i, :]`."""
    return part(tape, x, x.numel // parts)


def joined(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    """`torch.cat`: a copy in order; its gradient is told in views."""
    return tape.operation((x, y), x.numel + y.numel, max(x.element, y.element), sizes=(SAME, SAME))


def expanded(tape: Tape, x: Tensor, times: int) -> Tensor:
    """`x` for each of a batch, as a view; its gradient is summed over them."""
    return x if times == 1 else tape.operation((x,), times * x.numel, x.element, of=x)


def masked(tape: Tape, x: Tensor, heads: int) -> Tensor:
    """`torch.where(mask, x, number)`, a mask for all heads: keeps the mask, a byte an element."""
    return like(tape.operation((x,), *x.size, keeps=x.numel // heads * BOOL), x)


ACTIVATIONS = {
    "silu": saving_input,
    "swish": saving_input,
    "gelu": saving_input,
    "gelu_pytorch_tanh": saving_input,
    "gelu_new": new_gelu,
    "relu": relu,
    "bloom_gelu": bloom_gelu,
}
