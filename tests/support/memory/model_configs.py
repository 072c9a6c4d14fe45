"""What the `config.json` of well-known models says (the keys that decide their size), and small ones of each family."""

LLAMA_2_7B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "vocab_size": 32000,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
T5_SMALL = {
    "model_type": "t5",
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 2048,
    "num_heads": 8,
    "num_layers": 6,
    "vocab_size": 32128,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
}
GATED = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257}
QWEN = {"hidden_act": "silu", "use_sliding_window": False}
GEMMA_2_9B = {
    "model_type": "gemma2",
    "hidden_size": 3584,
    "intermediate_size": 14336,
    "num_hidden_layers": 42,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "vocab_size": 256000,
    "sliding_window": 4096,
}
OPT = {
    "model_type": "opt",
    "hidden_size": 2048,
    "ffn_dim": 8192,
    "num_hidden_layers": 24,
    "num_attention_heads": 32,
    "vocab_size": 50272,
    "max_position_embeddings": 2048,
    "dropout": 0.1,
    "do_layer_norm_before": True,
}
# Name → config and the parameters that its authors or its card tell.
REAL = {
    "t5-small": (T5_SMALL, 60_506_624),
    "t5-base": (T5_SMALL | {"d_model": 768, "d_ff": 3072, "num_heads": 12, "num_layers": 12}, 222_903_552),
    "t5-large": (T5_SMALL | {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "num_layers": 24}, 737_668_096),
    "t5-3b": (
        T5_SMALL | {"d_model": 1024, "d_kv": 128, "d_ff": 16384, "num_heads": 32, "num_layers": 24},
        2_851_598_336,
    ),
    "flan-t5-small": (T5_SMALL | GATED | {"d_ff": 1024, "num_heads": 6, "num_layers": 8}, None),
    "flan-t5-xl": (T5_SMALL | GATED | {"d_model": 2048, "d_ff": 5120, "num_heads": 32, "num_layers": 24}, None),
    "gpt2": (GPT2, 124_439_808),
    "gpt2-medium": (GPT2 | {"n_embd": 1024, "n_head": 16, "n_layer": 24}, 354_823_168),
    "gpt2-large": (GPT2 | {"n_embd": 1280, "n_head": 20, "n_layer": 36}, 774_030_080),
    "gpt2-xl": (GPT2 | {"n_embd": 1600, "n_head": 25, "n_layer": 48}, 1_557_611_200),
    "bloom-560m": (
        {
            "model_type": "bloom",
            "n_embed": 1024,
            "hidden_size": 1024,
            "n_head": 16,
            "n_layer": 24,
            "vocab_size": 250880,
        },
        559_214_592,
    ),
    "bloom-7b1": (
        {"model_type": "bloom", "hidden_size": 4096, "n_head": 32, "n_layer": 30, "vocab_size": 250880},
        7_069_016_064,
    ),
    "opt-350m": (
        OPT
        | {
            "hidden_size": 1024,
            "ffn_dim": 4096,
            "num_attention_heads": 16,
            "word_embed_proj_dim": 512,
            "do_layer_norm_before": False,
        },
        331_196_416,
    ),
    "opt-1.3b": (OPT, 1_315_758_080),
    "Llama-2-7b": (LLAMA_2_7B, 6_738_415_616),
    "Llama-3-8B": (
        LLAMA_2_7B | {"intermediate_size": 14336, "num_key_value_heads": 8, "vocab_size": 128256},
        8_030_261_248,
    ),
    "Llama-3.2-1B": (
        LLAMA_2_7B
        | {
            "hidden_size": 2048,
            "intermediate_size": 8192,
            "num_hidden_layers": 16,
            "num_key_value_heads": 8,
            "head_dim": 64,
            "vocab_size": 128256,
            "tie_word_embeddings": True,
        },
        1_235_814_400,
    ),
    "Mistral-7B-v0.1": (
        LLAMA_2_7B
        | {
            "model_type": "mistral",
            "intermediate_size": 14336,
            "num_key_value_heads": 8,
            "sliding_window": 4096,
        },
        7_241_732_096,
    ),
    "Qwen2.5-0.5B": (
        QWEN
        | {
            "model_type": "qwen2",
            "hidden_size": 896,
            "intermediate_size": 4864,
            "num_hidden_layers": 24,
            "num_attention_heads": 14,
            "num_key_value_heads": 2,
            "vocab_size": 151936,
            "tie_word_embeddings": True,
        },
        494_032_768,
    ),
    "Qwen2.5-7B": (
        QWEN
        | {
            "model_type": "qwen2",
            "hidden_size": 3584,
            "intermediate_size": 18944,
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "vocab_size": 152064,
            "tie_word_embeddings": False,
        },
        7_615_616_512,
    ),
    "Qwen3-0.6B": (
        QWEN
        | {
            "model_type": "qwen3",
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_hidden_layers": 28,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "vocab_size": 151936,
            "tie_word_embeddings": True,
        },
        596_049_920,
    ),
    "Qwen3-8B": (
        QWEN
        | {
            "model_type": "qwen3",
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "num_hidden_layers": 36,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "vocab_size": 151936,
            "tie_word_embeddings": False,
        },
        8_190_735_360,
    ),
    "gemma-2b": (
        {
            "model_type": "gemma",
            "hidden_size": 2048,
            "intermediate_size": 16384,
            "num_hidden_layers": 18,
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "head_dim": 256,
            "vocab_size": 256000,
        },
        2_506_172_416,
    ),
    "gemma-2-9b": (GEMMA_2_9B, 9_241_705_984),
    "gemma-3-1b": (
        {
            "model_type": "gemma3_text",
            "hidden_size": 1152,
            "intermediate_size": 6912,
            "num_hidden_layers": 26,
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "head_dim": 256,
            "vocab_size": 262144,
            "sliding_window": 512,
        },
        999_885_952,
    ),
}
SMALL_LLAMA = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "intermediate_size": 688,
    "vocab_size": 1000,
}
GROUPED = SMALL_LLAMA | {"num_key_value_heads": 2}
SMALL_T5 = T5_SMALL | {"d_model": 256, "d_kv": 32, "d_ff": 1024, "num_layers": 4, "vocab_size": 1000}
SMALL_OPT = OPT | {"hidden_size": 256, "ffn_dim": 1024, "num_hidden_layers": 4, "num_attention_heads": 8}
SMALL_NEOX = SMALL_LLAMA | {"model_type": "gpt_neox", "hidden_act": "gelu", "intermediate_size": 1024}
SMALL_PHI = SMALL_LLAMA | {"model_type": "phi", "intermediate_size": 1024, "resid_pdrop": 0.1}
SMALL_STARCODER = GROUPED | {"model_type": "starcoder2", "intermediate_size": 1024, "hidden_act": "gelu_pytorch_tanh"}
SMALL = {
    "llama": SMALL_LLAMA,
    "llama, grouped heads": GROUPED | {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True},
    "mistral, a window": GROUPED | {"model_type": "mistral", "sliding_window": 100},
    "qwen2": GROUPED | {"model_type": "qwen2"},
    "qwen3": GROUPED | {"model_type": "qwen3", "head_dim": 64},
    "gemma": SMALL_LLAMA | {"model_type": "gemma", "head_dim": 32},
    "gemma2": GROUPED | {"model_type": "gemma2", "head_dim": 32, "sliding_window": 100},
    "gemma3": GROUPED | {"model_type": "gemma3_text", "head_dim": 32, "sliding_window_pattern": 2},
    "phi3": GROUPED | {"model_type": "phi3", "pad_token_id": 0, "resid_pdrop": 0.1},
    "phi3, a part of each head turns": SMALL_LLAMA
    | {"model_type": "phi3", "pad_token_id": 0, "partial_rotary_factor": 0.75},
    "granite": GROUPED | {"model_type": "granite", "tie_word_embeddings": True},
    "glm": GROUPED | {"model_type": "glm", "pad_token_id": 0, "head_dim": 32},
    "glm4": GROUPED | {"model_type": "glm4", "pad_token_id": 0, "head_dim": 32},
    "olmo2": SMALL_LLAMA | {"model_type": "olmo2"},
    "smollm3": GROUPED | {"model_type": "smollm3", "pad_token_id": 0},
    "internlm3": GROUPED | {"model_type": "internlm3", "head_dim": 32},
    "gpt_neox": SMALL_NEOX,
    "gpt_neox, one after the other": SMALL_NEOX | {"use_parallel_residual": False, "rotary_pct": 1.0},
    "phi": SMALL_PHI,
    "stablelm": SMALL_LLAMA | {"model_type": "stablelm", "use_qkv_bias": True},
    "stablelm, beside each other": SMALL_LLAMA
    | {"model_type": "stablelm", "use_parallel_residual": True, "hidden_dropout": 0.1},
    "starcoder2": SMALL_STARCODER,
    "starcoder2, a window": SMALL_STARCODER | {"sliding_window": 50, "residual_dropout": 0.1},
    "starcoder2, wide heads": SMALL_STARCODER | {"head_dim": 64},
    "gptj": {"model_type": "gptj", "n_embd": 256, "n_head": 4, "n_layer": 4, "vocab_size": 1000, "rotary_dim": 16},
    "gpt2": {"model_type": "gpt2", "n_embd": 256, "n_head": 8, "n_layer": 4, "vocab_size": 1000},
    "bloom": {"model_type": "bloom", "hidden_size": 256, "n_head": 8, "n_layer": 4, "vocab_size": 1000},
    "opt": SMALL_OPT,
    "opt, norms behind": SMALL_OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 128, "dropout": 0.0},
    "t5": SMALL_T5,
    "t5, gated": SMALL_T5 | GATED | {"d_ff": 640, "num_decoder_layers": 2},
    "mt5": SMALL_T5 | {"model_type": "mt5", "d_ff": 640, "tie_word_embeddings": False},
}
