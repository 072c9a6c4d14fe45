"""Makes tiny models of transformers in a process of its own (torch warns while being imported), with a tokenizer of a
few words: GPT-2 and another as its base, T5, Llama in bf16 with a LoRA adapter, and one that does not generate."""

import subprocess
import sys
from pathlib import Path

_CODE = """
import sys
from pathlib import Path
import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel, LlamaConfig,
    LlamaForCausalLM, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration)

words = "<pad> </s> <unk> summarize : the cat sat on a mat".split()
tokens = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
tokens.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
ids = dict(vocab_size=len(words), pad_token_id=0, bos_token_id=1, eos_token_id=1)
narrow = dict(hidden_size=16, intermediate_size=32, num_attention_heads=2, num_hidden_layers=1)
makes = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=32, **ids)),
    "t5": lambda: T5ForConditionalGeneration(
        T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0, **ids)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(max_position_embeddings=64, **narrow, **ids)).to(torch.bfloat16),
    "bert": lambda: BertForSequenceClassification(BertConfig(**narrow, **ids)),
}
makes["base"] = makes["gpt2"]
for seed, folder in enumerate(map(Path, sys.argv[1:])):
    torch.manual_seed(seed)
    if folder.name == "adapter":
        llama = LlamaForCausalLM.from_pretrained(folder.parent / "llama")
        made = get_peft_model(llama, LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"]))
        for name, one in made.named_parameters():
            torch.nn.init.normal_(one, std=3.0) if "lora_" in name else None
    else:
        made = makes[folder.name]()
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
"""


def make_models(folder: Path, *names: str) -> None:
    """Into folders of these names."""
    words = [str(folder / name) for name in names]
    done = subprocess.run([sys.executable, "-c", _CODE, *words], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
