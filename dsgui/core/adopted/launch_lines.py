"""Whether a text is what a launch of DeepSpeed or torch prints, where no step of its training is in it."""

import re

_LAUNCHED = re.compile(
    rb"\[(?:launch|runner|multinode_runner|real_accelerator)\.py:\d{1,5}(?::\w{1,60})?\]"
    rb"|\[(?:logging\.py:\d{1,5}:log_dist|comm\.py:\d{1,5}:\w*init_\w{1,40})\]"
    rb"|\bDeepSpeed info: version=|\*{5} Running training \*{5}|\bprocess \d{1,9} spawned with command"
    rb"|\bexits with return code = |\btorch[./]distributed[./](?:run|launch|launcher|elastic)\b"
    # the frames of a traceback
    rb"|[/\\](?:site|dist)-packages[/\\](?:deepspeed|torch|accelerate|transformers|datasets|evaluate|peft|trl"
    rb"|pytorch_lightning|lightning)[/\\]|\bTrainingArguments\b|\bCUDA out of memory\b"
)


def tells_of_launch(text: bytes) -> bool:
    """Not every traceback is a training's: one of its frames, or a line beside it, is a launcher's or a library's."""
    return _LAUNCHED.search(text) is not None
