"""The tutorial on training T5 for translation."""

TRANSLATION: dict[str, str] = {
    "translation.name": "Translation with T5: ZeRO-2, then ZeRO-3",
    "translation.about": "Train, watch the loss, train again with ZeRO-3, and find out what two keys do to T5-3B.",
    "translation.source": "Based on: a translation model with DeepSpeed on one GPU",
    "auto.title": "Read the config",
    "auto.text": "The tutorial’s config has ZeRO stage 2 with the optimizer in host memory. Most of its values are "
    '`"auto"`.\n'
    "Open it on 1 · Configure and look at `train_micro_batch_size_per_gpu`, `optimizer` and `fp16`.",
    "auto.go1": "Open the ZeRO-2 config",
    "auto.ask": 'Who decides the micro batch where the config says "auto"?',
    "auto.a1": "DeepSpeed, by the free GPU memory",
    "auto.a2": "The HF Trainer, from `--per_device_train_batch_size`",
    "auto.a3": "The preset, from the model’s size",
    "auto.right": 'The Trainer fills every "auto" from its own arguments before DeepSpeed sees the file. Without '
    "the Trainer the same file is refused.",
    "auto.wrong": "Neither DeepSpeed nor the preset looks at memory for it. Think of the Trainer’s command-line "
    "arguments.",
    "zero2_run.title": "Train with ZeRO-2",
    "zero2_run.text": "The bundled recipe trains a small T5 on generated data, so nothing is downloaded. With a "
    "GPU, the tutorial’s own command works here as well: enter its arguments.\n"
    "Look at the command and the checks beside it, then press Launch. The first run compiles DeepSpeed’s operators, "
    "about a minute.",
    "zero2_run.go1": "Set up Launch for ZeRO-2",
    "zero2_loss.title": "Watch the loss fall",
    "zero2_loss.text": "3 · Runs draws what the training logs, beside the memory it takes. The learning rate warms "
    "up first: the loss falls slowly, then fast.\n"
    "The step is done when the loss is half of what it was at the start.",
    "zero2_loss.go1": "Open Runs",
    "zero3_run.title": "The same with ZeRO-3",
    "zero3_run.text": "ZeRO-3 also divides the parameters, and this config keeps them in host memory: each layer is "
    "gathered when it is needed, then released.\n"
    "It is the tutorial’s config for T5-3B; here it trains the same small T5 as before, so that both runs can be "
    "compared.",
    "zero3_run.go1": "Set up Launch for ZeRO-3",
    "side_by_side.title": "Compare the two runs",
    "side_by_side.text": "The same data and the same model, another ZeRO stage. Look at the loss, at the time per "
    "step and at the memory, and at the settings in which they differ.",
    "two_keys.title": "What did the two keys do?",
    "two_keys.text": "The tutorial trains T5-3B with ZeRO-3 and everything offloaded. It then raises "
    "`stage3_max_live_parameters` to 3e10 and `stage3_max_reuse_distance` to 1e10. GPU memory grows, host memory "
    "does not shrink, and the tutorial ends with the question why.\n"
    "Few machines can train T5-3B, so the figures here come from the memory model.",
    "two_keys.go1": "Open the config before",
    "two_keys.go2": "Open the config after",
    "two_keys.ask": "Why did host memory stay the same?",
    "two_keys.a1": "What the GPU holds now was never in host memory",
    "two_keys.a2": "Only Adam’s moments moved to the GPU",
    "two_keys.a3": "The keys keep gathered copies longer; partitions, master weights and moments stay where they were",
    "two_keys.right": "A gathered parameter is a copy. Host memory holds 20 bytes for each parameter either way "
    "(16-bit weights and gradients, fp32 master weights and gradients, two moments), and pinned blocks are rounded "
    "up. Either key alone, above the model’s size, has the same effect.",
    "two_keys.wrong": "Look at the table: one row grows by just what the GPU grows, and the host’s row does not move.",
}
