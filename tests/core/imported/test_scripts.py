"""Whole shell scripts as people keep them: the files that they write, what they put together, and what they decide."""

import pytest

from dsgui.core.errors import DocumentError
from dsgui.core.imported.import_notes import notes_of
from dsgui.core.imported.recognising import recognised

CONFIG = '{\n  "train_batch_size": $B,\n  "zero_optimization": {\n     "stage": ${1:-2}\n  }\n}'
TRAINS = "deepspeed train.py --deepspeed --deepspeed_config ds.json"


def read(text):
    outline = recognised(text)
    assert outline is not None
    return outline


def told(outline):
    return " | ".join(map(str, notes_of(outline, script_found=True)))


# --------------------------------------------------------------------------------------------- files that it writes
@pytest.mark.parametrize("writes", [
    "cat <<EOT > ds.json\n%s\nEOT",
    "cat > ./ds.json <<EOT\n%s\nEOT",
    'DS=ds.json\ncat << "X" >"$DS"\n%s\nX',
    "cat <<-EOT | tee out/../ds.json\n%s\n\tEOT",
    "tee ds.json <<'EOT' > /dev/null\n%s\nEOT",
    "echo '%s' > ds.json",
    "printf '%s\\n' > ds.json",
])  # fmt: skip
def test_a_config_that_the_script_writes_is_no_command(writes):
    config = CONFIG.replace("$B", "8").replace("${1:-2}", "2")
    outline = read(f"#!/bin/bash\n{writes.replace('%s', config)}\n{TRAINS}\n")
    assert (outline.config_file, outline.script, outline.unread) == ("ds.json", "train.py", ())
    written = outline.written("ds.json")
    assert written is not None
    assert (written.text.strip(), written.unknown, written.depends) == (config, (), ())


def test_a_script_with_the_keys_of_a_tool_in_its_config_is_still_a_script():
    for first in ("", "export PORT=6000\n", "#!/bin/bash\n"):
        text = f"{first}B=8\ncat <<EOT > ds.json\n{CONFIG}\nEOT\n{TRAINS}\n"
        assert read(text).written("ds.json").text == CONFIG.replace("$B", "8").replace("${1:-2}", "2") + "\n"
    with pytest.raises(DocumentError):
        recognised('stage: sft\nmodel_name_or_path: "x\n')  # nothing trains here: told as what it is


def test_values_are_put_in_as_a_shell_does_and_what_is_unknown_is_named():
    body = '{"a": "\\$HOME", "b": $N, "c": $(( 4 * $N )), "d": "$UNSET", "e": `nproc`}'
    written = read(f"N=3\ncat <<EOT > ds.json\n{body}\nEOT\n{TRAINS}\n").written("ds.json")
    assert written.text == '{"a": "$HOME", "b": 3, "c": 12, "d": "$UNSET", "e": `nproc`}\n'
    assert written.unknown == ("$UNSET", "`nproc`")
    plain = read(f"N=3\ncat <<'EOT' > ds.json\n{body}\nEOT\n{TRAINS}\n").written("ds.json")
    assert (plain.text, plain.unknown) == (body + "\n", ())


@pytest.mark.parametrize(("writes", "unknown"), [
    ("sed 's/B/8/' template.json \\\n  > ds.json", "sed s/B/8/ template.json"),
    ("python make.py > ./ds.json", "python make.py"),
    ("echo '}' >> ds.json", ">> ds.json"),
])  # fmt: skip
def test_a_config_that_another_program_writes_is_not_known(writes, unknown):
    written = read(f"{writes}\n{TRAINS}\n").written("ds.json")
    assert written.unknown == (unknown,)


def test_an_array_that_a_condition_lets_grow_is_told():
    outline = read('A=(--x 1)\nif [ -n "$UNSET" ]; then\n  A+=(--y 2)\nfi\npython train.py "${A[@]}"\n')
    assert (outline.words, outline.depends) == (("--x", "1", "--y", "2"), ("A: if [ -n $UNSET ]",))


def test_the_last_file_before_the_training_counts():
    one, two = (f'cat <<EOT > ds.json\n{{"train_batch_size": {n}}}\nEOT\n' for n in (1, 2))
    assert read(f"{one}{two}{TRAINS}\n").written("ds.json").text == '{"train_batch_size": 2}\n'
    assert read(f"{one}{TRAINS}\n{two}").written("ds.json").text == '{"train_batch_size": 1}\n'
    assert read(f"{one}deepspeed train.py --deepspeed other.json\n").written("other.json") is None


