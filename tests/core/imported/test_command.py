"""Shell lines around a training: what the launcher says, what the script is given, and what nobody understood."""

import pytest

from dsgui.core.imported.brought import Brought
from dsgui.core.imported.import_notes import fields_of, notes_of
from dsgui.core.imported.recognising import recognised
from dsgui.core.imported.training_line import with_settings


def read(text):
    outline = recognised(text)
    assert outline is not None
    return outline


def test_accelerate_launch_points_to_its_yaml_and_counts_all_processes():
    outline = read(
        "accelerate launch --config_file conf/z3.yaml --num-processes=8 --num_machines 2 --machine_rank 0 \\\n"
        "    train.py --model_name_or_path m --bf16 True\n"
    )
    assert (outline.accelerate_file, outline.reader, outline.script) == ("conf/z3.yaml", "accelerate", "train.py")
    assert (outline.ranks, outline.nodes) == (4, 2)
    assert outline.words == ("--model_name_or_path", "m", "--bf16", "True")
    assert outline.unread == ()


def test_short_keys_of_accelerate_launch_are_those_of_its_yaml():
    outline = read("accelerate launch --use_deepspeed --zero_stage 3 --mixed_precision bf16 train.py")
    assert outline.short == {"deepspeed_config": {"zero_stage": "3"}, "mixed_precision": "bf16"}
    assert read("accelerate launch --use_deepspeed --deepspeed_config_file a.json t.py").config_file == "a.json"


@pytest.mark.parametrize(("line", "reader", "config"), [
    ("deepspeed --num_gpus=4 train.py --deepspeed ds.json --lr 1", "hf", "ds.json"),
    ("deepspeed --num_gpus 4 train.py --deepspeed --deepspeed_config=ds.json --lr 1", "native", "ds.json"),
    ("python3.11 -m deepspeed.launcher.runner --num_gpus 4 train.py --deepspeed ds.json --lr 1", "hf", "ds.json"),
    ("deepspeed --num_gpus 4 train.py --lr 1", "", ""),
])  # fmt: skip
def test_the_config_is_taken_out_of_the_arguments_since_it_is_handed_over(line, reader, config):
    outline = read(line)
    assert (outline.reader, outline.config_file, outline.ranks, outline.started_by) == (reader, config, 4, "deepspeed")
    assert outline.words == ("--lr", "1")


def test_what_a_comment_cuts_off_is_taken_as_meant_and_told():
    """A comment ends the line that a backslash went on to: a shell starts the script without any argument."""
    outline = read(
        "deepspeed train.py \\\n  # the model\n  --model m \\\n  # 学习率\n  --lr 1e-4 \\\n  --bf16\n\necho done\n"
    )
    assert outline.words == ("--model", "m", "--lr", "1e-4", "--bf16")
    assert (outline.cut, outline.unread) == ("--model", ())
    assert [note.code for note in notes_of(outline, script_found=True)].count("cut") == 1
    whole = read("deepspeed train.py --model m \\\n  --lr 1e-4\n")
    assert (whole.words, whole.cut) == (("--model", "m", "--lr", "1e-4"), "")


def test_lines_without_a_backslash_are_taken_as_meant_too():
    outline = read("accelerate launch --config_file z3.yaml train.py\n  --lr 1\n  --bf16 $FLAG\n")
    assert (outline.words, outline.cut) == (("--lr", "1", "--bf16", "$FLAG"), "--lr")
    assert outline.unread == ("$FLAG",)


@pytest.mark.parametrize("after", [
    "while [ $# -gt 0 ]; do case $1 in\n--lr)\n LR=$2; shift ;;\n--bf16 )\n B=1 ;;\nesac; done",
    "case $1 in\n--lora|-l) L=1 ;;\nesac",
    "; --lr 2",
    "&& --lr 2",
    "&\n--lr 2",
])  # fmt: skip
def test_options_that_belong_to_no_command_are_no_arguments(after):
    outline = read(
        f"deepspeed train.py --a 1\n{after}\n" if after[0] not in ";&" else f"deepspeed train.py --a 1 {after}\n"
    )
    assert (outline.words, outline.cut) == (("--a", "1"), "")


