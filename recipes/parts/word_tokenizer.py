"""A tokenizer of whole words, made from the texts that it is to read: small models learn faster from few, long tokens
than from bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
MOST_WORDS = 4000


def made_from(texts: Iterable[str]) -> PreTrainedTokenizerBase:
    """Words and punctuation marks, the most frequent ones; every text ends with </s>."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    # A blank belongs to the word after it, so that decoding gives the text back.
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("▁?\\w+|▁|[^\\w▁]"), "isolated")
    tokenizer.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace("▁", " ")])
    special = [PAD, END, UNKNOWN]
    tokenizer.train_from_iterator(
        texts, trainers.WordLevelTrainer(vocab_size=MOST_WORDS, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN)
