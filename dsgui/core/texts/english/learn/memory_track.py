"""The tutorial on what takes the memory."""

MEMORY: dict[str, str] = {
    "memory.name": "Where the memory goes",
    "memory.about": "16 bytes per parameter (16Ψ), the four ZeRO stages, offload, activations, buffers: with "
    "sliders, then with two runs of your own.",
    "memory.source": "Based on: memory analysis of a model, and DeepSpeed’s core idea",
    "sixteen.title": "Sixteen bytes for each parameter",
    "sixteen.text": "Mixed precision with Adam keeps, for each of Ψ parameters: 2 bytes of weights, 2 of gradients, "
    "and in fp32 4 of master weights and 4 + 4 of Adam’s two moments. That is 16Ψ: 22.4 GiB for the 1.5 billion "
    "of GPT-2.\n"
    "Raise N, then the stage.",
    "sixteen.notes": "The bar is the one on 1 · Configure, for the stage set here. It also includes activations and "
    "buffers, so it is longer than 16Ψ.\n"
    "On one GPU (N = 1) every stage keeps all 16Ψ.",
    "sixteen.ask": "How many of the 16 bytes does the optimizer keep?",
    "sixteen.a1": "12: master weights and both moments",
    "sixteen.a2": "8: both moments",
    "sixteen.a3": "4: the learning rate of each parameter",
    "sixteen.right": "Three quarters of the model states are the optimizer’s. That is why ZeRO divides them first.",
    "sixteen.wrong": "The fp32 copy of the weights is updated by the optimizer and kept by it.",
    "stages.title": "Find the lowest stage that fits",
    "stages.text": "Stage 1 divides the optimizer’s 12Ψ among N GPUs, stage 2 the gradients as well, stage 3 the "
    "weights as well. A higher stage communicates more, so take the lowest that fits.\n"
    "Set 7B on 8 × A100 40 GB, without offload, and choose the lowest stage whose bar ends before the line.",
    "offload.title": "One small GPU, a large model",
    "offload.text": "DeepSpeed’s core idea, in the tutorial’s words: where GPU memory does not suffice, host memory "
    "helps out. What is not needed at the moment waits there.\n"
    "For a 3B model, 16Ψ is 44.7 GiB. Make it fit on one GPU sold with 24 GB or less: choose the GPU, then what is "
    "offloaded. Offloading the optimizer needs stage 1 or higher; offloading the parameters, stage 3.",
    "offload.notes": "A GPU is sold in GB; its limit here is in GiB, as the driver reports it.",
    "activations.title": "Activations",
    "activations.text": "The backward pass needs values of the forward pass. They grow with the micro batch and "
    "with the length of the samples. Activation checkpointing keeps a layer’s input only and computes the rest "
    "again, at the price of about a third more computation.\n"
    "Raise the micro batch and the length, then switch checkpointing on.",
    "activations.ask": "Which ZeRO stage makes the activations smaller?",
    "activations.a1": "Stage 3",
    "activations.a2": "None: a smaller micro batch, shorter samples or checkpointing do",
    "activations.a3": "Every stage, in proportion to N",
    "activations.right": "ZeRO divides model states. Activations belong to a GPU’s own samples, and are the same at "
    "every stage.",
    "activations.wrong": "Compare the part of the bars labelled activations from stage 0 to stage 3.",
    "buffers.title": "Buffers and fragmentation",
    "buffers.text": "Gradients are reduced in buckets. `reduce_bucket_size` counts elements, and a bucket has its "
    "full size however small the model is.\n"
    "Fragmentation is memory that torch has reserved and can’t use. It is the bar’s most uncertain part: dsgui "
    "draws a likely value, and up to 30 % has been reported. `PYTORCH_ALLOC_CONF=expandable_segments:True` lowers it.",
    "buffers.ask": "How much does one bucket of 500,000,000 elements take in fp16?",
    "buffers.a1": "0.47 GiB",
    "buffers.a2": "As much as the model’s gradients",
    "buffers.a3": "0.93 GiB",
    "buffers.right": "500 million elements of 2 bytes. `overlap_comm` takes one more in the backward pass, and "
    "`contiguous_gradients` a buffer of the same size at stage 2.",
    "buffers.wrong": "The key counts elements; fp16 has 2 bytes for each.",
    "with_and_without.title": "Train with offload, and without",
    "with_and_without.text": "Two short runs of the bundled recipe at stage 2: the optimizer in host memory, and "
    "where the ranks compute. Launch both, then show them side by side.",
    "with_and_without.go1": "Set up Launch with offload",
    "with_and_without.go2": "Set up Launch without offload",
    "price.title": "What does offload cost?",
    "price.text": "The tutorial ends with a trade-off: the more is moved to host memory, the less the GPU has to "
    "hold, and the more data crosses between the two.\n"
    "Your two runs are below. On CPU ranks everything is in host memory already: nothing crosses over, and their "
    "times may be nearly the same. The difference shows on a GPU.",
    "price.ask": "What is paid for the GPU memory that offload frees?",
    "price.a1": "Time, and host memory: each step copies gradients out and weights back, and the CPU computes the "
    "update",
    "price.a2": "Accuracy: the optimizer computes in 16 bits on the CPU",
    "price.a3": "Nothing, if host memory suffices",
    "price.right": "The update is the same fp32 arithmetic, so the loss curves agree. Compare the times per step in "
    "the table, where your GPU and CPU share the work.",
    "price.wrong": "Compare the final losses of your two runs, and the times per step.",
}
