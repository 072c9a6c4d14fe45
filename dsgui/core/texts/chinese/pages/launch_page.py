"""Texts of 2 · Launch, in Chinese."""

LAUNCH_PAGE: dict[str, str] = {
    # the plan of 1 · Configure, and what the run has
    "this_machine": "本机",
    "planned_check": "检查对象与实际不同",
    "planned_differs": "配置按 {planned} 检查，而本次运行使用 {there}。",
    "planned_refused": "在那里会失败：{first}",
    "planned_advice": "请在“1 · 配置”中改为实际使用的设备和版本，或到计划的机器上训练。",
    "counts_differ": "“1 · 配置”按 {planned} 规划，而本次运行使用 {chosen}。",
    "batches_differ": "“1 · 配置”按 {planned} 规划，全局批大小为 {planned_batch}；而本次运行使用 {chosen}，"
    "全局批大小为 {chosen_batch}。",
    "take_plan": "按规划使用 {planned}",
    # the script's arguments, where 1 · Configure shows what the HF Trainer makes of them
    "tool_arguments": "脚本参数（与“2 · 启动”相同）",
    "tool_arguments_note": "两页共用同一份参数；检查结果已考虑脚本的 TrainingArguments 对它们的解析。",
}
