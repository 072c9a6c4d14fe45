"""The tutorial on pre-training with deepspeed.initialize."""

NATIVE: dict[str, str] = {
    "native.name": "Pre-training with deepspeed.initialize",
    "native.about": "One batch of 64 on 1, 4 or 8 GPUs, the optimizer in two places, and what became of apex’s "
    "opt_level.",
    "native.source": "Based on: installing and using DeepSpeed on several GPUs",
    "table.title": "The table of batch sizes",
    "table.text": "`train_batch_size` = `train_micro_batch_size_per_gpu` × `gradient_accumulation_steps` × GPUs. "
    "The tutorial’s table keeps 64 and splits it in three ways.\n"
    "Each button opens the same preset with one row of the table; look at the JSON and at the bar above it.",
    "table.go1": "1 GPU",
    "table.go2": "4 GPUs",
    "table.go3": "2 nodes × 4 GPUs",
    "table.ask": "With a micro batch of 8 on 4 GPUs, how many accumulation steps make 64?",
    "table.a1": "1",
    "table.a2": "2",
    "table.a3": "8",
    "table.right": "64 = 8 × 2 × 4. A config that sets all three has to multiply out on the GPUs it runs on, "
    "or DeepSpeed refuses it; if it leaves one out, DeepSpeed derives it.",
    "table.wrong": "Divide 64 by 8 × 4.",
    "first_cut.title": "Pre-train with one split of 64",
    "first_cut.text": "The recipe’s loop is its own: `deepspeed.initialize`, then forward, backward, step. A small "
    "GPT reads how to count in words; nothing is downloaded.\n"
    "Launch it on two ranks, 64 = 8 × 4 × 2. Its log has the tutorial’s lines: `Rank[0]: Epoch 1, step … / …, loss "
    "…`. On a GPU machine take two GPUs, or another number that divides 8.",
    "first_cut.go1": "Set up Launch on two ranks",
    "other_cut.title": "The same 64, split differently",
    "other_cut.text": "Now the table’s first row: one rank that accumulates 8 micro batches, 64 = 8 × 8 × 1. Any "
    "other number of ranks or micro batch works too, as long as the batch stays 64.",
    "other_cut.go1": "Set up Launch on one rank",
    "optimizer.title": "Optimizer: from the config or from the script",
    "optimizer.text": "The tutorial shows both ways. With an `optimizer` block the config makes it. Without, the "
    "script makes `torch.optim.AdamW` and passes it to `deepspeed.initialize(optimizer=…)`; this recipe does so "
    "when the block is missing. ZeRO takes a script’s own optimizer of torch’s Adam family as it is; others need "
    "`zero_allow_untested_optimizer`.\n"
    "Remove the block from the JSON and see what the findings say.",
    "optimizer.go1": "Open the config",
    "optimizer.ask": "A script passes an optimizer and the config has a block as well. Which one trains?",
    "optimizer.a1": "The script’s: the block is then not read",
    "optimizer.a2": "The config’s: it overrides the script",
    "optimizer.a3": "Both, one after the other",
    "optimizer.right": "DeepSpeed makes one from the block only where the script passes none (engine.py, "
    "`_configure_optimizer`). A learning rate changed in the config then changes nothing.",
    "optimizer.wrong": "DeepSpeed looks first at what it was passed.",
    "precision.title": "What became of opt_level",
    "precision.text": "The tutorial has apex’s `amp` block with its `opt_level`. DeepSpeed 0.19.8 refuses any such "
    "block, even one with `enabled: false`; older releases refuse it together with ZeRO.\n"
    "The table has what each level did, and the keys for it today. The tutorial’s own config has `fp16` with "
    "`initial_scale_power` 12: open it.",
    "precision.go1": "Open the fp16 config",
    "precision.ask": "Which of today’s keys does what O2 did?",
    "precision.a1": "`amp` with `opt_level: O2`",
    "precision.a2": "`torch_autocast`",
    "precision.a3": "`fp16` (or `bf16`): 16-bit weights with fp32 master weights",
    "precision.right": "And ZeRO divides those master weights, which apex never did.",
    "precision.wrong": "O2 cast the weights themselves and kept fp32 copies in the optimizer; look for that in the "
    "table.",
    "same_batch.title": "Is it the same training?",
    "same_batch.text": "The table’s promise is that 64 stays 64 on whatever there is. Your two runs are below; "
    "their curves lie over each other under Compare.",
    "same_batch.ask": "What changes when 64 is split differently?",
    "same_batch.a1": "The learning rate has to follow the number of GPUs",
    "same_batch.a2": "Time and memory; after as many steps the loss is about the same",
    "same_batch.a3": "With more ranks there are more optimizer steps in an epoch",
    "same_batch.right": "Each step sees 64 samples either way, so steps, schedule and learning rate stay. The "
    "losses differ a little: the samples come in another order, and sums are rounded differently.",
    "same_batch.wrong": "Compare steps and losses of your two runs.",
}
