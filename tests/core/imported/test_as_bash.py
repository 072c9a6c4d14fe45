"""What is read of a script is what bash does with it: a stand-in launcher tells its arguments, and the config that lies
there when it starts."""

import shutil
import subprocess

import pytest

from dsgui.core.imported.recognising import recognised

STAND_IN = """#!/bin/bash
printf '%s\\037' "$@" >> "$CALLS"
printf '\\036' >> "$CALLS"
cat ds.json >> "$CONFIG" 2> /dev/null
exit 0
"""
WRAPPER = """#!/bin/bash
while [ $# -gt 0 ]; do case $1 in deepspeed | bash) exec "$@" ;; *) shift ;; esac; done
"""
NAMED = "train.py --deepspeed --deepspeed_config ds.json"
SCRIPTS = {
    "heredoc": 'B=8\ncat <<EOT > ds.json\n{"train_batch_size": $B, "x": "\\$B", "y": $((1 + $B * 2))}\nEOT\n'
    f"deepspeed {NAMED} --b $B\n",
    "plain heredoc": f'cat <<"EOT" >./ds.json\n{{"a": "$B"}}\nEOT\ndeepspeed {NAMED}\n',
    "tabs": f'if true; then\n\tcat <<-EOT >ds.json\n\t{{\n\t\t"a": 1\n\t}}\n\tEOT\nfi\ndeepspeed {NAMED}\n',
    "echo": f'S=2\necho \'{{"stage":\n  \'"$S"\'}}\' > ds.json\ndeepspeed {NAMED} --s "$S"\n',
    "echo of a variable": f'JSON=\'{{\n "a": [1,\n 2]}}\'\necho "$JSON" > ds.json\ndeepspeed {NAMED}\n',
    "usage": "cat <<EOT\nusage: python train.py --lr X\nEOT\ndeepspeed train.py --lr 1\n",
    "eval": f'OPTS="--a 1 \\\n  --b \'x y\'"\nCMD="A=1 deepspeed {NAMED} $OPTS 2>&1 | tee log"\necho $CMD\neval $CMD\n',
    "eval quoted": f'CMD="deepspeed {NAMED} --a \\"x  y\\""\neval "$CMD; echo done"\n',
    "unevaluated": 'CMD="deepspeed train.py --a 1"\n$CMD --b 2 > log 2>&1\n',
    "shell in a shell": f'X=1\nexport X\nsrun -N 1 bash -c "deepspeed {NAMED} --x $X && echo $X"\n',
    "nested": 'IN=\'deepspeed train.py --a "b c"\'\nOUT="bash -c \'$IN\'"\neval "$OUT"\n',
    "array": 'A=(--x 1 --y "a b")\ndeepspeed train.py "${A[@]}" --z 3\n',
    "defaults": 'LR=${1:-1e-4}\nN=${N:-2}\nM=${N:+--n $N}\ndeepspeed train.py --lr $LR $M ${X:+--no} --s ${2:-"a"}\n',
    "sums": "G=4; B=$((32 / $G)); C=$(expr 3 \\* 5)\ndeepspeed train.py --b $B --c $C --d $((2 + 3)) --e $((G * 2))\n",
    "if": 'A=x\nif [ "$A" == "x" ] ; then B=1; else B=2; fi\nif [[ $B -eq 1 ]]\nthen\n  deepspeed train.py --b $B\n'
    "else\n  deepspeed other.py\nfi\n",
    "elif": 'A=y\nif [ "$A" = "x" ]; then\n  B=1\nelif [ $A = y ]; then\n  B=2\nelif [ $A = y ]; then\n  B=3\nelse\n'
    "  B=4\nfi\ndeepspeed train.py --b $B\n",
    "nested if": "A=1; B=1\nif [ $A -gt 1 ]; then\n  if [ $A -eq 1 ]; then B=2; fi\n  B=3\nelse\n"
    "  if [ $A -le 1 ]; then\n    B=4\n  fi\nfi\ndeepspeed train.py --b $B\n",
    "case": "M=13b\ncase $M in\n  7b) L=32;;\n  13b | 14b)\n    L=40\n    ;;\n  *) L=80 ;;\n"
    "esac\ndeepspeed train.py --l $L\n",
    "case with blanks": 'M="a b"\ncase "$M" in\n  "a b") L=1 ;;\n  *) L=2 ;;\nesac\ndeepspeed train.py --l $L\n',
    "arguments": 'A=1\nwhile [ $# -gt 0 ]; do\n  case "$1" in\n    -a) A="$2"; shift ;;\n  esac\n  shift\ndone\n'
    'deepspeed train.py --a $A "$@"\n',
    "wrapped": "nohup nsys profile -o x deepspeed train.py --a 1 > log 2>&1 < /dev/null\n",
    "redirected before": "> log 2>&1 deepspeed train.py --a 1\n",
    "comments": "deepspeed train.py --a 1 `# one` \\\n  --b '#2' # end\n",
    "quotes": "deepspeed train.py --a 'it'\"'\"'s' --b \"a\\\"b\" --c a\\ b --d \"\" --e ''\n",
    "unset": "A=1\nunset A\nB=${A:-2}\ndeepspeed train.py --b $B\n",
    "exported": "export A=1 B=2\nA=3\ndeepspeed train.py --a $A --b ${B}x\n",
    "appended": 'A="--x 1"\nA+=" --y 2"\ndeepspeed train.py $A\n',
    "and": 'A=1\n[ $A = 1 ] && B=2\n[ $A = 2 ] && B=3\n[ -z "$A" ] || C=4\ndeepspeed train.py --b $B --c $C\n',
    "one line": 'A=2; [ "$A" -gt 1 ] && deepspeed train.py --a $A || deepspeed other.py\n',
    "one line if": 'A=2; if [ "$A" -gt 1 ]; then deepspeed train.py --a $A; else deepspeed other.py; fi\n',
    "array that grows": 'A=(\n  --x 1 # one\n)\nN=2\nA+=(--y "a b" --n $N)\nif [ $N = 3 ]; then A+=(--never); fi\n'
    'B=(deepspeed train.py)\n"${B[@]}" "${A[@]}" --z ${A[*]} "${A[*]}"\n',
    "array in a command": 'A=(--x 1 --y 2)\nCMD="deepspeed train.py ${A[*]}"\neval $CMD\n',
    "parentheses": "(mkdir -p x; deepspeed train.py --a 1)\n",
    "test": 'A=""\ntest -z "$A" && B=1\ndeepspeed train.py --b $B\n',
    "declared": "declare -r A=1\nreadonly B=2\ndeepspeed train.py --a $A --b $B\n",
    "an argument or else": 'A=$1\nB=$2\nif [ "$A" == "" ]; then\n  A=3\nfi\n[ -z "$2" ] && B=4\n'
    "deepspeed train.py --a $A --b $B\n",
    "text of a variable": "B=8\n"
    f'JSON=$(cat <<EOF\n{{\n  "b": $B\n}}\nEOF\n)\necho "$JSON" > ds.json\ndeepspeed {NAMED}\n',
    "lines one by one": f"echo '{{' > ds.json\necho '\"a\": 1}}' >> ds.json\ndeepspeed {NAMED}\n",
    "function": "run() {\n  deepspeed train.py --a 1\n}\nrun\n",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("deepspeed", STAND_IN), *((one, WRAPPER) for one in ("srun", "nsys", "nohup"))):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in ("bash", "cat", "tee", "expr"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def run(script, programs, folder):
    """The words of each start, and the config that lay there."""
    surroundings = {"PATH": str(programs), "CALLS": str(folder / "calls"), "CONFIG": str(folder / "config")}
    subprocess.run(
        [shutil.which("bash"), "-c", script], cwd=folder, env=surroundings, timeout=30, capture_output=True, check=False
    )
    calls = (folder / "calls").read_text().split("\x1e")[:-1]
    config = folder / "config"
    return [call.split("\x1f")[:-1] for call in calls], config.read_text() if config.exists() else ""


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_read_as_bash_runs_it(name, programs, tmp_path):
    (call,), config = run(SCRIPTS[name], programs, tmp_path)
    outline = recognised(SCRIPTS[name])
    assert outline is not None
    handed = ["--deepspeed", "--deepspeed_config", "ds.json"] if outline.config_file else []
    assert call == [outline.script, *handed, *outline.words]
    assert outline.depends == ()
    if config:
        written = outline.written(outline.config_file)
        assert (written.text.strip(), written.unknown) == (config.strip(), ())
