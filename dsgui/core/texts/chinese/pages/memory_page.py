"""Texts of the memory panel of 1 · Configure, in Chinese."""

MEMORY_PAGE: dict[str, str] = {
    "ladder": "更快和更省的配置",
    "ladder_looking": "正在计算其他配置…",
    "ladder_about": "模型、批大小和 rank 数不变。耗时以当前配置为 1，是估计值，并非实测；显存和内存取峰值时刻。",
    "ladder_change": "改动",
    "ladder_time": "耗时",
    "ladder_apply": "应用",
    "ladder_apply_this": "应用：{moves}",
    "ladder_as_is": "当前配置",
}
