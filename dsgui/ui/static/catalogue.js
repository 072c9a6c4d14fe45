// Made by `make docs` from core/texts/ and core/metrics/chart_table.py: change those and not this.

/* eslint max-len: "off" -- a text is one line */

/** @import { ChartKind, Spot } from "./types.d.ts" */

/** @type {Record<string, Record<string, string>>} */
// prettier-ignore
export const TEXTS = {
 "states": {
  "pending": "pending",
  "queued": "queued",
  "running": "running",
  "stopping": "stopping",
  "succeeded": "succeeded",
  "failed": "failed",
  "stopped": "stopped",
  "lost": "lost",
  "damaged": "damaged"
 },
 "phases": {
  "starting": "Starting: loading PyTorch and the model. On a machine's first run DeepSpeed also compiles its operators, about a minute.",
  "compiling": "DeepSpeed is compiling its operators. The first run on a machine takes about a minute; later ones start at once.",
  "slurm_queue": "Submitted to Slurm; waiting for nodes.",
  "downloading": "",
  "loading": "",
  "preparing": "",
  "saving": "",
  "tokenizing": "",
  "training": "",
  "evaluating": ""
 },
 "alerts": {
  "nan": "{name} is NaN.",
  "nan_in_file": "{name} is NaN ({source}).",
  "infinite": "{name} is infinite.",
  "infinite_in_file": "{name} is infinite ({source}).",
  "finite": "{name} is finite again.",
  "finite_in_file": "{name} is finite again ({source}).",
  "host_memory": "Host memory: {used} of {total} GiB in use ({percent} %).",
  "host_memory_below": "Host memory: back below its limit, {used} of {total} GiB in use ({percent} %).",
  "container_memory": "Memory of this container: {used} of {total} GiB in use ({percent} %).",
  "container_memory_below": "Memory of this container: back below its limit, {used} of {total} GiB in use ({percent} %).",
  "gpu_memory": "GPU {gpu}: {used} of {total} GiB in use ({percent} %).",
  "gpu_memory_below": "GPU {gpu}: back below its limit, {used} of {total} GiB in use ({percent} %).",
  "gpu_slowed": "GPU {gpu} is throttled: {reasons}.",
  "gpu_full_speed": "GPU {gpu} is no longer throttled.",
  "stalled": "No step for {seconds} s; a step usually takes {usual} s.",
  "steps_go_on": "Steps are progressing again.",
  "own_fault": "dsgui failed while recording this run: some of its points, samples or output may be missing. The training is not affected. See supervisor.log.",
  "slower": "{rate} steps/s in the last minute; {usual} is usual.",
  "as_fast_again": "{rate} steps/s in the last minute, near the usual {usual} again."
 },
 "events": {
  "stop_asked": "Stop was requested."
 },
 "marks": {
  "checkpoint": "checkpoint",
  "evaluation": "evaluation",
  "overflow": "overflow",
  "warning": "warning",
  "error": "error",
  "stop": "stop",
  "alert": "alert"
 },
 "memory_parts": {
  "weights": "weights",
  "frozen_weights": "frozen weights",
  "gathered": "gathered parameters",
  "secondary_partition": "secondary partition (hpZ)",
  "gradients": "gradients",
  "master": "fp32 master weights",
  "moments": "optimizer states",
  "buckets": "communication buckets",
  "staging": "communication copies",
  "activations": "activations",
  "logits": "logits and loss",
  "step": "copies of the optimizer step",
  "initialize": "copies of initialization",
  "swap_buffers": "NVMe swap buffers",
  "other": "other",
  "cuda_context": "CUDA context",
  "nccl": "NCCL",
  "cublas": "cuBLAS workspace",
  "fragmentation": "fragmentation",
  "interpreter": "Python and libraries",
  "pinned_cache": "freed pinned blocks",
  "dataloader": "DataLoader workers",
  "system": "operating system",
  "in_use": "in use now"
 },
 "memory_about": {
  "weights": "The model’s own parameters, in the model’s dtype. ZeRO-3 divides them among the ranks.",
  "frozen_weights": "Parameters that are not trained. They need no gradients and no optimizer states.",
  "gathered": "Parameters that ZeRO-3 has gathered from all ranks for the layers at work.",
  "secondary_partition": "hpZ keeps a second partition of the parameters inside each node.",
  "gradients": "Gradients until the optimizer step. ZeRO-2 and 3 divide them among the ranks.",
  "master": "The fp32 copy of the trained parameters that the optimizer updates. ZeRO divides it.",
  "moments": "What the optimizer remembers of each parameter: two fp32 values with Adam. ZeRO divides them.",
  "buckets": "Buffers in which gradients wait for their reduction, allocated whole.",
  "staging": "Copies of gradients or parameters while they are sent.",
  "activations": "What a forward keeps for its backward. Gradient checkpointing, a smaller micro batch or shorter sequences shrink it.",
  "logits": "The scores over the vocabulary and the loss. They grow with micro batch × length × vocabulary.",
  "step": "Copies that exist while the optimizer updates.",
  "initialize": "What exists during deepspeed.initialize only. On the host: the model as each rank loaded it, before ZeRO divides it; the HF Trainer at stage 3 loads it divided.",
  "swap_buffers": "Locked buffers through which NVMe is read and written.",
  "other": "What has no name of its own.",
  "cuda_context": "What the driver keeps for each process on the card. No key changes it.",
  "nccl": "Buffers of the collectives, outside torch’s counters. No key changes it.",
  "cublas": "Workspace of matrix multiplications. CUBLAS_WORKSPACE_CONFIG changes it.",
  "fragmentation": "What torch’s allocator reserves beyond the tensors. PYTORCH_ALLOC_CONF=expandable_segments:True lowers it.",
  "interpreter": "Python, torch and the libraries of each rank.",
  "pinned_cache": "Pinned blocks that DeepSpeed freed: torch keeps them for others of their size.",
  "dataloader": "Memory that DataLoader workers don’t share with their rank (--dataloader_num_workers).",
  "system": "The operating system and its services.",
  "in_use": "What other programs hold now. It counts only if they still run then."
 },
 "memory_moments": {
  "init": "initialize",
  "forward": "forward",
  "backward": "backward",
  "step": "step"
 },
 "memory_places": {
  "gpu": "GPU",
  "host": "Host",
  "pinned": "Host, pinned",
  "nvme": "NVMe"
 },
 "memory_fits": {
  "fits": "fits",
  "tight": "tight",
  "does_not_fit": "does not fit",
  "cannot_say": "can’t say"
 },
 "memory_rehearsal": {
  "ask": "Ask DeepSpeed: dry run",
  "cancel": "Cancel",
  "how": "The real engine of the training environment takes three steps on tensors without storage. It needs no GPU, and about a minute for a 7B model.",
  "going": "Dry run, {seconds} s: {now}",
  "waiting": "Queued behind {ahead}: one dry run at a time.",
  "starting": "starting Python in the training environment and importing DeepSpeed",
  "load": "making the model on the host",
  "model": "making the model, divided among the ranks",
  "init": "deepspeed.initialize",
  "forward": "step {step} of {steps}, forward",
  "backward": "step {step} of {steps}, backward",
  "step": "step {step} of {steps}, optimizer",
  "end": "counting",
  "stands": "The formula’s answer stands.",
  "outdated": "Outdated: the config, the model or the number of GPUs changed since. Ask again.",
  "agrees": "Formula and dry run agree within 2 %.",
  "done": "Dry run with DeepSpeed {release}, rank {rank} of {ranks}: {steps} steps in {seconds} s.",
  "timeline": "Tensors of one rank, phase by phase",
  "peak": "What the peak is made of",
  "lines": "The same as a list",
  "no_line": "autograd",
  "smaller": "smaller lines",
  "formula": "By formula",
  "nth": "step {step}",
  "phase_load": "load",
  "phase_model": "model",
  "phase_init": "initialize",
  "phase_forward": "forward",
  "phase_backward": "backward",
  "phase_step": "optimizer step",
  "planned": "The bar above plans for DeepSpeed {release}. Only the installed one, {installed}, can take a dry run: choose it above, or start dsgui with the --python that has {release}.",
  "none": "The training environment has no DeepSpeed. Start dsgui with a --python that has it."
 },
 "memory_sources": {
  "formula": "by formula",
  "dry_run": "by dry run"
 },
 "common_page": {
  "more_findings": "{count} more are not shown.",
  "form_waits": "The form keeps its last valid state; nothing you typed is lost.",
  "unreadable_json": "The JSON can’t be read yet",
  "convert": "Convert to strict JSON",
  "word_error": "Error",
  "word_warning": "Warning",
  "word_note": "Note",
  "count_error": "{count} error",
  "counts_error": "{count} errors",
  "count_warning": "{count} warning",
  "counts_warning": "{count} warnings",
  "count_note": "{count} note",
  "counts_note": "{count} notes",
  "refused": "{judge} would refuse this: {counts}",
  "passes": "Checks pass",
  "passes_with": "Checks pass ({counts})",
  "checked_for": "Checked for {subject}",
  "show_field": "Show this field in the form",
  "about_rule": "{rule}: about this rule"
 },
 "site_page": {
  "tab_configure": "1 · Configure",
  "tab_launch": "2 · Launch",
  "tab_runs": "3 · Runs",
  "tab_machine": "4 · Machine",
  "lead": "Write a DeepSpeed config, launch it and monitor the run. Start from a preset, fix the findings, then open <b>2 · Launch</b>.",
  "language": "Language",
  "cpu_only": "CPU only",
  "no_deepspeed": "DeepSpeed is not installed in the training environment.",
  "asking_accelerator": "{device} (asking DeepSpeed what it supports…)",
  "dtypes": "{device}: {dtypes}",
  "no_dtype": "no {dtype}"
 },
 "goal_page": {
  "title": "What do you want to train?",
  "open": "Start from a goal…",
  "skip": "Skip",
  "what": "Training code",
  "hf": "Fine-tune with the HF Trainer",
  "hf_about": "transformers, TRL: the Trainer reads the config and fills every “auto”.",
  "native": "Native DeepSpeed loop",
  "native_about": "My script calls deepspeed.initialize.",
  "own": "I have a ds_config.json",
  "own_about": "Check, mend and launch it.",
  "paste": "Paste it into the editor",
  "file": "Open a file",
  "model": "Model",
  "model_hint": "a size such as 7B, a folder with config.json, or a hub id in the local cache",
  "length": "Tokens per sample",
  "micro": "Micro batch per GPU",
  "gpu": "GPU",
  "this_machine": "This machine: {device}",
  "gpus": "GPUs per node",
  "nodes": "Nodes",
  "nvidia": "NVIDIA",
  "amd": "AMD",
  "find": "Show configs that fit",
  "finding": "Working out what fits…",
  "enter_model": "Enter a model or a size, such as 7B.",
  "none_fit": "None of these fits. The two that come nearest:",
  "none_fit_next": "Shorter samples, a smaller micro batch, LoRA or more GPUs would help.",
  "some_fit": "Ranked by estimated speed, not measured. Memory is predicted for each GPU and each node.",
  "fastest": "Fastest",
  "roomier": "More room",
  "leanest": "Least GPU memory",
  "nearest": "Nearest",
  "same_speed": "about as fast as the first",
  "slower": "about {times}× the time of the first, by estimate",
  "first": "fastest of those that fit",
  "room_left": "{gib} left on each GPU",
  "too_much": "{gib} too much",
  "checkpointing": "with gradient checkpointing",
  "launch_with": "Script arguments: {words}",
  "use": "Use this config"
 },
 "configure_page": {
  "launch": "Launch →",
  "own_config": "Your config",
  "modified": "modified",
  "passes": "Checks pass",
  "broken": "Not readable",
  "error_one": "{count} error",
  "error_many": "{count} errors",
  "warning_one": "{count} warning",
  "warning_many": "{count} warnings",
  "note_one": "{count} note",
  "note_many": "{count} notes",
  "to_findings": "Go to the findings",
  "to_memory": "Go to the memory prediction",
  "download": "Download",
  "plan_for_that": "Plan for that",
  "made_for_one": "This preset was made for 1 GPU.",
  "made_for_many": "This preset was made for {ranks} GPUs.",
  "made_for_card_one": "This preset was made for 1 GPU such as a {card}; the device chosen here would refuse it.",
  "made_for_card_many": "This preset was made for {ranks} GPUs such as a {card}; the device chosen here would refuse it.",
  "undo": "Undo",
  "redo": "Redo",
  "undo_keys": "Ctrl+Z outside a text field",
  "redo_keys": "Ctrl+Shift+Z outside a text field",
  "framework": "Framework",
  "gpus": "GPUs per node",
  "cpu_ranks": "GPUs (here: CPU ranks) per node",
  "nodes": "Nodes",
  "device": "Device",
  "release": "DeepSpeed",
  "native": "native DeepSpeed",
  "this_machine": "This machine: {device}",
  "plan_for": "Plan for {what}",
  "installed": "{release} (installed)",
  "none_installed": "{release} (none installed)"
 },
 "form_page": {
  "not_set": "not set",
  "not_set_default": "not set (default {value})",
  "default": "default {value}",
  "on": "on",
  "off": "off",
  "fill_auto": "Set to “auto”, or unset again",
  "unset": "Unset {key}",
  "unset_hint": "Unset: remove the key from the config",
  "more": "Increase {key}",
  "less": "Decrease {key}",
  "removed": "removed in DeepSpeed {release}",
  "find": "Find a field: bucket, offload, lr …",
  "find_about": "Find a field by key, name or description",
  "show_all": "Show all fields",
  "show_common": "Show common fields",
  "no_field": "No matching field. Other keys can be added in the JSON.",
  "waits": "{why} The form updates again once the JSON is valid.",
  "not_taken": "{kind} does not take this parameter.",
  "count_set": "{count} set",
  "none_set": "nothing set",
  "show_line": "Show line {line} in the JSON",
  "python_kind": "True, False and None are Python: DeepSpeed doesn’t read them as values. As strict JSON:",
  "python_words": "True, False, None written as true, false, null (line: {lines})"
 },
 "memory_page": {
  "ladder": "Faster and leaner configs",
  "ladder_looking": "Working out what else there is…",
  "ladder_about": "The same model, batch and ranks. Time is relative to this config and estimated, not measured; memory is the fullest moment.",
  "ladder_change": "Change",
  "ladder_time": "Time",
  "ladder_apply": "Apply",
  "ladder_apply_this": "Apply: {moves}",
  "ladder_as_is": "This config"
 },
 "launch_page": {
  "recipe_translation": "Bundled recipe: T5 translates number words (no download)",
  "own_script": "My own script",
  "usual": "default: wait for GPUs and other hosts, share this machine’s CPU",
  "more": "More: launcher, queue, environment, port, folder, name",
  "if_busy_on_cpu": "If another run is active",
  "gpu": "{index}: {name}",
  "gpu_used": "{used} of {total} in use",
  "gpu_by": "by run {runs}",
  "quoted": "“{name}”",
  "check_machines": "Check machines",
  "incomplete": "The launch is incomplete: see the message above the command.",
  "host_checked": "1 host checked: {summary}",
  "hosts_checked": "{count} hosts checked: {summary}",
  "command": "The command, exactly as it will run",
  "undo": "Undo",
  "anyway": "Launch anyway",
  "launch": "Launch",
  "uses_own": "The script uses its own config, not the one from 1 · Configure.",
  "gets_none": "The script doesn’t get this config.",
  "reads_hf": "This script uses the HF Trainer, so it is checked for that; 1 · Configure checks it for the other framework.",
  "reads_native": "This script uses native DeepSpeed, so it is checked for that; 1 · Configure checks it for the other framework.",
  "config_unreadable": "The config from 1 · Configure **can’t be read: see below.**",
  "config_refused": "The config from 1 · Configure, checked for {devices}: **{judge} would refuse it: see below.**",
  "config_by_arguments": "The config from 1 · Configure, checked for {devices}, **fails with the script’s arguments: see below.**",
  "config_verdict": "The config from 1 · Configure, checked for {devices}: {verdict}.",
  "nothing_to_report": "nothing to report",
  "settings_changed": "**Not started.** The settings changed while this command was being built. Review the new command, then press Launch again.",
  "nothing_yet": "Nothing to launch yet: see the message above.",
  "not_started": "**Not started.** {why}",
  "started": "Started run {run}.",
  "preflight": "Pre-flight: {summary}"
 },
 "runs_page": {},
 "compare_page": {},
 "charts_page": {},
 "report_page": {},
 "machine_page": {
  "intro": "This machine and the training environment, checked when you open this page.",
  "again": "Check again",
  "asking": "Checking torch, CUDA and DeepSpeed’s operators in the training environment. This takes a few seconds…",
  "this_machine": "This machine: {summary}",
  "so_far": "This machine: {summary} so far",
  "problem": "Problem",
  "warning": "Warning",
  "ok": "OK",
  "unknown": "Not checked",
  "unknown_value": "unknown",
  "none": "none",
  "no_limit": "no limit",
  "gpus": "GPUs",
  "host": "This machine",
  "environment": "The training environment",
  "programs": "Programs",
  "operators": "DeepSpeed’s operators",
  "no_driver": "none (no NVIDIA driver found)",
  "driver": "Driver",
  "cuda_up_to": "CUDA up to {release}",
  "capability": "compute capability {capability}",
  "free_of": "{free} of {total} free",
  "available_of": "{free} of {total} available",
  "cores": "Cores",
  "usable_of": "{usable} of {cores} usable here",
  "memory": "Memory",
  "memory_limit": "Memory limit",
  "swap": "Swap",
  "locked": "Locked memory",
  "locks_freely": "{limit}, no limit for this user (CAP_IPC_LOCK)",
  "open_files": "Open files",
  "per_process": "{count} per process",
  "runs": "Runs",
  "compiled": "Compiled operators",
  "disk_at": "{path}: {disk}",
  "not_installed": "not installed",
  "built_for": "torch built for",
  "toolkit": "CUDA toolkit",
  "accelerator": "Accelerator",
  "not_usable": "{build}, not usable: {why}",
  "no_nvcc": "no nvcc",
  "no_toolkit": "none that torch would use",
  "no_dtype": "no {dtype}",
  "accelerator_with": "{name} ({dtypes})",
  "compiler": "C++ compiler",
  "headers": "Python headers",
  "not_found": "not found",
  "no_start": "does not start",
  "built_in": "built in",
  "compilable": "can be compiled",
  "op_no": "no: {why}",
  "checks": "Checks",
  "row_problem": "PROBLEM",
  "row_warning": "warning",
  "row_ok": "ok",
  "row_unknown": "unknown"
 }
};

