"""Texts of trying a trained model, in Chinese."""

from collections.abc import Mapping

TRY: Mapping[str, str] = {
    "trained": "训练后",
    "base": "基础模型",
    "tokens": "最多生成 token 数",
    "temperature": "温度",
    "seed": "随机种子",
    "facts": "{parameters} 个参数，{dtype}，位于 {device}，加载用时 {seconds} 秒",
    "takes": "正在加载 {name}：约需 {memory} 内存，可用 {free}。",
    "no_memory": "加载约需 {needed} 内存，目前可用 {free}。请释放内存、不与基础模型对比，或换较小的模型。",
    "worker_ended": "加载模型的进程已结束：{error}",
    "killed": "加载模型的进程被终止，很可能是内存不足。请释放内存后重试。",
    "no_python": "无法启动 {python}：{error}",
    "too_long": "{seconds} 秒内没有得到回答，进程已结束。请减少 token 数，或使用 GPU。",
    "over_limit": "模型占用的内存超过 {limit}，进程已结束。请缩短提示词或减少 token 数。",
    "no_host_memory": "内存不足。请释放内存，或不与基础模型对比。",
    "no_gpu_memory": "显存不足。请选择 CPU，或等 GPU 空闲。",
    "no_package": "{python} 中缺少 {name} 包，请先安装。",
    "no_gpu": "训练环境中的 PyTorch 找不到 GPU。请选择 CPU。",
    "no_tokenizer": "{folder} 中没有可加载的 tokenizer（{why}）。"
    "请把 tokenizer 保存到该目录，或指定带 tokenizer 的基础模型。",
    "no_config": "{folder} 不是 transformers 能加载的模型：{why}",
    "not_generative": "{folder} 中是 {name}，不能生成文本。需要 causal 或 seq2seq 模型。",
    "missing": "{folder}：缺少模型的 {count} 个权重，例如 {name}。请先合并检查点。",
    "not_loaded": "无法加载 {folder}：{why}",
    "no_fit": "适配器 {adapter} 与 {base} 不匹配：{why}",
    "no_tokens": "tokenizer 没有从该提示词得到任何 token。请输入其他文本。",
    "other_tokenizer": "tokenizer 中有的 token 超出模型认识的 {count} 个：它属于另一个模型。",
    "long_prompt": "提示词有 {count} 个 token，而模型只有 {most} 个位置。请缩短提示词。",
    "failed": "生成失败：{error}",
}
