// The search knows the terms of both languages: a Chinese word finds what its English terms find, and the other way.
// Pure.

const TERMS = [
  ["显存", "memory"],
  ["内存", "memory"],
  ["卸载", "offload"],
  ["检查点", "checkpoint"],
  ["学习率", "learning rate", "lr"],
  ["预热", "warmup"],
  ["优化器", "optimizer"],
  ["调度器", "scheduler"],
  ["梯度裁剪", "gradient clipping", "gradient_clipping"],
  ["梯度累积", "gradient accumulation", "gradient_accumulation"],
  ["梯度", "gradient"],
  ["参数", "parameter", "param"],
  ["激活", "activation"],
  ["分片", "partition", "shard"],
  ["通信", "communication"],
  ["批大小", "batch size", "batch_size"],
  ["微批", "micro batch", "micro_batch"],
  ["混合精度", "mixed precision", "fp16", "bf16"],
  ["精度", "precision"],
  ["损失缩放", "loss scale", "loss_scale"],
  ["流水线", "pipeline"],
  ["张量并行", "tensor parallel", "tensor_parallel"],
  ["序列并行", "sequence parallel", "sequence_parallel"],
  ["压缩", "compression", "compress"],
  ["量化", "quantization", "quantize"],
  ["稀疏", "sparse"],
  ["日志", "log"],
  ["性能分析", "profiler"],
  ["自动调优", "autotuning"],
  ["硬盘", "nvme", "disk"],
];

/** What a typed word stands for: itself, and the same in the other language. @param {string} word */
export function meanings(word) {
  const others = TERMS.filter((terms) => terms.includes(word)).flat();
  return [...new Set([word, ...others])];
}
