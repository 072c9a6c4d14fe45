"""运行目录和 supervisor 的异常、文件的问题，以及采样中缺少的内容。"""

from collections.abc import Mapping

TROUBLES: Mapping[str, str] = {
    "deleted": "运行期间其目录被删除：不再保存记录。训练仍在继续。",
    "moved": "运行期间其目录被移动，现位于 {folder}，记录保存在那里。",
    "damaged": "已损坏：{what}。",
    "more_damage": "另有 {count} 处。",
    "folder_unreadable": "目录无法读取：{why}",
    "unreadable": "{file} 无法读取：{why}",
    "no_file": "{file} 应为文件，实际是{kind}",
    "not_shown": "{file} 有 {bytes} 字节，不予显示",
    "large_points": "{file} 有 {bytes} 字节；报告和比较只使用前 256 MiB",
    "strange_points": "{file} 中有不属于任何已知曲线的数据点",
    "suspended": "其监控进程（进程 {pid}）被 SIGSTOP 或调试器挂起：不再记录新内容，输出填满管道后训练会停下等待。"
    "用 kill -CONT {pid} 恢复；也可以停止运行。",
    "silent": "其监控进程（进程 {pid}）已 {seconds} s 没有响应：它或它的磁盘卡住了。“停止”会绕过它结束运行。",
    "end_not_taken": "运行已结束，但其目录无法写入（{why}）。结束状态暂存在 {place}，待目录可写时再写入。",
}

FILES: Mapping[str, str] = {
    "file": "文件",
    "folder": "目录",
    "link": "链接",
    "dead_link": "失效的链接",
    "pipe": "命名管道",
    "socket": "套接字",
    "device": "设备",
    "none": "不存在的文件",
    "null": "含有空字符（NUL）",
    "long_header": "{file} 的文件头有 {bytes} 字节",
    "irregular": "{path} 不是普通文件，而是{kind}",
    "too_large": "文件有 {bytes} 字节；最多读取 {most} 字节",
    "large": "{file} 过大",
    "too_deep": "嵌套超过 {most} 层",
    "no_object": "内容不是 JSON 对象",
    "key_missing": "缺少 {key}",
    "bad_json": "不是有效的 JSON（{why}）",
    "anothers_plan": "这是运行 {run} 的计划",
    "not_writable": "不可写",
}

SAMPLING: Mapping[str, str] = {
    "no_driver": "未找到 NVIDIA 驱动；只显示内存。",
    "driver_silent": "NVIDIA 驱动自 {since} 起没有响应；缺少 GPU 读数。",
    "driver_failed": "读取 GPU 失败（{why}）。",
    "disk_silent": "{folder} 所在磁盘自 {since} 起没有响应。",
    "slurm_nodes": "读数来自本机；Slurm 作业的节点未采样。",
    "on_node": "{node}：{note}",
    "more_nodes": "另有 {count} 台主机情况相同。",
    "node_problem": "{node} 没有提供读数（{why}）。",
    "node_silent": "{node} 自 {since} 起没有响应；缺少其读数。",
    "no_ssh": "无法启动 ssh（{why}）",
    "agent_ended": "采样程序已退出",
    "ended_with_code": "退出码 {code}",
}

CLOCKS: Mapping[str, str] = {
    "idle": "空闲",
    "application": "应用程序设定了频率",
    "power_cap": "功耗上限",
    "hardware": "硬件降频",
    "sync": "与其他 GPU 同步",
    "hot_driver": "过热（驱动降频）",
    "hot_hardware": "过热（硬件降频）",
    "power_brake": "供电制动（power brake）",
    "display": "为显示设定了频率",
}
