"""错误的文案：哪里、看到了什么、应该是什么、该怎么办。{field} 是页面上的字段名。以及为什么无法恢复运行。"""

from collections.abc import Mapping

ERRORS: Mapping[str, str] = {
    "notify.address": "通知：这不是 webhook 地址。请填写以 https:// 或 http:// 开头、不含用户名的地址。",
    "notify.options": "通知：# 之后只能写 secret=… 和 form=…，form 可选 {forms}。",
    "label.unknown": "不能修改运行的“{what}”，只能修改名称、标签、备注和归档状态。",
    "label.unreadable": "无法读取名称、标签或备注：{why}。",
    "label.long_name": "名称有 {count} 个字符，最多保留 {most} 个。请缩短。",
    "label.long_tag": "有一个标签长 {count} 个字符，最多保留 {most} 个。请缩短。",
    "label.long_note": "备注有 {count} 个字符，最多保留 {most} 个。请缩短。",
    "label.many_tags": "共 {count} 个标签，最多保留 {most} 个。请删除一些。",
    "field.no_option": "{field}：没有“{word}”这个选项。请从列表中选择。",
    "field.no_number": "{field}：填的是“{typed}”；应为不超过 {most} 的整数。请修正。",
    "script.none": "请填写训练脚本的路径。",
    "script.folder": "脚本：{path} 是目录。请选择其中的训练脚本。",
    "script.missing": "脚本：{path} 不存在。应为本机上的 Python 文件。请检查路径。",
    "script.unreadable": "脚本：无法读取 {path}。应为你有权读取的文件。请检查权限。",
    "python.no_program": "Python：{path} 不是可执行的程序。应为装有 DeepSpeed 的解释器。请用 --python PATH 启动 dsgui"
    "。",
    "directory.missing": "工作目录：{path} 不是目录。应为已存在的目录。请创建它，或留空以使用运行自己的目录。",
    "directory.unreadable": "工作目录：无法打开 {path}。请检查权限，或换一个目录。",
    "path.unusable": "路径“{path}”无法使用（{why}）。应为本机上的路径。",
    "place.nothing_to_check": "{place}：启动前没有可检查的内容。请直接点“启动”。",
    "port.none_free": "主端口：试过的 {tries} 个端口都被占用。请手动填写。",
    "port.in_use": "主端口：{port} 已被占用。应为空闲端口。请填写目前空闲的 {free}，或留空。",
    "port.outside": "主端口：{port} 不在 {lowest} 到 {highest} 之间。请填写此范围内的端口，或留空以自动使用空闲端口。",
    "port.no_number": "主端口：“{typed}”不是数字。请填写 1024 到 65535 之间的数，或留空。",
    "arguments.unreadable": "参数：无法解析“{arguments}”（{why}）。请按 shell 的规则加引号：补上引号，或用反斜杠转义。",
    "arguments.null": "参数：{word} 中有空字符，命令行不能包含它。请去掉。",
    "ranks.few": "rank 数：{ranks} 太少。请填写 1 或更大的数，或选择 GPU。",
    "ranks.many": "rank 数：{ranks} 超过上限 {most}。请减少。",
    "ranks.not_the_gpus": "rank 数：{ranks} 个 rank，选择了 {gpus} 个 GPU。应为每个 GPU 一个 rank。请选择与 rank 数相"
    "同的 GPU。",
    "gpus.twice": "GPU：{gpus} 中有重复的编号。每个 GPU 只选一次。",
    "environment.bad_name": "环境变量：“{name}”不是有效的环境变量。名称应由字母、数字和下划线组成，值不能含空字符。请"
    "改名或删除。",
    "environment.marker": "环境变量：{name} 是 dsgui 给运行的进程所做的标记。请删除。",
    "environment.no_equals": "环境变量：第 {line} 行没有“=”。应为 NAME=value。",
    "hostfile.empty": "hostfile：请至少添加一台主机，例如 worker-0 slots=4。",
    "hostfile.twice": "hostfile：第 {line} 行重复列出了 {host}。每台主机只列一次。",
    "hostfile.many": "hostfile：列出了 {count} 台主机；最多支持 {most} 台。请删去一些。",
    "hostfile.no_host": "hostfile：第 {line} 行为“{text}”。应为主机名及其 GPU 数，例如“worker-0 slots=4”；不支持范围写"
    "法。",
    "hostfile.bad_name": "hostfile：第 {line} 行：“{host}”不是有效的主机名。应由字母、数字、点、短横线和下划线组成。用"
    "户名和端口请写到 ~/.ssh/config 中。",
    "hostfile.bad_slots": "hostfile：第 {line} 行：{host} 有 {slots} 个 slots。应为 1 到 {most}。",
    "filter.both": "include 与 exclude 不能同时使用。请清空其中一个。",
    "filter.excludes_all": "exclude：“{text}”排除了所有 slot。请至少保留一个。",
    "filter.unreadable": "{field}：无法解析“{text}”。应为主机及可选的 slot，例如“worker-0@worker-1:0,2”。",
    "filter.unknown_host": "{field}：“{host}”不在 hostfile 中（{hosts}）。请修正名称，或添加该主机。",
    "filter.no_slot": "{field}：{host} 没有 slot {slot}；hostfile 中它有 {count} 个（0 到 {last}）。请使两者一致。",
    "ssh.torchrun": "启动器：torchrun 只能在本机启动 rank。使用 hostfile 时请选 deepspeed。",
    "ssh.local_gpus": "GPU：本机 GPU 不能与 hostfile 同时使用。请用 include 选择各主机的 GPU。",
    "ssh.secrets": "环境变量：{names} 不能传给其他主机：启动器会把传递的内容写进日志和命令行，那里的所有用户都能看到。"
    "请在那台主机上登录，或写入只有你能读取、由脚本加载的文件。",
    "ssh.path_changed": "多机：“{word}”会被其他机器的 shell 改写，因为 DeepSpeed 的启动器不加引号就传给它。路径和地址"
    "只能包含字母、数字和 @+=:,./-_。请把这样的值写入由脚本读取的文件，或改名。",
    "ssh.word_changed": "多机：“{word}”会被其他机器的 shell 改写，因为 DeepSpeed 的启动器不加引号就传给它。参数和变量"
    "只能包含字母、数字、空格和 @+=:,./-_。请把这样的值写入由脚本读取的文件，或改名。",
    "ssh.config_not_put": "未能把配置放到每台机器上（{problems}）",
    "slurm.no_sbatch": "Slurm：本机没有 sbatch。应在集群的登录节点上使用。请在那里启动 dsgui，或把脚本复制过去手动提交"
    "。",
    "slurm.gpus_selected": "Slurm：另外还选择了 GPU，但 GPU 由 Slurm 分配。请清除该选择。",
    "slurm.bad_path": "Slurm：“{path}”不能用在批处理脚本的指令中。只能包含字母、数字和 @+=:,./-_。请重命名目录或换一个"
    "。",
    "slurm.out_of_range": "{field}：{count} 超出范围。应为 1 到 {most}。",
    "slurm.bad_name": "{field}：“{word}”无效。应为“gpu”这样的名称。",
    "slurm.bad_time": "时间限制：无法解析“{time}”。应为分钟数，或 [天-]时:分:秒，例如“2-12:00:00”。",
    "slurm.option_unreadable": "Slurm 选项：“{option}”无法使用：应每行一个，例如“--qos=high”。请修改或删除。",
    "slurm.option_set_already": "Slurm 选项：“{option}”无法使用：批处理脚本已经设置了它。请修改或删除。",
    "options.need_config": "--script、--ranks、--model 和 --parameters 需要与 --config 一起使用。",
    "options.of_two_places": "训练位置：同时给出了“{first}”和“{second}”的选项。只能给出其中一种。请去掉其余的。",
    "config.unreadable": "配置：无法读取 {path}（{why}）。应为 JSON 文件。",
    "file.unreadable": "{what}：无法读取 {path}（{why}）。{folder} 中应有 {expected}。",
    "options.need_hostfile": "--include、--exclude 和 --master-addr 需要与 --hostfile 一起使用。",
    "options.need_slurm_nodes": "--partition 等选项需要与 --slurm-nodes 一起使用。",
    "options.slurm_chooses_gpus": "GPU 由 Slurm 选择。请去掉 --gpus 或 --slurm-nodes。",
    "options.slurm_ranks": "--ranks {ranks}：使用 --slurm-nodes {nodes} 和 --gpus-per-node {gpus} 时每个 GPU 一个 rank"
    "，每节点 {gpus} 个，共 {total} 个。请去掉 --ranks，或修改其他选项。",
    "run.script_moved": "预览之后，{script} 指向的位置变了。请重新预览。",
    "run.gpus_in_use": "未启动：{devices} 正被 {runs} 使用。请换一个 GPU、排队等待，或停止那个运行。",
    "run.devices_in_use": "未启动：{devices} 正被 {runs} 使用。请排队等待，或停止那个运行。",
    "run.no_supervisor": "运行 {run}：无法启动它的 supervisor（{error}）。请重试。",
    "run.supervisor_ended": "运行 {run}：它的 supervisor 以退出码 {code} 结束：{line} 见 {log}。",
    "run.cannot_save": "运行 {run}：只有在本机训练、且脚本启动时带有 --enable_jit_checkpoint True 的运行才能按请求保存"
    "。请使用“停止”。",
    "run.nobody_to_ask": "运行 {run}：它已结束，或它的 supervisor 已不在。没有向它发出请求。",
    "run.may_be_running": "运行 {run} 可能仍在进行，不能删除。请先停止它。",
    "run.resume_option": "{option}：{problem}",
    "run.checkpoint": "运行 {run}：{problem}",
    "run.no_such_checkpoint": "运行 {run}：没有可供恢复的检查点 {path}。{why}",
    "run.no_change": "运行 {run}：诊断没有给出修改建议。请使用“克隆并编辑”。",
    "run.changes_set_aside": "运行 {run}：诊断没有给出修改建议。{why} 请使用“克隆并编辑”。",
    "run.problems": "未启动：请看上面的问题。请修正，或用 --although 强制启动。",
    "run.plan_unreadable": "运行 {run}：无法读取 {file}（{why}）。应为启动运行时 dsgui 写入的内容。请删除该运行，或恢"
    "复该文件。",
    "run.not_an_id": "运行“{run}”：不是运行 id。应为 20260131-235959-0a1b 这样的形式。请查看列表。",
    "run.started_already": "运行 {run} 已经启动过。请查看它，或在启动页新建一个。",
    "run.none": "运行 {run}：{folder} 中没有它，可能已被删除。请查看列表。",
    "run.many_patterns": "运行 {run}：它有 {count} 个模式，最多读取 {most} 个。",
    "report.many": "无法为 {count} 个运行生成报告。应为 1 到 {most} 个。请减少选择。",
    "run.no_id": "运行：id 为空。请给出“{dsgui} runs”列出的 id 或其开头部分，或“last”。",
    "run.not_found": "找不到运行“{run}”。用“{dsgui} runs”查看列表。",
    "run.several": "运行“{run}”：有 {count} 个运行以此开头（{runs} …）。请多写几位 id。",
    "target.other_release": "{path}：按 DeepSpeed {asked} 检查，但只安装了 {installed}，只能询问它。请去掉 "
    "--target-version，或给出装有该版本的 --python。",
    "target.not_asked": "{path}：无法询问 DeepSpeed {release}：{why}。",
    "target.no_deepspeed": "--python：{python} 没有安装可供询问的 DeepSpeed。请给出装有它的解释器，或安装：{python} "
    "-m pip install torch deepspeed",
    "python.missing": "--python：{python} 不存在。请给出装有 DeepSpeed 的解释器。",
    "python.not_asked": "--python：无法询问 {python}：{why}。",
    "python.ended": "--python：{python} 以退出码 {code} 结束：{line}。",
    "python.ended_silently": "--python：{python} 以退出码 {code} 结束：没有输出。",
    "python.no_json": "--python：{python} 的回答“{answer}”不是 JSON。",
    "file.exists": "{path} 已存在。请换一个名称，或删除它。",
    "file.not_written": "无法写入 {path}（{why}）。请换一个位置。",
    "installation.unreadable": "无法读取 {file}。它应随 dsgui 一起安装；请重新安装。",
    "place.of_the_kernel": "{path}：属于内核。应为普通的文件或目录。请另选。",
    "place.outside": "{path}：位于 dsgui 可使用的目录之外：{folders}。请移到其中，或用 --allow {allow} 启动 dsgui。",
    "place.leads_outside": "{path}（指向 {real}）：位于 dsgui 可使用的目录之外：{folders}。请移到其中，或用 --allow "
    "{allow} 启动 dsgui。",
    "place.no_folder": "--allow：{path} 不是目录。应为已存在的目录。请修正路径。",
    "place.no_path": "“{path}”不能用作路径（{why}）。请修正。",
    "removal.too_deep": "{folder}：目录嵌套过深，无法遍历。请手动删除。",
    "removal.not_whole": "{folder}：未能全部删除（{why}）。请检查 {left} 中剩余内容的权限，然后手动删除。",
    "removal.link": "{folder}：不是真正的目录（是链接，或已不存在）。没有删除任何内容；请手动删除。",
    "runs_folder.not_written": "运行目录 {folder}：无法写入（{why}）。应为属于你、且有空闲空间的目录。请用 --runs-dir "
    "另外指定，或清理出一些空间。",
    "pattern.long": "模式：有 {count} 个字符，上限为 {most}。请只保留含数字的部分；* 匹配任意文本。",
    "pattern.unpaired": "模式，第 {at} 个字符：“{brace}”不成对。数字写作 {{name}}；要表示该字符本身，请写 {twice}。",
    "pattern.bad_name": "模式，第 {at} 个字符：“{{{name}}}”不是有效的名称。名称以字母开头，后接字母、数字和 _ . / -，"
    "例如 {{loss}} 或 {{eval/accuracy}}。",
    "pattern.no_value": "模式：“{text}”中没有可绘制的值。请在测量值的位置写 {{name}}，例如“step {{step}} loss {{loss}}"
    "”；step、epoch、rank 和 total 只表示它属于哪里。",
    "pattern.twice": "模式：{{{name}}} 出现了两次。请给每个数字不同的名称。",
    "pattern.adjacent": "模式，第 {at} 个字符：两个数字相邻，无法确定第一个在哪里结束。请写上它们之间的文本。",
    "trainer.long": "参数有 {count} 个字符；最多 {most} 个。",
    "trainer.bad_json": "参数以 JSON 对象的形式开头，但无法解析：{why}。",
    "trainer.aliases": "参数使用了 YAML 别名。应为不含别名的命令行（--learning_rate 1e-4 …）、JSON 对象或 YAML 映射。",
    "trainer.unreadable": "无法读取参数：{why}。应为命令行（--learning_rate 1e-4 …）、JSON 对象或 YAML 映射。",
    "trainer.no_mapping": "参数为“{text}”。应为命令行（--learning_rate 1e-4 …）、JSON 对象或 YAML 映射。",
}