def test_options_of_a_case_around_the_training_are_no_arguments():
    outline = read("case $1 in\n--full) deepspeed train.py --a 1 ;;\n--lora|-l)\n  L=1 ;;\nesac\n")
    assert outline.words == ("--a", "1")


def test_a_blank_behind_a_backslash_ends_the_command_too():
    outline = read("deepspeed train.py \\ \n  --lr=1 \\\t\n  --bf16\n")
    assert (outline.words, outline.cut, outline.unread) == (("--lr=1", "--bf16"), "--lr", ())


def test_a_comment_that_is_written_as_a_substitution_is_no_word():
    outline = read("deepspeed train.py --lr 1 `# QLoRA配置` \\\n  `#x` --bf16\n")
    assert (outline.words, outline.unread) == (("--lr", "1", "--bf16"), ())


@pytest.mark.parametrize("word", ["'`# Title`'", "$(# a)"])  # in bash a text, and no end of a line
def test_what_only_looks_like_such_a_comment_is_told(word):
    assert read(f"deepspeed train.py --prompt {word} --bf16\n").unread != ()


def test_variables_of_the_text_are_filled_in_and_sums_are_reckoned():
    outline = read(
        "#!/bin/bash\nn=2  # ranks\nexport HF_HOME=/data\nCUDA_VISIBLE_DEVICES=2,3 \\\nNPROC_PER_NODE=$n \\\n"
        "swift sft \\\n"
        "  --model m --gradient_accumulation_steps $(expr 16 / $n) --deepspeed zero3\n"
    )
    assert (outline.gpus, outline.ranks, outline.config_file) == (("2", "3"), 2, "swift/config/zero3.json")
    assert outline.environment == ("HF_HOME=/data",)
    assert outline.unread == ()
    assert outline.words[-2:] == ("--gradient_accumulation_steps", "8")


@pytest.mark.parametrize(("sum_of", "reckoned"), [
    ("$(( 7 / 2 ))", "3"),
    ("$(expr 4 \\* 3)", "12"),
    ("$((9-10))", "-1"),
    ("$((9 % 4))", "1"),
    ("$(expr 32 / 4 / 2)", "4"),
    ("$((64 - 2*8 + 1))", "49"),
])  # fmt: skip
def test_of_whole_numbers_a_sum_is_reckoned_as_a_shell_does(sum_of, reckoned):
    words = read(f"python train.py --deepspeed d.json --count {sum_of} --lr 1\n").words
    assert words == ("--count", reckoned, "--lr", "1")


@pytest.mark.parametrize("sum_of", ["$(expr 16 / 0)", "$((4 + 1 / 0))", "$(nproc)", "$(expr $RANDOM / 2)"])
def test_what_else_a_shell_computes_is_told(sum_of):
    assert read(f"python train.py --deepspeed d.json --count {sum_of} --lr 1\n").unread == (sum_of,)


@pytest.mark.parametrize("switches", ["-u -m", "-uB -X dev -W ignore -m", "-m"])
@pytest.mark.parametrize(
    "launcher", ["torch.distributed.run --nproc_per_node 2", "accelerate.commands.launch --num_processes 2"]
)
def test_python_may_have_switches_of_its_own(switches, launcher):
    outline = read(f"python3 {switches} {launcher} train.py --lr 1\n")
    assert (outline.ranks, outline.script, outline.words, outline.unread) == (2, "train.py", ("--lr", "1"), ())
    assert read(f"python {switches} trl.scripts.sft --lr 1\n").script == "trl/scripts/sft.py"


def test_a_script_that_prepares_is_not_the_training():
    outline = read("python scripts/install.py | sh\nmpirun -n 2 accelerate launch train.py --lr 1\n")
    assert (outline.script, outline.unread) == ("train.py", ("python scripts/install.py", "sh"))
    assert outline.in_front == ("mpirun", "-n", "2")
    assert read("python prepare.py\npython train.py --deepspeed ds.json\n").config_file == "ds.json"
    assert read("python train.py --lr 1\npython evaluate.py\n").script == "train.py"


