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
  ["桶", "bucket"],
  ["缓冲区", "缓冲", "buffer"],
  ["锁页", "pinned", "pin"],
  ["异步", "async", "asynchronous"],
  ["重叠", "overlap"],
  ["收集", "gather"],
  ["预取", "prefetch"],
  ["持久", "persistence"],
  ["动量", "momentum"],
  ["权重衰减", "weight decay", "weight_decay"],
  ["余弦", "cosine"],
  ["步数", "steps"],
  ["随机种子", "种子", "seed"],
  ["数据类型", "dtype", "data type"],
  ["专家", "expert"],
  ["注意力", "attention"],
  ["课程学习", "curriculum"],
  ["弹性", "elastic"],
  ["剪枝", "pruning"],
  ["吞吐", "throughput"],
  ["监控", "monitor"],
  ["节点", "node"],
  ["路径", "path"],
  ["教程", "tutorial"],
  ["原生", "native"],
  ["预训练", "pre-train"],
  ["微调", "fine-tun"],
  ["英伟达", "nvidia"],
  ["主机内存", "host memory"],
  ["混合专家", "moe"],
  ["数据效率", "data efficiency", "data_efficiency"],
  ["归约", "reduce", "reduction"],
  ["全收集", "allgather", "all-gather"],
  ["并行", "parallel"],
  ["溢出", "overflow"],
  ["缓存", "cache"],
  ["线程", "thread"],
  ["队列", "queue"],
  ["块大小", "block size", "block_size"],
  ["打印", "print"],
  ["动态", "dynamic"],
  ["推理", "inference"],
  ["比例", "ratio"],
  ["阈值", "threshold"],
  ["最大", "maximum", "max_"],
  ["最小", "minimum", "min_"],
  ["初始", "initial"],
  ["窗口", "window"],
  ["词表", "vocabulary", "vocab"],
  ["嵌入", "embedding"],
  ["权重", "weight"],
  ["冻结", "frozen", "freeze"],
  ["低秩", "lora", "low-rank"],
  ["层", "layer"],
  ["保存", "save"],
  ["加载", "loading", "load_"],
  ["默认", "default"],
  ["延迟", "delay", "latency"],
  ["对齐", "align"],
  ["碎片", "fragmentation", "fragment"],
];

// What a search for one of the terms is mostly after.
/** @type {Record<string, string[]>} */
const LEADING = {
  memory: [
    "/zero_optimization/stage",
    "/zero_optimization/offload_optimizer/device",
    "/zero_optimization/offload_param/device",
    "/train_micro_batch_size_per_gpu",
  ],
  "learning rate": ["/optimizer/params/lr"],
};

/** The fields that lead what a search finds, by their pointers. @param {string[]} asked */
export const leadingOf = (asked) =>
  asked.length === 1 ? meanings(asked[0]).flatMap((word) => LEADING[word] ?? []) : [];

/**
 * What a typed word stands for: itself, and the same in the other language, which may be several words that stand
 * apart. @param {string} word
 */
export function meanings(word) {
  const others = TERMS.filter((terms) => terms.includes(word)).flat();
  return [...new Set([word, ...others])];
}

const HAN = /\p{Script=Han}/u;
const LONGEST_FIRST = TERMS.flat().sort((a, b) => b.length - a.length);
const HAN_TERMS = LONGEST_FIRST.filter((term) => HAN.test(term));
const PHRASES = LONGEST_FIRST.filter((term) => term.includes(" ")).map((term) => `\\b${term}\\b`);
const TERM = new RegExp(`(${[...HAN_TERMS, ...PHRASES].join("|")})`);

/** The words that are typed; a term is one, also of two words, or without a space behind it. @param {string} typed */
export function wordsOf(typed) {
  const parts = typed.toLowerCase().replace(/\s+/g, " ").split(TERM);
  return parts.flatMap((part, index) => (index % 2 ? [part] : part.split(/[ 的]/))).filter(Boolean);
}
