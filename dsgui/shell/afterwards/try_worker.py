"""Generates from a trained model: run by path in the environment that trained, for `trying.py`.

A JSON line on stdin tells what to load, each later one asks. On stdout: `{"phase": …}`, one `{"loaded": …}`,
then for each question `{"of": …, "text": …}` as it grows and `{"answers": …}`. `{"problem": …}` says what went
wrong. Nothing is fetched from anywhere; it ends with its stdin. Python 3.9 must read this file.
"""

import contextlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
# Found without its folder on the path, as in `oracle_worker.py`.
_OURS = types.ModuleType("dsgui")
_OURS.__path__ = [os.path.join(_HERE.rpartition(f"{os.sep}dsgui{os.sep}")[0], "dsgui")]
sys.modules.setdefault("dsgui", _OURS)
from dsgui.shell.afterwards.weights_worker import first_line  # noqa: E402 — found through the lines above alone
from dsgui.shell.oracle.oracle_confines import end_with_parent  # noqa: E402

if _HERE in sys.path:
    sys.path.remove(_HERE)

TOLD_EVERY_S = 0.3
WATCHED_EVERY_S = 0.1
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken.json", "merges.txt")
GENERATES = (
    "ForCausalLM",
    "ForConditionalGeneration",
    "LMHeadModel",
    "ForSeq2SeqLM",
    "ForQuestionAnsweringAndGeneration",
)


class Problem(Exception):
    """What is said instead of an answer: a code of the catalogue and what its text leaves open."""

    def __init__(self, code: str, **given: str) -> None:
        super().__init__(code)
        self.code, self.given = code, given


def main() -> None:
    """Until stdin ends."""
    end_with_parent(signal.SIGKILL)
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    talk = Talk(answers)
    asked: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=hear, args=(asked,), daemon=True).start()
    told = asked.get()
    keep_small(told["limit_bytes"], talk)
    try:
        with problems():
            models = Models(told, talk)
    except Problem as problem:
        talk.problem(problem)
        return
    while True:
        question = asked.get()
        try:
            with problems():
                talk.say(answers=models.answers(question))
        except Problem as problem:
            talk.problem(problem)


def hear(asked: "queue.Queue[dict[str, Any]]") -> None:
    """A model is not asked for leave when whoever wanted it has gone."""
    for line in sys.stdin:
        asked.put(json.loads(line))
    os._exit(0)


class Talk:
    """One JSON line after the other, from any thread."""

    def __init__(self, answers: int) -> None:
        self._answers, self._lock = answers, threading.Lock()

    def say(self, **message: Any) -> None:
        data = (json.dumps(message) + "\n").encode()
        with self._lock:
            while data:
                data = data[os.write(self._answers, data) :]

    def problem(self, problem: Problem) -> None:
        self.say(problem={"code": problem.code, "given": problem.given})


def keep_small(limit_bytes: int, talk: Talk) -> None:
    """The first to go when memory ends, and by itself before that."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")

    def watch() -> None:
        while resident_bytes() < limit_bytes:
            time.sleep(WATCHED_EVERY_S)
        talk.problem(Problem("over_limit", limit=f"{limit_bytes / (1 << 30):.1f} GiB"))
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        fields = statm.read().split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGESIZE")  # files that are mapped can be dropped


@contextlib.contextmanager
def problems() -> Any:
    """Whatever a stranger's environment and model raise becomes a sentence."""
    try:
        yield
    except Problem:
        raise
    except MemoryError as error:
        raise Problem("no_host_memory") from error
    except ModuleNotFoundError as error:
        raise Problem("no_package", name=str(error.name), python=sys.executable) from error
    except Exception as error:
        said = first_line(error)
        if type(error).__name__ == "OutOfMemoryError":  # torch's, of a GPU
            raise Problem("no_gpu_memory") from error
        if isinstance(error, RuntimeError) and "memory" in said:  # torch's allocator for the host
            raise Problem("no_host_memory") from error
        raise Problem("failed", error=f"{type(error).__name__}: {said}") from error


