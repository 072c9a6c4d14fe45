"""The packages that training scripts import, and the PYTHONPATH by which code of one's own is found."""

import ast
import builtins
import sys
from collections.abc import Iterable, Sequence

from dsgui.core.script.certain import names_given

# What to install for a module; one that is not listed may be the user's own.
_OTHERWISE_NAMED = {
    "PIL": "Pillow",
    "absl": "absl-py",
    "bert_score": "bert-score",
    "bs4": "beautifulsoup4",
    "comet_ml": "comet-ml",
    "cpm_kernels": "cpm-kernels",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "flash_attn": "flash-attn",
    "galore_torch": "galore-torch",
    "huggingface_hub": "huggingface-hub",
    "hydra": "hydra-core",
    "liger_kernel": "liger-kernel",
    "lion_pytorch": "lion-pytorch",
    "math_verify": "math-verify",
    "ml_collections": "ml-collections",
    "pynvml": "nvidia-ml-py",
    "pytorch_lightning": "pytorch-lightning",
    "rouge_chinese": "rouge-chinese",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "transformers_stream_generator": "transformers-stream-generator",
    "unidecode": "Unidecode",
    "yaml": "PyYAML",
}
_OF_THEIR_NAME = (
    *("aiohttp", "albumentations", "boto3", "colorama", "colorlog", "decord", "dill", "editdistance", "fairscale"),
    *("fastapi", "fsspec", "ftfy", "fvcore", "gensim", "gradio", "h5py", "httpx", "icetk", "imageio", "jieba", "jiwer"),
    *("joblib", "jsonschema", "kornia", "langdetect", "lmdb", "modelscope", "mpi4py", "networkx", "openai", "orjson"),
    *("plotly", "prettytable", "pycocotools", "pydantic", "seaborn", "shortuuid", "six", "spacy", "stanza"),
    *("streamlit", "sympy", "tabulate", "tenacity", "termcolor", "torchdata", "torchtext", "triton", "ujson"),
    *("uvicorn", "vllm", "webdataset", "xxhash", "zstandard"),
    *("accelerate", "bitsandbytes", "click", "datasets", "deepspeed", "diffusers", "easydict", "einops", "evaluate"),
    *("filelock", "fire", "jsonargparse", "jsonlines", "librosa", "lightning", "loguru", "matplotlib", "mlflow"),
    *("nltk", "numpy", "omegaconf", "optimum", "packaging", "pandas", "peft", "psutil", "pyarrow", "pytz", "ray"),
    *("regex", "requests", "rich", "sacrebleu", "safetensors", "scipy", "seqeval", "sentencepiece", "sh", "soundfile"),
    *("swanlab", "tensorboard", "tensorboardX", "tiktoken", "timm", "tokenizers", "torch", "torchaudio"),
    *("torchmetrics", "torchvision", "tqdm", "trackio", "transformers", "trl", "typer", "tyro", "wandb", "xformers"),
)
# From elsewhere than the package index.
_ALSO_KNOWN = frozenset({"apex"})
PACKAGES = {name: name for name in _OF_THEIR_NAME} | _OTHERWISE_NAMED


def from_own_files(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names that come of files which nobody has read: imported, and not from a package that is known."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {one.asname or _first(one.name) for one in node.names if not _is_known(one.name)}
        elif isinstance(node, ast.ImportFrom) and (node.level or not _is_known(node.module or "")):
            found |= {one.asname or one.name for one in node.names}
    if "*" in found:
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        found |= named.difference(names_given(nodes), dir(builtins))
    return frozenset(found)


def _is_known(module: str) -> bool:
    first = _first(module)
    return first in PACKAGES or first in _ALSO_KNOWN or first in sys.stdlib_module_names


def _first(module: str) -> str:
    return module.partition(".")[0]


def python_path_with(folders: Iterable[str], before: str) -> str:
    """PYTHONPATH with the folders in front of what it is `before`, which stays as it is: an empty part means something
    to Python."""
    there = before.split(":")
    return ":".join([*(one for one in dict.fromkeys(folders) if one not in there), *([before] if before else [])])
