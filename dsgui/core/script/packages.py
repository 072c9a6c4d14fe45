"""The packages that training scripts import, and the PYTHONPATH by which code of one's own is found."""

from collections.abc import Iterable

# What to install for a module; one that is not listed may be the user's own.
_OTHERWISE_NAMED = {
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "flash_attn": "flash-attn",
    "huggingface_hub": "huggingface-hub",
    "pytorch_lightning": "pytorch-lightning",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
_OF_THEIR_NAME = (
    *("accelerate", "bitsandbytes", "click", "datasets", "deepspeed", "diffusers", "einops", "evaluate", "filelock"),
    *("fire", "jsonlines", "librosa", "lightning", "loguru", "matplotlib", "mlflow", "nltk", "numpy", "omegaconf"),
    *("pandas", "peft", "psutil", "pyarrow", "pytz", "regex", "requests", "rich", "sacrebleu", "safetensors", "scipy"),
    *("seqeval", "sentencepiece", "sh", "soundfile", "swanlab", "tensorboard", "tensorboardX", "tiktoken", "timm"),
    *("tokenizers", "torch", "torchaudio", "torchmetrics", "torchvision", "tqdm", "trackio", "transformers", "trl"),
    *("typer", "tyro", "wandb", "xformers"),
)
PACKAGES = {name: name for name in _OF_THEIR_NAME} | _OTHERWISE_NAMED


def python_path_with(folders: Iterable[str], before: str) -> str:
    """PYTHONPATH with the folders in front of what it is `before`, which stays as it is: an empty part means something
    to Python."""
    there = before.split(":")
    return ":".join([*(one for one in dict.fromkeys(folders) if one not in there), *([before] if before else [])])