class Models:
    """What was loaded: the trained model and, where there is one to compare with, its base."""

    def __init__(self, told: "dict[str, Any]", talk: Talk) -> None:
        self._talk = talk
        self.transformers = importlib.import_module("transformers")
        self.torch = importlib.import_module("torch")
        began = time.monotonic()
        talk.say(phase="loading")
        self.device = self.device_for(told["device"], told["size_bytes"])
        self.tokenizer = self.tokenizer_of(told["tokenizers"])
        self.trained = self.loaded(told["model"])
        self.adapter = told["adapter"]
        if self.adapter:
            self.trained = self.adapted(told["adapter"], told["model"])
        self.base = self.loaded(told["base"]) if told["base"] else None
        weights = list(self.trained.parameters())
        talk.say(
            loaded={
                "device": str(self.device),
                "dtype": str(weights[0].dtype).replace("torch.", ""),
                "parameters": f"{sum(one.numel() for one in weights):,}",
                "seconds": f"{time.monotonic() - began:.1f}",
            }
        )

    def device_for(self, wanted: str, size_bytes: int) -> Any:
        """A GPU where there is one with room, unless the CPU was named."""
        there = wanted != "cpu" and self.torch.cuda.is_available()
        if wanted == "gpu" and not there:
            raise Problem("no_gpu")
        fits = there and (wanted == "gpu" or self.torch.cuda.mem_get_info()[0] > 1.2 * size_bytes + (1 << 29))
        return self.torch.device("cuda" if fits else "cpu")

    def tokenizer_of(self, folders: "list[str]") -> Any:
        """transformers 5 makes an empty one of a class that it guesses where there are no files."""
        why = "tokenizer.json: –"
        for folder in (one for one in folders if any(next(Path(one).glob(name), None) for name in TOKENIZERS)):
            try:
                return self.transformers.AutoTokenizer.from_pretrained(
                    folder, local_files_only=True, trust_remote_code=False
                )
            except ImportError:
                raise
            except Exception as error:  # noqa: BLE001 — whatever the files of a stranger's tokenizer raise is told
                why = first_line(error)
        raise Problem("no_tokenizer", folder=folders[0], why=why)

    def loaded(self, folder: str) -> Any:
        """In the type that it was saved in. Raises `Problem`."""
        try:
            config = self.transformers.AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise Problem("no_config", folder=folder, why=first_line(error)) from error
        for name in config.architectures or ():
            if not name.endswith(GENERATES):
                raise Problem("not_generative", folder=folder, name=name)
        name = "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM"
        model, notes = self.read(getattr(self.transformers, name), folder)
        if notes["missing_keys"]:
            missing = sorted(notes["missing_keys"])
            raise Problem("missing", folder=folder, count=str(len(missing)), name=missing[0])
        return model.to(self.device).eval()

    def read(self, loader: Any, folder: str) -> Any:
        newer = int(self.transformers.__version__.partition(".")[0]) >= 5
        how = {"dtype" if newer else "torch_dtype": "auto", "local_files_only": True, "trust_remote_code": False}
        try:
            return loader.from_pretrained(folder, output_loading_info=True, **how)
        except (MemoryError, ImportError):
            raise
        except Exception as error:
            if "memory" in str(error):
                raise
            raise Problem("not_loaded", folder=folder, why=first_line(error)) from error

    def adapted(self, adapter: str, base: str) -> Any:
        peft = importlib.import_module("peft")
        try:
            model = peft.PeftModel.from_pretrained(self.trained, adapter, is_trainable=False)
        except (ValueError, RuntimeError, OSError, AttributeError, KeyError) as error:
            raise Problem("no_fit", adapter=adapter, base=base, why=first_line(error)) from error
        return model.to(self.device).eval()

    # -- an answer -------------------------------------------------------------------------------------------------

    def answers(self, question: "dict[str, Any]") -> "dict[str, Any]":
        """By whom it comes from."""
        found = {"trained": self.answer(self.trained, "trained", question)}
        if question["beside"] and self.base is not None:
            found["base"] = self.answer(self.base, "base", question)
        elif question["beside"] and self.adapter:
            with self.trained.disable_adapter():
                found["base"] = self.answer(self.trained, "base", question)
        return found

    def answer(self, model: Any, of: str, question: "dict[str, Any]") -> "dict[str, Any]":
        self._talk.say(phase="generating", of=of)
        given = self.tokens_of(model, question["prompt"])
        length = 0 if model.config.is_encoder_decoder else given["input_ids"].shape[1]
        most = self.most_tokens(model, given["input_ids"].shape[1], question["tokens"])
        streamer = Growing(self.tokenizer, self._talk, of, question["most_characters"], prompts=length)
        began = time.monotonic()
        self.torch.manual_seed(question["seed"])
        with self.torch.inference_mode():
            made = model.generate(**given, streamer=streamer, **self.sampling(question, most))[0][length:]
        seconds = time.monotonic() - began
        text = self.tokenizer.decode(made, skip_special_tokens=True)
        count = len(made) - (1 if model.config.is_encoder_decoder else 0)
        stopped = "time" if seconds >= question["limit_s"] else "tokens" if count >= most else ""
        told = {"text": text[: question["most_characters"]], "tokens": count, "seconds": round(seconds, 2)}
        return {**told, "stopped": stopped}

    def tokens_of(self, model: Any, prompt: str) -> "dict[str, Any]":
        given = self.tokenizer(prompt, return_tensors="pt")
        found = {name: given[name].to(self.device) for name in ("input_ids", "attention_mask") if name in given}
        ids = found["input_ids"]
        if ids.shape[1] == 0:
            raise Problem("no_tokens")
        if int(ids.max()) >= model.get_input_embeddings().num_embeddings:
            raise Problem("other_tokenizer", count=str(model.get_input_embeddings().num_embeddings))
        return found

    def most_tokens(self, model: Any, prompt: int, wanted: int) -> int:
        """As many as its positions have room for."""
        positions = getattr(model.config, "max_position_embeddings", None)
        if not isinstance(positions, int):
            return wanted
        left = positions if model.config.is_encoder_decoder else positions - prompt
        if prompt > positions or left <= 0:
            raise Problem("long_prompt", count=str(prompt), most=str(positions))
        return min(wanted, left)

    def sampling(self, question: "dict[str, Any]", most: int) -> "dict[str, Any]":
        temperature = question["temperature"]
        samples = {"temperature": temperature} if temperature else {"temperature": 1.0, "top_p": 1.0, "top_k": 50}
        pad = next((i for i in (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id) if i is not None), None)
        bounds = {"max_new_tokens": most, "min_new_tokens": 0, "max_time": question["limit_s"], "pad_token_id": pad}
        return {"do_sample": bool(temperature), "num_beams": 1, **samples, **bounds}


class Growing:
    """As `generate` wants a streamer: tells the text now and then."""

    def __init__(self, tokenizer: Any, talk: Talk, of: str, most: int, *, prompts: int) -> None:
        self._tokenizer, self._talk, self._of, self._most = tokenizer, talk, of, most
        self._left, self._told = prompts, time.monotonic()
        self._made: list[int] = []

    def put(self, value: Any) -> None:
        found = value.flatten().tolist()
        skipped = min(self._left, len(found))
        self._left -= skipped
        self._made += found[skipped:]
        if self._made and time.monotonic() - self._told > TOLD_EVERY_S:
            text = self._tokenizer.decode(self._made, skip_special_tokens=True)
            self._talk.say(of=self._of, text=text[: self._most])
            self._told = time.monotonic()

    def end(self) -> None:
        """All is told with the answer."""


if __name__ == "__main__":
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    main()
