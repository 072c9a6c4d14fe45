"""The control groups around us, read from made-up /proc and /sys trees."""

import pytest

from dsgui.core.machine.cgroups import cpu_limit, folders, memory_limit
from dsgui.shell.machine.machine_reader import read_host
from tests.support.cases import each_case

GIB = 1 << 30
V2 = "29 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
V1_NONE = "9223372036854771712\n"


def limits(files, cgroup, mountinfo):
    return memory_limit(cgroup, mountinfo, files.get), cpu_limit(cgroup, mountinfo, files.get)


def test_version_2_reads_the_smallest_along_the_path():
    files = {
        "/sys/fs/cgroup/user.slice/memory.max": f"{8 * GIB}\n",
        "/sys/fs/cgroup/user.slice/job.scope/memory.max": f"{32 * GIB}\n",
        "/sys/fs/cgroup/user.slice/job.scope/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
    }
    assert limits(files, "0::/user.slice/job.scope\n", V2) == (8 * GIB, 1.5)


def test_max_is_no_limit():
    files = {"/sys/fs/cgroup/job/memory.max": "max\n", "/sys/fs/cgroup/job/cpu.max": "max 100000\n"}
    assert limits(files, "0::/job\n", V2) == (None, None)


def test_version_1_has_a_hierarchy_a_controller():
    files = {
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": V1_NONE,
        "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes": V1_NONE,
        "/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes": f"{16 * GIB}\n",
        "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "400000\n",
        "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    cgroup = "9:memory:/slurm/job_7\n4:cpu,cpuacct:/job\n0::/\n"
    assert limits(files, cgroup, V1) == (16 * GIB, 4.0)


def test_a_container_that_reads_the_hosts_path_finds_its_own_files():
    mountinfo = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    files = {
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{4 * GIB}",
        "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{2 * GIB}",
    }
    assert memory_limit("9:memory:/docker/abc\n", mountinfo, files.get) == 4 * GIB
    assert memory_limit("9:memory:/docker/abc/job\n", mountinfo, files.get) == 2 * GIB


def test_a_path_above_our_namespace_stays_at_the_mount():
    assert folders("memory", "0::/../../other\n", V2) == ["/sys/fs/cgroup"]


def test_a_mount_point_with_a_space():
    mountinfo = "29 22 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n"
    assert folders("memory", "0::/a\n", mountinfo) == ["/my groups/a", "/my groups"]


@each_case("cgroup", ["", "0::/x\n", "garbage", "9:memory\n"])
@each_case("mountinfo", ["", "garbage - \n", "1 2 3\n", "1 2 3 / /x - cgroup\n"])
def test_what_makes_no_sense_is_no_limit(cgroup, mountinfo):
    assert limits({}, cgroup, mountinfo) == (None, None)


@pytest.mark.parametrize("text", ["", "many", "-1", "max max", "100000 0", "100000"])
def test_a_quota_that_makes_no_sense_is_none(text):
    assert cpu_limit("0::/\n", V2, {"/sys/fs/cgroup/cpu.max": text}.get) is None


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_readings_of_a_made_up_machine(tmp_path):
    tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/job\n",
            "proc/self/mountinfo": V2,
            "proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\n",
            "proc/meminfo": "MemTotal:  8 kB\nMemAvailable:  3 kB\nSwapTotal:  2 kB\nSwapFree:  1 kB\n",
            "proc/cpuinfo": "processor\t: 0\nmodel name\t: Imaginary CPU\n",
            "sys/fs/cgroup/job/memory.max": str(3 * GIB),
            "sys/fs/cgroup/job/cpu.max": "50000 100000",
            "sys/class/infiniband/mlx5_0/node_guid": "0",
        },
    )
    host = read_host(tmp_path / "runs", {"HOME": str(tmp_path)}, tmp_path)
    assert (host.cpu_model, host.memory_limit_bytes, host.cores_usable) == ("Imaginary CPU", 3 * GIB, 0.5)
    assert (host.memory_bytes, host.memory_available_bytes, host.swap_bytes) == (8192, 3072, 2048)
    assert (host.infiniband, host.locks_freely) == (("mlx5_0",), False)


def test_a_machine_without_proc_is_read_all_the_same(tmp_path):
    host = read_host(tmp_path, {"HOME": str(tmp_path)}, tmp_path)
    assert (host.cpu_model, host.memory_limit_bytes, host.infiniband) == ("", None, ())
    assert (host.memory_bytes, host.swap_bytes) == (None, None)
    assert host.runs_disk
    assert host.runs_disk.free_bytes <= host.runs_disk.total_bytes
