"""服务器对无效请求的回答、安装缺少的内容，以及 Slurm 相关文案。"""

from collections.abc import Mapping

REQUESTS: Mapping[str, str] = {
    "json": "应为 JSON。",
    "object": "应为含有 {keys} 的对象。",
    "session": "session_hash：应为最多 64 个字母和数字。",
    "number": "fn_index：应为本页面某个事件的编号。",
    "trigger": "trigger_id：应为整数。",
    "event_data": "event_data：内容过大，或含有文件。",
    "data": "data：应为 {count} 个值的列表。",
    "value": "data[{place}]：不是本页面 {kind} 可能有的值。",
    "no_upload": "该文件已不可用。请重新上传。",
    "file": "应为文件。",
    "one_file": "表单中应只上传一个文件。",
    "large_file": "配置不能超过 {most} MiB。",
    "file_name": "文件名应为 {endings}。",
    "cursor": "游标无效。请重新加载页面。",
    "no_plotly": "缺少 plotly 软件包。请重新安装 dsgui 及其 [app] 依赖。",
    "no_file": "没有这个文件。",
    "no_end": "请求的某一部分没有结尾。",
    "missing": "{program} 需要 {package}，但这里没有安装。{how}",
    "make_setup": "请在 {folder} 中运行“make setup”，并用其中的 .venv/bin/python 启动 dsgui。",
    "install": "安装命令：{command}",
}

SLURM: Mapping[str, str] = {
    "nodes_of_job": "Slurm 作业 {job} 的节点",
    "ranks_per_node": "每节点 rank 数",
    "not_cancelled": "已请求 Slurm 取消，但尚未完成",
    "scancel_ended": "scancel 以退出码 {code} 结束",
}