def test_unknown_options_other_commands_and_other_hosts_are_listed():
    outline = read("pip install x\ntorchrun --nproc_per_node auto --shiny 3 train.py\npython second.py && echo done\n")
    assert outline.unread == ("--shiny 3", "ranks: auto", "pip install x", "python second.py")
    outline = read("deepspeed --hostfile hosts --include worker-1:0 t.py")
    assert (outline.unread, outline.hostfile) == (("--include worker-1:0",), "hosts")
    assert read("deepspeed --include localhost:1,3 t.py").gpus == ("1", "3")


def test_the_file_of_llama_factory_is_merged_with_what_follows_it():
    outline = read("FORCE_TORCHRUN=1 NPROC_PER_NODE=2 llamafactory-cli train run.yaml learning_rate=2e-5 bf16=true")
    assert (outline.settings_file, outline.ranks) == ("run.yaml", 2)
    whole = with_settings(
        outline, outline.tool, {"stage": "sft", "learning_rate": 1e-5, "deepspeed": "ds.json", "template": "x"}
    )
    assert whole.trainer.learning_rate == 2e-5
    assert whole.trainer.bf16 is True
    assert whole.words.count("--learning_rate") == 1
    assert whole.words[whole.words.index("--learning_rate") + 1] == "2e-5"
    assert (whole.config_file, whole.ranks) == ("ds.json", 2)


def test_the_file_of_llama_factory_v1_takes_its_launcher_and_keeps_its_overrides():
    outline = read("USE_V1=1 NPROC_PER_NODE=2 llamafactory-cli sft run.yaml max_steps=20")
    settings = {"model": "m", "max_steps": 10, "dist_config": {"name": "deepspeed", "config_file": "ds.json"}}
    whole = with_settings(outline, outline.tool, settings)
    assert whole.script == "src/llamafactory/v1/launcher.py"
    assert whole.words == ("run.yaml", "dist_config.config_file={config}", "max_steps=20")
    assert (whole.config_file, whole.ranks, whole.trainer.max_steps) == ("ds.json", 2, 20)
    assert whole.environment == ("USE_V1=1",)


def test_trl_and_axolotl_hand_options_on_to_their_launcher():
    outline = read("trl sft --model_name_or_path m --accelerate_config zero2 --num_processes 4 --packing true")
    assert (outline.accelerate_file, outline.config_name) == ("trl/accelerate_configs/zero2.yaml", "zero2")
    assert (outline.ranks, outline.script) == (4, "trl/scripts/sft.py")
    assert outline.words == ("--model_name_or_path", "m", "--packing", "true")
    outline = read("axolotl train run.yml --deepspeed ds.json --launcher torchrun -- --nproc_per_node=2")
    assert (outline.settings_file, outline.config_file, outline.ranks, outline.words) == ("run.yml", "ds.json", 2, ())


def test_the_trainers_arguments_follow_what_is_typed_while_the_script_stands():
    outline = read("swift sft --model m --per_device_train_batch_size 2 --deepspeed zero2")
    brought = Brought.of(outline, "")
    asked = {**fields_of(outline, ""), "arguments": "--model m --per_device_train_batch_size 4"}
    assert brought.now(asked).per_device_train_batch_size == 4
    assert brought.now({**asked, "script": "/opt/swift/cli/sft.py"}).weight_decay == 0.1
    assert brought.now({**asked, "script": "/home/me/other.py"}) is None
    assert brought.now({**asked, "what": "translation"}) is None
    assert Brought.of(read("torchrun train.py --bf16"), "train.py") is None


