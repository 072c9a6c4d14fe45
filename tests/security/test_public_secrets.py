"""Lines that other people's programs and scripts have in public: secrets are hidden, and ordinary output stays."""

import random
import re
import string
from pathlib import Path

from dsgui.core.access.secrets import MASK, Masker, mask
from tests.support.cases import each_case

HERE = Path(__file__).parent
RECORDED = sorted((HERE.parent / "outputs").rglob("*.txt"))
_LETTERS = {
    "hex": "0123456789abcdef",
    "digit": string.digits,
    "alpha": string.ascii_letters,
    "upper": string.ascii_uppercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "-_",
    "base64": string.ascii_letters + string.digits + "+/",
}
_PLACE = re.compile(r"⟦(\w+):(\d+)⟧")


def lines() -> list[str]:
    text = (HERE / "secret_lines.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def filled(line: str, seed: int) -> tuple[str, list[str]]:
    """The line with made secrets, and those. Each begins and ends with a letter or digit, as real ones do."""
    chosen, made = random.Random(f"{line}{seed}"), list[str]()

    def one(match: re.Match[str]) -> str:
        letters, length = _LETTERS[match[1]], int(match[2])
        ends = [letter for letter in letters if letter.isalnum()]
        inner = "".join(chosen.choice(letters) for _ in range(length - 2))
        made.append(chosen.choice(ends) + inner + chosen.choice(ends))
        return made[-1]

    return _PLACE.sub(one, line), made


@each_case("line", lines())
def test_a_secret_in_a_line_of_public_code_or_output_is_hidden(line: str) -> None:
    for seed in range(20):
        text, secrets = filled(line, seed)
        shown = mask(f"before\n{text}\nafter loss 2.5")
        assert not [one for one in secrets if one in shown or (len(one) > 12 and one[4:-4] in shown)], shown
        assert MASK in shown
        assert shown.startswith("before\n")
        assert shown.endswith("\nafter loss 2.5")


@each_case("line", lines())
def test_it_is_hidden_the_same_however_the_output_is_cut(line: str) -> None:
    text = f"before\n{filled(line, 1)[0]}\nafter\n"
    raw, whole = text.encode(), mask(text).encode()
    for cut in range(1, len(raw)):
        masker = Masker()
        assert masker.feed(raw[:cut]) + masker.feed(raw[cut:]) + masker.finish() == whole
    masker = Masker()
    assert b"".join(masker.feed(raw[n : n + 1]) for n in range(len(raw))) + masker.finish() == whole


def test_enough_lines_are_tried() -> None:
    assert len(set(lines())) >= 50


@each_case("path", RECORDED, ids=lambda path: path.stem)
def test_nothing_of_recorded_training_output_is_hidden(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    assert mask(text) == text
    assert [line for line in text.split("\n") if mask(line) != line] == []


@each_case(
    "line",
    [
        "token: 512",
        "tokens per second: 1234567890",
        "max_token = 4",
        "MAX_TOKENS = 4096000000",
        "TRAIN_TOKENS=300000000000 EVAL_TOKENS: 1_000_000_000",
        "pad_token = '<pad>'",
        "PAD_TOKEN = '<|endoftext|>', EOS_TOKEN='<|im_end|>' BOS_TOKEN: <|begin_of_text|>",
        "pad_token='<unused12345678>' unk_token: '[UNK_00000012]'",
        "tokenizer_key = 'bert-base-uncased-v2024'",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "git commit: 3f786850e387550fdab836ed7e6dc881de23001b",
        "{'token': 'tokenization2024', 'key': 'model.layers.0.self_attn.q_proj.weight'}",
        "key: model.layers.12.mlp.down_proj.weight, size 4096x11008",
        "KEY: layer1/attention2/weight",
        "STATE_DICT_KEY = 'module.model.layers.0.weight'",
        "missing key(s) in state_dict: 'transformer.h.0.attn.bias12345'",
        "os.environ['HF_TOKEN'] = os.environ['MY_TOKEN']",
        "    HF_TOKEN = os.environ.get('HF_TOKEN')",
        "api_key = getpass.getpass('key for wandb2: ')",
        "unset = ['HF_TOKEN', 'WANDB_API_KEY', 'AWS_SECRET_ACCESS_KEY']",
        "wandb: You can find your API key in your browser here: https://wandb.ai/authorize?ref=models",
        "wandb: Paste an API key from your profile and hit enter, or press ctrl+c to quit:",
        "wandb: Appending key for api.wandb.ai to your netrc file: /home/someone/.netrc",
        "wandb: ERROR API key must be 40 characters long, yours was 39",
        "Your API key is irreplaceable — persist it. Make sure your API key is configured.",
        "wandb login is needed: run `wandb login --relogin` or set WANDB_API_KEY",
        "Get your access token: https://readwise.io/access_token",
        "the password is stored elsewhere; password authentication failed for user2",
        "Loaded 12345678 tokens, key_dim: 128, num_key_value_heads: 8, hub_token: None",
        "expected a -----BEGIN PRIVATE KEY----- line in id_rsa, found none",
        "https://me@host.example.org:8080/path and mail me@host.example.org",
    ],
)
def test_ordinary_lines_are_left_alone(line: str) -> None:
    assert mask(line) == line


_BODY = ["MII" + "aB3/" * 15 + "x"] + ["Zq+7" * 16] * 6 + ["Qw9Er="]
_PEM = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *_BODY, "-----END RSA PRIVATE KEY-----"])


@each_case(
    "text",
    [
        _PEM,
        _PEM.replace("RSA ", ""),
        _PEM.replace("RSA ", "OPENSSH "),
        _PEM.replace("RSA ", "ENCRYPTED "),
        _PEM.replace("\n", "\r\n"),
        _PEM.replace("\n", "\n[rank0]: "),
        _PEM.replace("\n", "\n    "),
        '{"private_key": "' + _PEM.replace("\n", "\\n") + '\\n", "client_email": "a@b"}',
        _PEM.replace(
            "RSA PRIVATE KEY-----\n", "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128\n\n", 1
        ),
        _PEM.partition("-----END")[0],
        _PEM.replace("\n", " "),
    ],
    ids=["rsa", "plain", "ssh", "encrypted", "crlf", "ranks", "indented", "json", "headers", "cut", "one line"],
)
def test_a_private_key_is_hidden_over_all_its_lines_however_it_is_cut(text: str) -> None:
    whole = f"step 1 loss 2.5\n{text}\nstep 2 loss 2.4\n"
    shown = mask(whole)
    assert MASK in shown
    assert not [line for line in _BODY if line in shown]
    assert shown.startswith("step 1 loss 2.5\n-----BEGIN" if text.startswith("--") else "step 1 loss 2.5\n{")
    assert shown.endswith("\nstep 2 loss 2.4\n")
    raw = whole.encode()
    for size in (1, 7, 64, 65):
        masker = Masker()
        told = b"".join(masker.feed(raw[at : at + size]) for at in range(0, len(raw), size)) + masker.finish()
        assert told.decode() == shown


def test_a_private_key_in_long_output_is_hidden() -> None:
    lines_before = [f"step {number} loss 2.{number}" for number in range(1000)]
    text = "\n".join([*lines_before[:500], _PEM, *lines_before[500:], ""])
    shown = mask(text)
    assert not [line for line in _BODY if line in shown]
    assert [line for line in shown.split("\n") if line.startswith("step")] == lines_before
    masker = Masker()
    told = b"".join(masker.feed(text[at : at + 9000].encode()) for at in range(0, len(text), 9000)) + masker.finish()
    assert told.decode() == shown
