"""Checks of the room a launch finds: host and GPU memory, locked and shared memory, cores, disks, the port. None where
there is nothing to judge, and for other machines than this."""

from dsgui.core.config.context import Integration, version_tuple
from dsgui.core.machine import host_checks
from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.machine.verdicts import Status, Verdict, advise, ok, problem, saw, unknown, warning
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.nvme import Nvme, folders_of
from dsgui.core.preflight.model_size import spelled
from dsgui.core.preflight.offloading import estimate
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import offload_device, value_or, zero_stage
from dsgui.core.script.words import value_of
from dsgui.core.sizes import file_size, size
from dsgui.core.texts.saying import Said, listed

# Seen with 0.19.8: save_checkpoint of a bf16 model with Adam wrote 14 bytes per parameter at stage 2, 12 at stage 3
# (the fp32 weights and two moments); the HF Trainer adds the 16-bit model.
CHECKPOINT_BYTES = 16
CHECKPOINT_LEAST_BYTES = 12
# DeepSpeed takes these folders as well: a name that is not absolute begins where the script runs.
_NOT_LOOKED_AT = ("nvme_outside", "nvme_relative")
_NVME_LOCKS_SINCE = "0.19.6"


def offload(question: Question) -> Verdict | None:
    """Host memory for ZeRO-Offload, by DeepSpeed's own estimator, where the memory model has no answer; nothing where
    that says why, and the estimator would know less of the model."""
    model, told = question.around.model, question.launch.memory
    if isinstance(told, Fitted) or (told is not None and model.parameters is None):
        return None
    need = estimate(question.launch, model, question.around.part_trained(question.launch))
    if need is None:
        return None
    if isinstance(need, Said):
        return unknown(need)
    return _fits(question.around.machine.host, need.states_bytes, need.estimate_bytes, spelled(model.parameters or 0))


def _trains_a_part(question: Question) -> bool:
    return question.around.part_trained(question.launch).trains is not False


def _fits(host: Host, states: int, estimate: int, parameters: str) -> Verdict | None:
    """`states` are sure to be needed; the `estimate` has half as much again for buffers."""
    if host.memory_bytes is None:
        return None
    limit = host.memory_limit_bytes
    most = min(host.memory_bytes, limit or host.memory_bytes)
    now = min(host.memory_available_bytes or most, most)
    limited = limit is not None and limit < host.memory_bytes
    given = {"parameters": parameters, "states": size(states), "most": size(most)}
    if states > most + (host.swap_bytes or 0):
        much = saw("offload.too_much_for_limit", **given) if limited else saw("offload.too_much", **given)
        return problem(much, advise("offload.use_more"))
    given = {"parameters": parameters, "estimate": size(estimate), "free": size(now)}
    if estimate <= now:
        return ok(saw("offload.fits_limit", **given) if limited else saw("offload.fits", **given))
    given |= {"states": size(states)}
    tight = saw("offload.tight_for_limit", **given) if limited else saw("offload.tight", **given)
    return warning(tight, advise("offload.free_some"))


def memlock(question: Question) -> Verdict | None:
    """Buffers of offload_param to NVMe (deepspeed/runtime/zero/offload_config.py) are locked since 0.19.6."""
    config, host = question.config, question.around.machine.host
    if zero_stage(config) != 3 or offload_device(config, "offload_param") != "nvme" or question.launch.elsewhere:
        return None
    version = question.around.version("deepspeed")
    if version and version_tuple(version) < version_tuple(_NVME_LOCKS_SINCE):
        return None
    count = value_or(config, "/zero_optimization/offload_param/buffer_count", 5)
    elements = value_or(config, "/zero_optimization/offload_param/buffer_size", 10**8)
    if not isinstance(count, int | float) or not isinstance(elements, int | float):
        return None
    need = int(2 * count * elements)
    if host.memlock_bytes is None or host.locks_freely or host.memlock_bytes >= need:
        return ok(saw("memlock.enough", need=size(need)))
    given = {"need": size(need), "count": f"{count:g}", "elements": f"{elements:g}", "limit": size(host.memlock_bytes)}
    return problem(saw("memlock.locks_more", **given), advise("memlock.raise"), "ulimit -l unlimited")


def _is_known_of(why: Said) -> tuple[bool, bool]:
    """Problems first, then what DeepSpeed makes itself."""
    return why.code in _NOT_LOOKED_AT, why.code == "nvme_no_folder"


def nvme(question: Question) -> Verdict | None:
    """The folders that the config offloads to: whether DeepSpeed can write there. Whether what it writes has room the
    memory model says."""
    if zero_stage(question.config) != 3 or question.launch.elsewhere:
        return None
    known = [one for name in folders_of(question.config) if (one := question.around.folders.get(name)) is not None]
    wrong = sorted((one.why for one in known if isinstance(one, CannotSay)), key=_is_known_of)
    if wrong and wrong[0].code in _NOT_LOOKED_AT:
        return unknown(wrong[0])
    if wrong:  # a folder that is not there is made by it (partitioned_param_swapper.py:89), on whatever drive that is
        return (warning if wrong[0].code == "nvme_no_folder" else problem)(wrong[0], advise("nvme.choose"))
    rooms = [saw("nvme.free", path=one.path, free=size(one.free_bytes)) for one in known if isinstance(one, Nvme)]
    return ok(*rooms) if rooms else None


