"""Texts of the frame around the pages: header, tabs, language, shortcuts, in Chinese."""

SITE_PAGE: dict[str, str] = {
    "tab_configure": "1 · 配置",
    "tab_launch": "2 · 启动",
    "tab_runs": "3 · 运行",
    "tab_machine": "4 · 本机",
    "learn": "教程",
    "language": "语言",
    "cpu_only": "仅 CPU",
    "no_deepspeed": "训练环境中没有安装 DeepSpeed。",
    "asking_accelerator": "{device}（正在向 DeepSpeed 查询支持的精度…）",
    "dtypes": "{device}：{dtypes}",
    "has_dtype": "{dtype}",
    "no_dtype": "不支持 {dtype}",
}