/** @type {{ colours: string[], charts: Record<string, ChartKind>, logged: Record<string, Spot>, endings: Record<string, Spot>, readings: Record<string, Spot>, losses: Record<string, string>, evaluationCosts: string[], evaluationCounts: string }} */
// prettier-ignore
export const CHARTS = {
 "colours": [
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#E69F00",
  "#56B4E9",
  "#999999"
 ],
 "charts": {
  "loss": {
   "title": "Loss",
   "y": "loss",
   "scale": 1
  },
  "gpu_memory": {
   "title": "GPU memory",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true
  },
  "host_memory": {
   "title": "Host memory",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true
  },
  "learning_rate": {
   "title": "Learning rate",
   "y": "learning rate",
   "scale": 1
  },
  "grad_norm": {
   "title": "Gradient norm",
   "y": "grad norm",
   "scale": 1
  },
  "gpu_utilization": {
   "title": "GPU utilization",
   "y": "%",
   "unit": "%",
   "scale": 1,
   "zero": true
  },
  "evaluation": {
   "title": "Evaluation",
   "y": "score",
   "scale": 1
  },
  "throughput": {
   "title": "Throughput",
   "y": "samples/s",
   "scale": 1
  },
  "loss_scale": {
   "title": "Loss scale",
   "y": "loss scale",
   "scale": 1
  },
  "step_times": {
   "title": "Step times",
   "y": "ms",
   "scale": 1
  },
  "memory_logged": {
   "title": "Memory logged by DeepSpeed",
   "y": "GB",
   "scale": 1
  },
  "cpu": {
   "title": "CPU",
   "y": "%",
   "unit": "%",
   "scale": 1,
   "zero": true,
   "more": true
  },
  "gpu_power": {
   "title": "GPU power",
   "y": "W",
   "unit": "W",
   "scale": 1,
   "zero": true,
   "more": true
  },
  "gpu_temperature": {
   "title": "GPU temperature",
   "y": "°C",
   "unit": "°C",
   "scale": 1,
   "more": true
  },
  "gpu_clocks": {
   "title": "GPU clocks",
   "y": "MHz",
   "unit": "MHz",
   "scale": 1,
   "more": true
  },
  "pcie": {
   "title": "PCIe traffic",
   "y": "MiB/s",
   "unit": "MiB/s",
   "scale": 1048576,
   "zero": true,
   "more": true
  },
  "free_disk": {
   "title": "Free disk space",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true,
   "more": true
  }
 },
 "logged": {
  "learning_rate": {
   "chart": "learning_rate"
  },
  "grad_norm": {
   "chart": "grad_norm"
  },
  "loss_scale": {
   "chart": "loss_scale"
  },
  "skipped_steps": {
   "chart": "loss_scale",
   "right": "skipped steps"
  },
  "samples_per_second": {
   "chart": "throughput"
  },
  "tokens_per_second": {
   "chart": "throughput",
   "right": "tokens/s"
  }
 },
 "endings": {
  "_ms": {
   "chart": "step_times"
  },
  "_gb": {
   "chart": "memory_logged"
  }
 },
 "readings": {
  "gpu.used_bytes": {
   "chart": "gpu_memory"
  },
  "gpu.run_bytes": {
   "chart": "gpu_memory",
   "note": "this run",
   "dash": "dot",
   "alone": true
  },
  "host_used_bytes": {
   "chart": "host_memory",
   "note": "host, all processes",
   "colour": "#999999"
  },
  "run_bytes": {
   "chart": "host_memory",
   "note": "this run",
   "colour": "#D55E00"
  },
  "swap_used_bytes": {
   "chart": "host_memory",
   "note": "swap",
   "colour": "#CC79A7",
   "if_any": true
  },
  "gpu.utilisation_percent": {
   "chart": "gpu_utilization"
  },
  "cpu_percent": {
   "chart": "cpu",
   "note": "all cores"
  },
  "gpu.power_w": {
   "chart": "gpu_power"
  },
  "gpu.temperature_c": {
   "chart": "gpu_temperature"
  },
  "gpu.sm_clock_mhz": {
   "chart": "gpu_clocks"
  },
  "gpu.pcie_rx_bytes_s": {
   "chart": "pcie",
   "note": "received"
  },
  "gpu.pcie_tx_bytes_s": {
   "chart": "pcie",
   "note": "sent",
   "dash": "dot"
  },
  "disk_free_bytes": {
   "chart": "free_disk",
   "note": "where the run writes"
  }
 },
 "losses": {
  "loss": "train",
  "eval_loss": "eval"
 },
 "evaluationCosts": [
  "runtime",
  "per_second",
  "gen_len",
  "preparation_time",
  "_mem_"
 ],
 "evaluationCounts": "_samples"
};
