"""Texts of the shortcuts and of what the keyboard reaches, in Chinese."""

KEYBOARD_PAGE: dict[str, str] = {
    "title": "键盘快捷键",
    "sheet": "显示快捷键列表",
    "find": "查找字段",
    "finding": "下一条检查结果",
    "undo": "撤销对配置的上一次修改",
    "save": "保存为预设",
    "launch": "转到“启动”按钮",
    "configure_tab": "打开配置页",
    "launch_tab": "打开启动页",
    "runs_tab": "打开运行页",
    "machine_tab": "打开本机页",
    "leave_keys": "Tab",
    "leave": "离开 JSON 编辑器",
    "indent_keys": "Ctrl+] · Ctrl+[",
    "indent": "在 JSON 编辑器中增加或减少缩进",
    "single_keys": "启用单键快捷键",
    "close": "关闭",
    "skip": "跳到正文",
    "editor_hint": "按 Tab 离开编辑器 · Ctrl+] 缩进",
}