@pytest.mark.parametrize("starts", ["sbatch <<EOT\n", "cat <<EOT > job.sh\n", "cat <<EOT > $JOB\n#!/bin/bash\n"])
def test_what_a_shell_reads_from_below_is_read_as_commands(starts):
    outline = read(f"{starts}srun deepspeed train.py --deepspeed ds.json --lr 1\nEOT\n")
    assert (outline.script, outline.config_file, outline.words) == ("train.py", "ds.json", ("--lr", "1"))


def test_a_text_that_only_looks_like_one_from_below_loses_nothing():
    assert read("cat <<EOT\ntorchrun train.py --lr 1\n").words == ("--lr", "1")  # it has no end
    assert read("x=$(( 1<<4 ))\ntorchrun train.py --lr 1 --text '<<EOT'\nEOT\n").words[:2] == ("--lr", "1")


# ------------------------------------------------------------------------------------------------ what it puts together
@pytest.mark.parametrize("starts", [
    "eval ${CMD}", 'eval "$CMD"', 'bash -c "$CMD"', 'srun --label bash -lc "$CMD"',
    'singularity exec --nv image.sif bash -eo pipefail -c "$CMD"',
])  # fmt: skip
@pytest.mark.parametrize("behind", ["2>&1 | tee log.txt", "&> log.txt", "; echo done", "&& echo done", "&"])
def test_a_command_in_a_variable_ends_where_a_shell_ends_it(starts, behind):
    outline = read(f'CMD="A=1 B=2 {TRAINS} --lr 1 {behind}"\n{starts}\n')
    assert (outline.script, outline.words, outline.config_file) == ("train.py", ("--lr", "1"), "ds.json")
    assert outline.environment == ("A=1", "B=2")
    assert set(outline.unread) <= {"tee log.txt"}
    assert outline.in_front == tuple(starts.split()[: starts.split().index("bash")] if "bash" in starts else ())


def test_what_is_computed_within_a_command_is_one_word():
    outline = read(f'PORT=$(shuf -n 1 -i 10000-65535)\nCMD="deepspeed --master_port $PORT {TRAINS[10:]}"\neval $CMD\n')
    assert (outline.port, outline.unread) == ("$(shuf -n 1 -i 10000-65535)", ("$(shuf -n 1 -i 10000-65535)",))
    assert outline.script == "train.py"


def test_a_value_that_goes_on_what_it_was_is_not_put_in_twice():
    outline = read('NAME=${NAME}-$SEED\nCMD="deepspeed train.py --name ${NAME}"\neval $CMD\n')
    assert outline.words == ("--name", "${NAME}-$SEED")


def test_a_variable_may_be_joined_with_a_blank_that_stands_in_braces():
    outline = read("B=two\nA=${A:+${A} }$B\ntorchrun train.py --data $A --one ${C:+x y}$B --lr 1\n")
    assert (outline.words, outline.unread) == (("--data", "two", "--one", "two", "--lr", "1"), ())
    assert read("A=one\nA=${A:+${A} }two\ntorchrun train.py --data $A\n").words == ("--data", "one", "two")


# ----------------------------------------------------------------------------------------------------- what is in front
@pytest.mark.parametrize("front", [
    "nsys profile --output=x", "ncu -o x --set full", "numactl --cpunodebind=0 --membind=0", "srun -N 2 numactl -l",
    "singularity exec --nv -B /data:/data image.sif", "docker run --rm --gpus all -v /a:/a image:1",
    "conda run -n env", "timeout 10h", "nohup nsys profile -t cuda",
])  # fmt: skip
@pytest.mark.parametrize("launcher", ["deepspeed", "torchrun", "python"])
def test_a_program_around_the_launcher_is_left_out_and_told(front, launcher):
    outline = read(f"{front} {launcher} train.py --deepspeed ds.json --lr 1\n")
    assert (outline.script, outline.config_file, outline.words) == ("train.py", "ds.json", ("--lr", "1"))
    assert outline.unread == ()
    assert f"Left out in front of the launcher: {front.removeprefix('nohup ').split()[0]}" in told(outline)
    assert outline.in_front[-1] == front.split()[-1]


