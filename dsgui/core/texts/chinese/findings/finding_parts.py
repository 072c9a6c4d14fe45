"""What stands in findings: phrases that are put together, who judges a config, and what is wrong with the arguments of
a script (without the full stop)."""

# What several rules advise.
ADVICE = {
    "did_you_mean": "是不是想写 {near}？",
    "rename_first": "{wrong} 像是 {meant} 的误拼：请先改名，否则其中的内容不会被读取。",
    "remove_it": "删除它。",
    "move_it": "移到那里。",
    "close_the_quote": "补上引号。",
    "correct_argument": "改正这个参数。",
    "correct_arguments": "改正这些参数。",
    "correct_it": "改正它。",
    "leave_one_out": "去掉其中一个。",
    "unquote_number": "数字不要加引号；YAML 会把 1e-4 读成文本，1.0e-4 才是数字。",
}

PARTS = {
    "own_cpu": "本机 CPU",
    "this_gpu": "GPU {gpus}",
    "these_gpus": "GPU {gpus}",
    "or": "{first} 或 {second}",
    "in_place": "{what}（{place}）",
    "and": "{first} 和 {second}",
    "and_more": "{names} 等（另有 {rest} 个）",
    "none": "无",
    "solved": "{value}（由 DeepSpeed 推导）",
    "world_size": "world size {ranks}",
    "data_parallel_size": "数据并行数 {ranks}",
    "no_option": "fp32（--fp16、--bf16 都不传）",
    "another_type": "其他数据类型",
    "twice": "{key}：这个键重复出现，{where}",
    "on_line": "都在第 {line} 行",
    "on_lines": "分别在第 {first} 行和第 {second} 行",
    "deepspeed_release": "DeepSpeed {release}",
    "rank": "{count} 个 rank",
    "ranks": "{count} 个 rank",
    "ranks_on": "{hosts} 上的 {ranks}",
    "cpu_rank": "{count} 个 CPU rank",
    "cpu_ranks": "{count} 个 CPU rank",
    "gpu": "{count} 个 GPU",
    "gpus": "{count} 个 GPU",
    "on_nodes": "{nodes} 个节点 × {each}",
    "whole_number": "整数",
    "number": "数字",
    "true_or_false": "布尔值（true 或 false）",
    "list": "列表",
    "list_of_numbers": "含 {count} 个数字的列表",
    "object": "对象",
    "text": "字符串",
    "one_of": "以下值之一：{choices}",
    "or_auto": "{expected}，或“auto”",
    "above": "大于 {low} 的{expected}",
    "from": "不小于 {low} 的{expected}",
    "at_most": "不大于 {high} 的{expected}",
    "below": "小于 {high} 的{expected}",
    "and_at_most": "{expected}，且不大于 {high}",
    "and_below": "{expected}，且小于 {high}",
}

# Who may stop a config, by the package that raises; _first: at the beginning of a sentence.
JUDGES = {
    "transformers": "HF Trainer",
    "accelerate": "accelerate",
    "deepspeed": "DeepSpeed",
    "transformers_first": "HF Trainer",
    "accelerate_first": "accelerate",
    "deepspeed_first": "DeepSpeed",
}

ARGUMENTS = {
    "problem": "{says}。{advises}",
    "words": "参数无法拆分成单词：{error}",
    "no_value": "{option}：后面没有值，应为{expected}",
    "unread": "{option}：传入的是“{seen}”，应为{expected}",
    "other_type": "{name}：{seen} 的类型不对，应为{expected}",
    "unusable": "{name}：{seen} 不是可用的数字",
    "too_low": "{name}：传入的是 {seen}，不能小于 {least}",
    "in_line": "{file} 第 {line} 行",
    "in_file": "{file}",
    "both_types": "fp16 和 bf16 同时开启：“At most one of fp16 and bf16 can be True, but not both”",
    "both_evaluations": "fp16_full_eval 和 bf16_full_eval 同时开启，Trainer 最多只接受其中一个",
}