HOSTILE = [
    "torchrun x.py " + "$((" * 10_000,
    "torchrun x.py " + "$(a" * 5_000 + "(b)" * 5_000,
    "torchrun x.py " + '"' + '\\"' * 15_000,
    "torchrun x.py " + " >" * 15_000,
    "torchrun x.py\n" + "A=(" * 10_000,
    "torchrun x.py\n" + "read a <<EOF\n" * 2_000,
    "A=b\n" + "A=$A$A\n" * 5_000 + "torchrun x.py $A $A $A $A $A $A $A",
    "torchrun x.py " + "${A:-" * 6_000,
]


def test_hostile_lines_take_no_time():
    for line in ("torchrun x.py " + "`" * 31_000, "swift sft '" + "\n" * 31_000, "trl sft " + "$(" * 15_000, *HOSTILE):
        recognised(line)
    assert recognised("torchrun " + "-a" * 40_000 + " x.py") is None  # longer than is read


def test_a_variable_without_quotes_is_as_many_words_as_a_shell_makes_of_it():
    outline = read(
        'n=$(python -c \'print(len("ab"))\')\nARGS="\n  --nproc_per_node $n \\\n  --nnodes ${NNODES:-1}\n"\n'
        'EXTRA=(\n  --lr 1e-5  # don\'t raise\n  --tags "a b"\n)\n'
        'torchrun $ARGS train.py --deepspeed ${1:-ds.json} "${EXTRA[@]}" > >(tee out.log) 2>&1 | tee all.log\n'
    )
    assert (outline.script, outline.nodes, outline.config_file) == ("train.py", 1, "ds.json")
    assert "Nodes: 1" in " ".join(map(str, notes_of(outline, True)))  # and no number of ranks is made up
    assert outline.words == ("--lr", "1e-5", "--tags", "a b")  # where its output goes is no argument
    assert outline.unread == (
        "ranks: $(python -c 'print(len(\"ab\"))')",
        "$(python -c 'print(len(\"ab\"))')",
        "tee all.log",
    )


def test_a_number_sign_inside_a_word_is_no_comment():
    words = read("torchrun train.py --dataset one#500 two#500 --lr 1  # it's a comment\n").words
    assert words == ("--dataset", "one#500", "two#500", "--lr", "1")


def test_eval_of_a_command_that_was_put_together():
    outline = read(
        'model="--format \'<q>{}\' --lora True"\ncmd="torchrun --nproc_per_node 2 -m pkg.train $model"\n'
        "echo $cmd\neval $cmd\n"
    )
    assert (outline.script, outline.ranks) == ("pkg/train.py", 2)
    assert outline.words == ("--format", "<q>{}", "--lora", "True")
    assert outline.unread == ()


def test_what_a_script_is_called_with_replaces_no_value_that_it_has():
    outline = read(
        'MODEL="some/model"\nwhile [[ "$1" != "" ]]; do\n  case $1 in\n    -m | --model )\n      shift\n'
        "      MODEL=$1\n      ;;\n  esac\n  shift\ndone\ntorchrun train.py --model_name_or_path $MODEL\n"
    )
    assert outline.words == ("--model_name_or_path", "some/model")
    assert outline.unread == ("while [[ $1 != ]]", "case $1 in")


def test_a_variable_that_only_a_shell_can_tell_is_told_and_not_set():
    outline = read("export CACHE=$HOME/hub\nexport MODE=x\ntorchrun train.py --lr 1\n")
    assert outline.environment == ("MODE=x",)
    assert outline.unread == ("CACHE=$HOME/hub",)


def test_a_comment_goes_on_in_no_other_line():
    outline = read("  # --lr 1 \\\ntorchrun train.py \\\n  --a 1 \\\n  # --b 2 \\\n  --c 3\n")
    assert (outline.words, outline.cut) == (("--a", "1", "--c", "3"), "--c")
    assert outline.unread == ()


def test_a_command_that_read_takes_from_below():
    outline = read(
        "read -r -d '' rest <<EOF\npkg.cli.train_sft \\\n  --lr 1 \\\n  --packing\nEOF\n"
        'if [[ ${1} != "slurm" ]]; then\n  deepspeed --module $rest\nfi\n'
    )
    assert (outline.script, outline.words) == ("pkg/cli/train_sft.py", ("--lr", "1", "--packing"))
