"""The models of the tutorials that hardly any machine has at hand, by the keys of their `config.json`."""

from collections.abc import Mapping
from types import MappingProxyType

from dsgui.core.memory.question import Model

T5_3B = "T5-3B"
BLOOMZ_7B = "Bloomz-7B1"
SHAPES: Mapping[str, Model] = MappingProxyType(
    {
        T5_3B: Model(
            T5_3B,
            {
                "model_type": "t5",
                "d_model": 1024,
                "d_kv": 128,
                "d_ff": 16384,
                "num_heads": 32,
                "num_layers": 24,
                "vocab_size": 32128,
            },
        ),
        BLOOMZ_7B: Model(
            BLOOMZ_7B,
            {"model_type": "bloom", "hidden_size": 4096, "n_layer": 30, "n_head": 32, "vocab_size": 250880},
        ),
    }
)
