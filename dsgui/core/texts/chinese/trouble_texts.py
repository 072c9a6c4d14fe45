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
    "unexpected": "出现了{seen}，应为{expected}",
    "key_missing": "缺少 {key}",
    "bad_json": "不是有效的 JSON（{why}）",
    "anothers_plan": "这是运行 {run} 的计划",
    "not_writable": "不可写",
}

REFUSALS: Mapping[str, str] = {
    "eperm": "不允许的操作",
    "enoent": "文件或目录不存在",
    "eio": "输入/输出错误",
    "eacces": "权限不足",
    "ebusy": "设备或资源忙",
    "eexist": "文件已存在",
    "exdev": "跨文件系统的链接无效",
    "enotdir": "不是目录",
    "eisdir": "是一个目录",
    "einval": "参数无效",
    "emfile": "本进程打开的文件过多",
    "enfile": "系统打开的文件过多",
    "efbig": "文件过大",
    "enospc": "设备上没有剩余空间",
    "erofs": "只读文件系统",
    "enametoolong": "文件名过长",
    "eloop": "符号链接层数过多",
    "edquot": "超出磁盘配额",
    "estale": "文件句柄已失效",
    "etimedout": "连接超时",
    "eaddrinuse": "地址已被占用",
    "eaddrnotavail": "无法使用该地址",
    "econnrefused": "连接被拒绝",
    "ehostunreach": "无法到达主机",
    "enomem": "内存不足",
    "enoexec": "可执行文件格式错误",
    "enotempty": "目录非空",
    "etxtbsy": "文件正被执行",
}

DECODING: Mapping[str, str] = {
    "value": "“{it}”",
    "object": "有 {it} 个成员的对象",
    "list": "有 {it} 项的列表",
    "long_number": "过长的数字",
    "text": "文本",
    "number": "数字",
    "whole": "{it} 之间的整数",
    "list_of_most": "最多 {it} 项的列表",
    "json_number": "JSON 数字",
    "state": "运行的状态",
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