def test_values_of_variables_in_front_are_not_told():
    outline = read("docker run -e HF_TOKEN=hf_abcdefgh image deepspeed train.py --deepspeed ds.json\n")
    assert "hf_abcdefgh" not in told(outline)
    assert read("env A=1 B=2 deepspeed train.py --lr 1\n").environment == ("A=1", "B=2")


# ---------------------------------------------------------------------------------------------------------- launchers
@pytest.mark.parametrize(("line", "ranks", "nodes", "unread"), [
    ("deepspeed --num_gpu=4 --num_node 2 train.py", 4, 2, ()),
    ("torchrun --nproc_per 4 --nnode=2 train.py", 4, 2, ()),
    ("python -m torch.distributed.launch --nnode=2 --nproc-per=4 train.py", 4, 2, ()),
    ("deepspeed --num=4 train.py", None, None, ("--num 4",)),  # of three: argparse refuses it
    ("accelerate launch --num_process 4 train.py", None, None, ("--num_process 4",)),  # accelerate takes none
])  # fmt: skip
def test_an_option_may_be_abbreviated_where_its_launcher_takes_it(line, ranks, nodes, unread):
    outline = read(f"{line} --lr 1\n")
    assert (outline.ranks, outline.nodes, outline.unread, outline.words) == (ranks, nodes, unread, ("--lr", "1"))


def test_nodes_of_a_hostfile_are_not_one_node():
    outline = read("deepspeed --hostfile=hosts --num_gpus=1 --exclude w-1 train.py\n")
    assert (outline.hostfile, outline.hosts, outline.nodes, outline.ranks) == ("hosts", ("", "w-1"), None, 1)
    assert "depends on the hostfile hosts" in told(outline)
    assert "nodes: 1" not in told(outline)
    assert "nodes: 1" in told(read('deepspeed --hostfile="" --num_gpus=1 train.py\n'))


# ----------------------------------------------------------------------------------------------------------- conditions
@pytest.mark.parametrize(("condition", "stage"), [
    ('[ "$BACKEND" != "ds" ]', "3"), ('[ "$BACKEND" = ds ]', "0"), ("[[ $BACKEND == ds ]]", "0"), ("[ $N -eq 2 ]", "0"),
    ("[ $N -gt 2 ]", "3"), ('[ -z "$EMPTY" ]', "0"), ('[ -n "$EMPTY" ]', "3"), ("! [ $N -ne 2 ]", "0"),
])  # fmt: skip
@pytest.mark.parametrize("then", ["; then", "\nthen"])
def test_a_comparison_of_known_values_is_decided(condition, stage, then):
    outline = read(
        f'STAGE=3\nBACKEND=ds\nN=2\nEMPTY=""\nif {condition}{then}\n  STAGE=0\nfi\n{TRAINS} --stage $STAGE\n'
    )
    assert (outline.words, outline.depends, outline.unread) == (("--stage", stage), (), ())


def test_of_several_branches_the_one_that_holds_is_taken():
    text = (
        "B={}\nif [ $B = a ]; then X=1\nelif [ $B = b ]; then\n  X=2\n  if [ $B = a ]; then X=9; fi\n"
        "else X=3; fi\ncase $B in\n  a | b) Y=4 ;;\n  *)\n    Y=5\n    ;;\nesac\npython train.py --x $X --y $Y\n"
    )
    for backend, x, y in (("a", "1", "4"), ("b", "2", "4"), ("c", "3", "5")):
        outline = read(text.replace("{}", backend))
        assert (outline.words, outline.depends, outline.unread) == (("--x", x, "--y", y), (), ())


def test_a_training_in_a_branch_that_does_not_run_is_not_meant():
    text = "M={}\nif [ $M = lora ]; then\n  deepspeed lora.py --lr 1\nelse\n  deepspeed full.py --lr 2\nfi\n"
    assert read(text.replace("{}", "lora")).script == "lora.py"
    full = read(text.replace("{}", "full"))
    assert (full.script, full.unread) == ("full.py", ())
    assert read("D=0\nif [ $D = 1 ]; then\n  deepspeed train.py --lr 1\nfi\n").script == "train.py"  # there is no other


