"""The tutorial that introduces DeepSpeed as a whole."""

LORA: dict[str, str] = {
    "lora.name": "From backends to Bloom with LoRA",
    "lora.about": "How ranks talk, two nodes, FLAN-T5 on dialogues, LoRA with its adapter, and which part of it makes "
    "7B trainable.",
    "lora.source": "Based on: an introduction to DeepSpeed",
    "backends.title": "How ranks talk to each other",
    "backends.text": "A rank is one process; `local_rank` counts them on a node, `rank` in the whole job, and the "
    "master’s address and port are where they meet. What they exchange goes through a backend.\n"
    "4 · Machine shows what is installed here.",
    "backends.go1": "Open Machine",
    "backends.ask": "On GPUs, what do you have to set to get nccl?",
    "backends.a1": "A key in ds_config.json",
    "backends.a2": "`--launcher nccl`",
    "backends.a3": "Nothing: DeepSpeed takes the accelerator’s own backend",
    "backends.right": "No key of the config chooses a backend. It is the accelerator’s, or what the script passes "
    "to `deepspeed.init_distributed`.",
    "backends.wrong": "Look at the table’s last column.",
    "two_nodes.title": "Two nodes",
    "two_nodes.text": "A hostfile has a line for each node with its number of GPUs; `--include` takes a part of it: "
    "`@` separates nodes, commas separate GPUs. ssh has to reach each node without a password, and every file has "
    "to be at the same path on each.\n"
    "The button fills in the tutorial’s two nodes, with GPU 3 of the first and GPUs 2 and 3 of the second. Read the "
    "command; nothing is started.",
    "two_nodes.go1": "Set up Launch for two nodes",
    "two_nodes.ask": "How many ranks does `--include=node1:3@node2:2,3` start?",
    "two_nodes.a1": "3",
    "two_nodes.a2": "5",
    "two_nodes.a3": "8, as the hostfile says",
    "two_nodes.right": "One for each GPU named. A batch of 64 in micro batches of 8 can’t be split among three, so "
    "this launch would be refused: clear Include, and eight ranks take 64 = 8 × 1 × 8.",
    "two_nodes.wrong": "Count the GPUs after the colons.",
    "dialogues.title": "FLAN-T5 on dialogues",
    "dialogues.text": "The tutorial trains FLAN-T5 to summarize dialogues, with ZeRO-3 in bf16 and everything "
    "offloaded. The bundled recipe does the same with a small T5 and generated dialogues; ROUGE rises while the "
    "loss falls.\n"
    "With `--model_name_or_path google/flan-t5-xxl --dataset_name knkarthick/samsum` it is the tutorial’s own "
    "training.",
    "dialogues.go1": "Set up Launch for dialogues",
    "lora_run.title": "Bloom with LoRA",
    "lora_run.text": "LoRA freezes the model and trains small adapters beside its linear layers: here r = 8, alpha "
    "= 32, dropout 0.1. Only the answer counts for the loss; the instruction is masked with −100.\n"
    "The config’s `activation_checkpointing` block does nothing with transformers’ models; "
    "`--gradient_checkpointing` does.\n"
    "The tutorial trains in fp16; on a machine without it the button sets bf16.",
    "lora_run.go1": "Set up Launch for LoRA",
    "adapter.title": "Merge the adapter",
    "adapter.text": "The run left an adapter: a few megabytes that are of no use without the model. Under “After "
    "training” on the run’s page, merge it into a whole model, then try that beside the base model.",
    "adapter.go1": "Open Runs",
    "seven_b.title": "What makes 7B trainable?",
    "seven_b.text": "The tutorial trains Bloomz-7B1 with LoRA on four GPUs, with ZeRO-2 and the optimizer "
    "offloaded. Your own run was a small Bloom; for 7B the figures are those of the memory model.",
    "seven_b.ask": "What does LoRA save?",
    "seven_b.a1": "The 16-bit weights: only adapters are loaded",
    "seven_b.a2": "Gradients, master weights and moments: they exist for the adapters alone",
    "seven_b.a3": "The activations: frozen layers keep none",
    "seven_b.right": "The weights stay, 2Ψ on every GPU at stage 2; the other 14Ψ shrink to almost nothing. "
    "Activations stay, too: the backward pass goes through frozen layers to reach the adapters.",
    "seven_b.wrong": "Compare the rows of the table: which of them nearly vanish?",
}
