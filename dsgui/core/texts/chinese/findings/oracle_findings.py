"""Findings of the real DeepSpeed."""

FINDINGS = {
    "DS900.refused": (
        "{judge} 拒绝了它（{stage}）：{message}",
        "以上是 {judge} 的原话；dsgui 的规则在这里没有报错。",
    ),
    "DS900.accepted": (
        "dsgui 的规则认为：{finding}但 DeepSpeed {release} 在这里接受了，以 DeepSpeed 为准。",
        "",
    ),
    "DS901.warned": (
        "DeepSpeed {release} 警告：{warning}",
        "",
    ),
}
