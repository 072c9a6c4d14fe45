"""The four tracks: a tutorial for each of the documents that dsgui's presets come from."""

from collections.abc import Mapping

from dsgui.core.config.context import Integration
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.learn.track import Doing, Opens, Step, Track, Wanted

HF, NATIVE = Integration.HF, Integration.NATIVE
_TRANSLATION = "translat"  # of the recipe's script and of transformers' own
_SHORT = "--max_steps 60"  # the loss is then at a tenth, in a minute on two cores
_ZERO_2 = Wanted(HF, stage=2, named=_TRANSLATION)
_ZERO_3 = Wanted(HF, stage=3, named=_TRANSLATION)
_OFFLOADED = Wanted(HF, stage=2, offloads=True, named=_TRANSLATION)
_KEPT = Wanted(HF, stage=2, offloads=False, named=_TRANSLATION)
_OF_64 = Wanted(NATIVE, batch=64)
_OTHER_CUT = Wanted(NATIVE, batch=64, apart=True)
_LORA = Wanted(lora=True)
_HOSTFILE = "node1 slots=4\nnode2 slots=4\n"

TRANSLATION = Track(
    "translation",
    (
        Step("auto", Doing.ANSWERS, (Opens("configure", "zero2-offload-t5"),), choices=3, right=1),
        Step(
            "zero2_run",
            Doing.LAUNCHES,
            (Opens("launch", "zero2-offload-t5", recipe="translation", arguments=_SHORT),),
            (_ZERO_2,),
        ),
        Step("zero2_loss", Doing.HALVES, (Opens("runs"),), (_ZERO_2,)),
        Step(
            "zero3_run",
            Doing.LAUNCHES,
            (Opens("launch", "zero3-offload-t5-3b-before", recipe="translation", arguments=_SHORT),),
            (_ZERO_3,),
        ),
        Step("side_by_side", Doing.COMPARES, (), (_ZERO_2, _ZERO_3), numbers="runs"),
        Step(
            "two_keys",
            Doing.ANSWERS,
            (Opens("configure", "zero3-offload-t5-3b-before"), Opens("configure", "zero3-offload-t5-3b-after")),
            choices=3,
            right=2,
            numbers="two_keys",
        ),
    ),
)

MEMORY = Track(
    "memory",
    (
        Step("sixteen", Doing.ANSWERS, choices=3, right=0, sliders="size,ranks,stage", alone=True, noted=True),
        Step("stages", Doing.FINDS, sliders="size,ranks,stage,device", goal="lowest_stage"),
        Step("offload", Doing.FINDS, sliders="size,stage,offload,device", goal="one_small_card", noted=True),
        Step(
            "activations",
            Doing.ANSWERS,
            choices=3,
            right=1,
            sliders="size,ranks,stage,micro,length,checkpointing",
        ),
        Step("buffers", Doing.ANSWERS, choices=3, right=2, sliders="size,ranks,stage,bucket"),
        Step(
            "with_and_without",
            Doing.COMPARES,
            (
                Opens("launch", "zero2-offload-hf", recipe="translation", arguments=_SHORT),
                Opens("launch", "zero2-hf", recipe="translation", arguments=_SHORT),
            ),
            (_OFFLOADED, _KEPT),
            numbers="runs",
        ),
        Step("price", Doing.ANSWERS, (), (_OFFLOADED, _KEPT), choices=3, right=0, numbers="runs"),
    ),
)

NATIVE_TRACK = Track(
    "native",
    (
        Step(
            "table",
            Doing.ANSWERS,
            tuple(Opens("configure", "native-batch-64", plan=plan) for plan in range(3)),
            choices=3,
            right=1,
        ),
        Step(
            "first_cut",
            Doing.LAUNCHES,
            (Opens("launch", "native-batch-64", recipe="pretraining", arguments="--max_steps 72", ranks=2),),
            (_OF_64,),
        ),
        Step(
            "other_cut",
            Doing.LAUNCHES,
            (Opens("launch", "native-batch-64", plan=0, recipe="pretraining", arguments="--max_steps 72", ranks=1),),
            (_OF_64, _OTHER_CUT),
        ),
        Step(
            "optimizer",
            Doing.ANSWERS,
            (Opens("configure", "native-batch-64"),),
            choices=3,
            right=0,
        ),
        Step(
            "precision",
            Doing.ANSWERS,
            (Opens("configure", "native-zero2-fp16-cosine"),),
            choices=3,
            right=2,
            table="opt_level",
        ),
        Step("same_batch", Doing.ANSWERS, (), (_OF_64, _OTHER_CUT), choices=3, right=1, numbers="runs"),
    ),
)

LORA = Track(
    "lora",
    (
        Step("backends", Doing.ANSWERS, (Opens("machine"),), choices=3, right=2, table="backends"),
        Step(
            "two_nodes",
            Doing.ANSWERS,
            (
                Opens(
                    "launch",
                    "native-batch-64",
                    plan=2,
                    recipe="pretraining",
                    place=Machines(_HOSTFILE, include="node1:3@node2:2,3"),
                ),
            ),
            choices=3,
            right=0,
        ),
        Step(
            "dialogues",
            Doing.HALVES,
            (Opens("launch", "zero3-offload-bf16-flan-t5", recipe="summarization"),),
            (Wanted(HF, named="summar"),),
        ),
        Step(
            "lora_run",
            Doing.HALVES,
            (
                Opens(
                    "launch",
                    "zero2-offload-bloom-lora",
                    recipe="instruction_lora",
                    arguments="--fp16 --gradient_checkpointing",
                ),
            ),
            (_LORA,),
        ),
        Step("adapter", Doing.WORKS_ON, (Opens("runs"),), (_LORA,)),
        Step("seven_b", Doing.ANSWERS, (), (_LORA,), choices=3, right=1, numbers="lora"),
    ),
)

TRACKS = (TRANSLATION, MEMORY, NATIVE_TRACK, LORA)
BY_ID: Mapping[str, Track] = {track.id: track for track in TRACKS}
STEPS: Mapping[str, Step] = {step.id: step for track in TRACKS for step in track.steps}