RESUMING: Mapping[str, str] = {
    "newest_only": "这个脚本总是加载目录中最新的检查点，不能选择更早的。",
    "newest_is_anothers": "它保存了 {checkpoint}，但这个脚本总是加载目录中最新的检查点，而最新的现在属于另一个运行。请"
    "从那个运行恢复。",
    "script_unreadable": "它保存了 {checkpoint}，但脚本已无法读取，不知道它如何恢复：{problem}",
    "option_unused": "脚本接受 {option}，但从未使用。让它调用 "
    "trainer.train(resume_from_checkpoint=training_args.resume_from_checkpoint)，然后从这里恢复。",
    "by_itself": "它保存了 {checkpoint}。脚本会自行从输出目录恢复：请克隆这个运行。",
    "option_unknown": "它保存了 {checkpoint}。脚本会加载检查点，但从源码无法确定由哪个选项指定。请克隆这个运行，并在参"
    "数中加上该选项。",
    "call_trainer": '它保存了 {checkpoint}，但脚本没有恢复的选项。让它调用 trainer.train(resume_from_checkpoint="'
    '{path}")，然后克隆这个运行。',
    "call_engine": "它保存了 {checkpoint}，但脚本没有恢复的选项。让它在 deepspeed.initialize 之后调用 "
    'model_engine.load_checkpoint("{folder}")，然后克隆这个运行。',
    "call_accelerate": '它保存了 {checkpoint}，但脚本没有恢复的选项。让它调用 accelerator.load_state("{path}")，然后克'
    "隆这个运行。",
    "incomplete": "{checkpoint} 不完整：运行在保存它时结束。请从更早的检查点恢复。",
    "other_ranks": "{checkpoint} 保存时有 {saved} 个 rank，而这次运行会用 {ranks} 个：ZeRO 无法重新切分优化器状态。请"
    "使用 {saved} 个 rank，或先转换为通用检查点（python -m deepspeed.checkpoint.ds_to_universal，再设 "
    "checkpoint.load_universal）。",
    "may_be_removed": "它可能在此期间被删除了。",
    "not_searched": "未查找检查点：{why}",
    "no_checkpoint": "没有找到这个运行的完整检查点，无法恢复。请克隆它重新开始。",
}
