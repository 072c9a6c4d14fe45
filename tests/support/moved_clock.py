"""A clock that a test can move: a shim in C, preloaded, that adds what a file says to the wall clock and leaves the
monotonic one alone, as setting a machine's clock does."""

import os
import shutil
import subprocess
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    const char *path = getenv("DSGUI_TEST_CLOCK");
    char text[32] = {0};
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    return got > 0 ? strtol(text, 0, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return result;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
"""


class MovedClock:
    """`environment` makes programs that are started with it, and all that those start, read this clock."""

    def __init__(self, folder: Path) -> None:
        source, library = folder / "clock.c", folder / "clock.so"
        source.write_text(_SOURCE, encoding="ascii")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self._offset = folder / "clock offset"
        self.move(0)
        self.environment = {"LD_PRELOAD": str(library), "DSGUI_TEST_CLOCK": str(self._offset)}

    def move(self, seconds: int) -> None:
        """To this distance from the real time."""
        new = self._offset.with_suffix(".new")
        new.write_text(str(seconds), encoding="ascii")
        os.replace(new, self._offset)


def compiler() -> str | None:
    """None where no C compiler is installed."""
    return shutil.which("cc")
