"""A dry run's record, read: bytes as the allocators hand them out, peaks by moment, component and line."""

import pytest

from dsgui.core.memory.answer import SMALLER, Component, Device, Kept, Moment, Place, Source
from dsgui.core.memory.dry_run import MOST_POINTS, Recorded, answer_of, timeline_of
from dsgui.core.memory.lines import Line, component_of

LINES = [
    ["gpu", "deepspeed/runtime/zero/stage_1_and_2.py:560", "__init__", "weights_partition = self.partitioned[i]", ""],
    ["gpu", "", "", "", "gradient"],
    ["pinned", "deepspeed/runtime/zero/stage3.py:795", "_setup", "self.grad_partitions_flat_buffer = pin()", ""],
    ["gpu", "transformers/models/llama/modeling_llama.py:63", "forward", "hidden_states.to(float32)", ""],
]


def told(events, sizes, keys, phases, **more):
    given = {"events": events, "sizes": sizes, "keys": keys, "phases": phases, "lines": LINES}
    return given | {"parameters": 10, "trainable": 8, "notes": []} | more


# One state from the start; a forward whose activation is gone before the gradient; a second step with more of it.
RECORD = told(
    events=[1, 2, 3, -3, 4, -4, 5, -5, 6, 7, -6, -7],
    sizes=[1000, 600, 100, 2000, 5000, 100, 200],
    keys=[0, 2, 3, 1, 3, 3, 1],
    phases=[[0, "init", 0], [2, "forward", 0], [4, "backward", 0], [6, "forward", 1], [8, "backward", 1]],
)


def test_bytes_are_as_the_allocators_hand_them_out():
    recorded = Recorded.from_json(RECORD)
    assert recorded.handed_out().tolist() == [1024, 1024, 512, 2048, 5120, 512, 512]
    assert recorded.live(frozenset({Place.GPU})).tolist()[:4] == [1024, 1024, 1536, 1024]


def test_what_deepspeed_locks_itself_is_not_rounded():
    lines = [["pinned", "deepspeed/runtime/swap_tensor/utils.py:189", "<listcomp>", "new_cpu_locked_tensor(", "locked"]]
    found = answer_of(told([1, -1], [1000], [0], [[0, "init", 0]], lines=lines))
    assert [(part.component, part.place, part.count) for peak in found.peaks for part in peak.parts] == [
        (Component.SWAP, Place.PINNED, 1000)
    ]
    assert found.pins_kept == {}


def test_peaks_are_of_whichever_step_is_the_fullest():
    found = answer_of(RECORD)
    assert found.source is Source.DRY_RUN
    assert {peak.moment: peak.count for peak in found.of(Device.GPU)} == {
        Moment.INIT: 1024,
        Moment.FORWARD: 1024 + 5120,
        Moment.BACKWARD: 1024 + 2048,  # of the first step
    }
    assert {peak.count for peak in found.of(Device.HOST)} == {1024}
    assert (found.parameters, found.trainable) == (10, 8)


def test_a_peak_names_its_components_and_lines():
    peak = answer_of(RECORD).worst(Device.GPU)
    assert [(part.component, part.count, part.line) for part in peak.parts] == [
        (Component.ACTIVATIONS, 5120, "transformers/models/llama/modeling_llama.py:63"),
        (Component.MASTER, 1024, "deepspeed/runtime/zero/stage_1_and_2.py:560"),
    ]


def test_a_load_on_the_host_is_told_but_is_no_moment():
    record = told([1, -1], [10**6], [0], [[0, "load", 0], [2, "init", 0]])
    assert answer_of(record).peaks == ()
    assert answer_of(record).timeline.stretches[0].name == "load"


def test_a_long_timeline_is_thinned_and_keeps_the_fullest_instant():
    count = 5 * MOST_POINTS
    events = [sign * number for number in range(1, count + 1) for sign in (1, -1)]
    sizes = [512] * count
    sizes[count // 3] = 10 * 512
    found = timeline_of(Recorded.from_json(told(events, sizes, [0] * count, [[0, "forward", 0]])))
    assert len(found.ends) == len(found.counts[Device.GPU]) <= MOST_POINTS
    assert max(found.counts[Device.GPU]) == 10 * 512


def test_every_phase_has_its_share_of_the_timeline():
    long = [sign * number for number in range(1, 4001) for sign in (1, -1)]
    record = told([*long, 4001, 4002], [512] * 4002, [0] * 4002, [[0, "init", 0], [8000, "forward", 0]])
    found = timeline_of(Recorded.from_json(record))
    assert sum(1 for end in found.ends if end <= 8000) == MOST_POINTS // 2
    assert found.ends[-2:] == (8001, 8002)


def test_a_peak_of_many_lines_names_the_largest():
    lines = [["gpu", f"deepspeed/a.py:{number}", "f", f"x = {number}", ""] for number in range(100)]
    sizes = [512 * (100 + number) for number in range(100)]
    record = told(list(range(1, 101)), sizes, list(range(100)), [[0, "step", 0]]) | {"lines": lines}
    found = answer_of(record)
    parts = found.worst(Device.GPU).parts
    assert len(parts) == 61
    assert [part.count for part in parts if part.line == SMALLER] == [sum(sizes[:40])]
    assert found.worst(Device.GPU).count == sum(sizes)
    assert found.code["deepspeed/a.py:99"] == "x = 99"
    assert len(found.code) == 60


def test_pinned_blocks_that_are_freed_within_a_moment_count_once():
    """At the peak both blocks are alive; what stays pinned after it is no more than they were."""
    sizes, phases = [4096, 4096, 2048], [[0, "init", 0], [1, "step", 0]]
    freed = answer_of(told([1, 2, -2, -1, 3], sizes, [2, 2, 2], phases))
    assert freed.worst(Device.HOST).count == 2 * 4096
    assert freed.pins_kept == {Moment.STEP: Kept(2048)}  # 2 × 4096 wait when another size is pinned


def test_the_rounding_of_pinned_blocks_that_wait_is_told():
    size = 65 << 20  # rounded to 128 MiB
    phases = [[0, "init", 0], [2, "step", 0]]
    found = answer_of(told([1, -1, 2], [size, 1 << 20], [2, 2], phases))
    assert found.pins_kept == {Moment.STEP: Kept(128 << 20, 63 << 20)}


def test_what_torch_would_reserve_is_told():
    assert answer_of(RECORD).reserved == 2 << 20


@pytest.mark.parametrize(
    ("line", "component"),
    [
        (Line(Place.GPU, "deepspeed/ops/adam/fused_adam.py:155", "step", "state['exp_avg'] = x"), Component.MOMENTS),
        (Line(Place.GPU, "deepspeed/runtime/zero/stage3.py:1", "x", "", "frozen"), Component.FROZEN),
        (Line(Place.GPU, "deepspeed/runtime/zero/linear.py:92", "forward", "", "logits"), Component.ACTIVATIONS),
        (Line(Place.GPU, "transformers/loss/loss_utils.py:61", "f", "", "logits"), Component.LOGITS),
        (Line(Place.GPU, "", "", "", ""), Component.ACTIVATIONS),
        (Line(Place.GPU, "deepspeed/somewhere/new.py:1", "f", "x = torch.empty(1)"), Component.OTHER),
    ],
)
def test_a_line_is_for_a_component(line, component):
    assert component_of(line) is component