@pytest.mark.parametrize("condition", [
    '[ "$1" = x ]', '[ -z "$UNSET" ]', "[ -f ds.json ]", "grep -q x", '[ "$A" = a ] && [ "$1" = x ]', "[[ $A == a* ]]",
])  # fmt: skip
def test_what_only_a_shell_decides_is_told_with_the_value(condition):
    outline = read(f'A=a\nSTAGE=3\nif {condition}; then\n  STAGE=0\nfi\nARGS="--stage $STAGE"\n{TRAINS} $ARGS\n')
    assert outline.words == ("--stage", "0")
    assert len(outline.depends) == 1
    assert outline.depends[0].startswith("STAGE: if ")
    assert "Depends on a condition" in told(outline)
    assert read(f"A=a\nUSED=1\nif {condition}; then\n  OTHER=0\nfi\n{TRAINS} $USED\n").depends == ()


def test_a_condition_on_what_is_not_known_for_sure_decides_nothing():
    outline = read('A=1\nif [ "$1" = x ]; then A=2; fi\nB=1\nif [ $A = 2 ]; then B=3; fi\npython train.py --b $B\n')
    assert outline.words == ("--b", "3")
    assert outline.depends == ("B: if [ $A = 2 ]",)


def test_a_config_that_a_condition_decides_is_told():
    outline = read(f'if [ "$1" = x ]; then\ncat <<EOT > ds.json\n{{}}\nEOT\nfi\n{TRAINS}\n')
    assert outline.written("ds.json").depends == ("if [ $1 = x ]",)


def test_what_a_script_is_called_with_is_no_argument():
    outline = read(
        'OPTS=""\nSTAGE=3\nLORA=0\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --stage) STAGE="$2"; shift 2 ;;\n'
        '    --lora | -l)\n      LORA=1\n      OPTS="${OPTS} --lora"\n      ;;\n    *)\n      OPTS="${OPTS} $1"\n'
        f'      shift ;;\n  esac\ndone\n{TRAINS} --stage $STAGE --lora $LORA $OPTS "$@"\n'
    )
    assert outline.words == ("--stage", "3", "--lora", "0")
    assert outline.depends == ()


# ----------------------------------------------------------------------------------------------------- native scripts
@pytest.mark.parametrize(("switch", "words"), [
    ("--deepspeed true --lr 1", ("--deepspeed", "true", "--lr", "1")),
    ("--deepspeed $@", ("--deepspeed",)),
    ('--lr 1 --deepspeed "$@"', ("--lr", "1", "--deepspeed")),
    ("--deepspeed=False", ("--deepspeed=False",)),
])  # fmt: skip
def test_a_switch_is_no_config(switch, words):
    outline = read(f"deepspeed train.py {switch}\n")
    assert (outline.config_file, outline.reader, outline.words) == ("", "", words)


def test_a_config_may_stand_in_the_trainers_option():
    outline = read("torchrun train.py --deepspeed '{\"train_batch_size\": 8}' --lr 1\n")
    assert (outline.config, outline.config_file, outline.words) == ({"train_batch_size": 8}, "", ("--lr", "1"))
    assert read("torchrun train.py --deepspeed '{x' --lr 1\n").config_file == "{x"


HOSTILE = [
    "cat <<EOT\n" * 6_000 + "EOT\ntorchrun x.py",
    "cat <<EOT > f\n" * 2_000 + "EOT\n" * 2_000 + "torchrun x.py",
    "A=" + "b" * 15_000 + "\ntorchrun x.py " + "$A " * 5_000,
    "A=" + "b" * 9_000 + "\ncat <<EOT > f\n" + "$A" * 9_000 + "\nEOT\ntorchrun x.py",
    'A="eval $A$A"\n' + "eval $A\n" * 3_000 + "torchrun x.py",
    "A='" + "x;" * 7_000 + "'\n" + "eval $A\n" * 2_000 + "torchrun x.py",
    "A+=(--x ${A[@]} ${A[@]})\n" * 1_200 + "torchrun x.py ${A[@]}",
    "(" * 15_000 + "torchrun x.py" + ")" * 15_000,
    "echo a >> f\n" * 2_500 + "torchrun x.py",
    "if [ a ]; then\n" * 2_000 + "torchrun x.py",
    "case $1 in\n" * 2_500 + "torchrun x.py",
    "torchrun x.py " + "${A:+" * 6_000,
    "torchrun x.py '{\n" + "'\\''\n" * 4_000,
    "a|" * 15_000 + ") torchrun x.py",
    "srun " * 6_000 + "torchrun x.py",
    "bash -c " * 3_500 + "torchrun x.py",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_script_takes_no_time(number):
    recognised(HOSTILE[number])