def shared_memory(question: Question) -> Verdict | None:
    machine, ranks = question.around.machine, question.launch.ranks
    if question.launch.elsewhere:
        return None
    if machine.host.shm is None or machine.gpus:
        return host_checks.shm(machine) if ranks > 1 or machine.host.shm is None else None
    need, free = ranks * host_checks.SHM_A_CPU_RANK_BYTES, machine.host.shm.free_bytes
    given = {"free": size(free), "need": size(need)}
    if free >= need:
        return ok(saw("shm.room_for_one", **given) if ranks == 1 else saw("shm.room", **given, ranks=str(ranks)))
    return problem(
        saw("shm.no_room_for_one", **given) if ranks == 1 else saw("shm.no_room", **given, ranks=str(ranks)),
        advise("shm.remove_stale"),
    )


def gpus(question: Question) -> Verdict | None:
    launch, machine = question.launch, question.around.machine
    if launch.elsewhere or not launch.gpu_indices:
        return _too_few(machine, launch.ranks) if machine.gpus and not launch.elsewhere else None
    if not machine.gpus:
        return warning(saw("gpus.no_driver", gpus=_listed(launch.gpu_indices)), advise("gpus.check_driver"))
    known = [gpu.index for gpu in machine.gpus]
    missing = [index for index in launch.gpu_indices if index not in known]
    if missing:
        return problem(saw("gpus.missing", gpus=_listed(missing), known=_listed(known)), advise("gpus.select"))
    return _free(question)


def _too_few(machine: Machine, ranks: int) -> Verdict | None:
    if ranks <= len(machine.gpus):
        return None
    there = len(machine.gpus)
    return problem(
        saw("gpus.only_one", ranks=str(ranks)) if there == 1 else saw("gpus.few", ranks=str(ranks), gpus=str(there)),
        advise("gpus.use_fewer"),
    )


def _free(question: Question) -> Verdict | None:
    chosen = Machine(question.around.machine.host, question.gpus)
    verdict = host_checks.busy(chosen)
    if verdict is not None and verdict.status is Status.OK:
        rooms = listed([_room(gpu) for gpu in question.gpus if gpu.free_bytes is not None])
        return ok(saw("gpus.free", gpus=rooms))
    return verdict


def _room(gpu: Gpu) -> Said:
    free, total = size(gpu.free_bytes or 0), size(gpu.memory_bytes or 0)
    return saw("gpus.room", index=str(gpu.index), free=free, total=total)


def _listed(indices: list[int] | tuple[int, ...]) -> str | Said:
    return listed(map(str, indices))


def cores(question: Question) -> Verdict | None:
    machine, ranks = question.around.machine, question.launch.ranks
    if machine.gpus or question.launch.elsewhere or machine.host.cores_usable is None:
        return None
    given = {"ranks": str(ranks), "cores": f"{machine.host.cores_usable:g}"}
    if ranks > machine.host.cores_usable:
        return warning(saw("cores.few", **given), advise("cores.use_fewer"))
    if question.around.beside:
        runs = listed(f"“{name}”" for name in question.around.beside)
        return warning(saw("cores.shared", runs=runs, cores=given["cores"]), advise("cores.wait"))
    return ok(saw("cores.enough", **given))


def port(question: Question) -> Verdict | None:
    number = question.launch.master_port
    if number is None or question.launch.elsewhere:
        return None
    if not question.around.port_taken:
        return ok(saw("port.free", port=str(number)))
    return problem(saw("port.taken", port=str(number)), advise("port.another"))


def checkpoints(question: Question) -> Verdict | None:
    """Room where the script writes, for one checkpoint."""
    disk, model = question.around.output_disk, question.around.model
    if disk is None or question.launch.elsewhere:
        return None
    given = {"free": file_size(disk.free_bytes), "path": question.around.output}
    advice = advise("checkpoints.free_some")
    if disk.free_bytes < host_checks.DISK_FULL_BYTES:
        return problem(saw("checkpoints.full", **given), advice)
    if _saves_nothing(question):
        return ok(saw("checkpoints.saves_none", **given))
    if model.parameters is None or _trains_a_part(question):
        enough = disk.free_bytes >= host_checks.DISK_FOR_A_CHECKPOINT_BYTES
        few = saw("checkpoints.few", **given, need=file_size(host_checks.DISK_FOR_A_CHECKPOINT_BYTES))
        return ok(saw("checkpoints.size_unknown", **given)) if enough else warning(few, advice)
    need = model.parameters * CHECKPOINT_BYTES
    given |= {"parameters": spelled(model.parameters), "need": file_size(need)}
    if disk.free_bytes >= need:
        return ok(saw("checkpoints.enough", **given))
    sure = disk.free_bytes < model.parameters * CHECKPOINT_LEAST_BYTES and question.launch.reader is Integration.HF
    return (problem if sure else warning)(saw("checkpoints.too_small", **given), advice)


def _saves_nothing(question: Question) -> bool:
    return value_of(question.launch.arguments, ("--save_strategy",)) == "no"


def runs_disk(question: Question) -> Verdict | None:
    """Where dsgui keeps what the run prints and logs."""
    disk = question.around.machine.host.runs_disk
    if disk is None:
        return None
    given = {"free": file_size(disk.free_bytes), "path": disk.path}
    if disk.free_bytes >= host_checks.DISK_FULL_BYTES:
        return ok(saw("disk.free", **given))
    return problem(saw("output_disk.full", **given), advise("output_disk.free_some"))
