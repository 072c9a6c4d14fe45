// Made by `make docs` from core/texts/english/ and core/metrics/chart_table.py: change those and not this.

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
