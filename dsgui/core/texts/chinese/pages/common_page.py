"""Texts of what several pages have, in Chinese."""

COMMON_PAGE: dict[str, str] = {
    "more_findings": "还有 {count} 条未显示。",
    "form_waits": "表单保留上一次有效的状态，输入的内容不会丢失。",
    "unreadable_json": "JSON 暂时无法读取",
    "convert": "转换为标准 JSON",
    "word_error": "错误",
    "word_warning": "警告",
    "word_note": "提示",
    "count_error": "{count} 个错误",
    "counts_error": "{count} 个错误",
    "count_warning": "{count} 个警告",
    "counts_warning": "{count} 个警告",
    "count_note": "{count} 条提示",
    "counts_note": "{count} 条提示",
    "refused": "{judge} 会拒绝此配置：{counts}",
    "passes": "检查通过",
    "passes_with": "检查通过（{counts}）",
    "checked_for": "检查对象：{subject}",
    "show_field": "在表单中显示此字段",
    "about_rule": "{rule}：关于此规则",
}
