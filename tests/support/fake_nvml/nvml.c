/* A libnvidia-ml.so.1 without a driver, for the tests: what pynvml calls, with the signatures of nvml.h.
 *
 * The file that FAKE_NVML names is read at every call:
 *   cards N                      how many there are
 *   generation N                 another number than at the last init: everything is NVML_ERROR_UNINITIALIZED until then
 *   error FUNCTION CARD CODE     this answer; CARD -1 is every card, FUNCTION * is every function
 *   hang FUNCTION CARD           no answer while this line stands
 *   process CARD PID BYTES       a process on a card
 * What card i says: see tests/support/fake_driver.py, `serves`. FAKE_NVML_LOG gets a line "FUNCTION THREAD" for each call.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9 };
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Rates;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } Process;
typedef struct Device { int index; } *Handle;

static struct Device devices[64];
static int started = -1; /* the generation of the last init */

static int number(const char *name, int otherwise) {
    FILE *file = fopen(getenv("FAKE_NVML"), "r");
    char line[256], key[64];
    int value, found = otherwise;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %d", key, &value) == 2 && !strcmp(key, name)) found = value;
    if (file) fclose(file);
    return found;
}

/* The code of the first line `word FUNCTION CARD [CODE]` that means this call; 0 without one. */
static int told(const char *word, const char *function, int card) {
    FILE *file = fopen(getenv("FAKE_NVML"), "r");
    char line[256], key[64], which[96];
    int of, code, found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        code = 1;
        if (sscanf(line, "%63s %95s %d %d", key, which, &of, &code) < 3 || strcmp(key, word)) continue;
        if ((of == -1 || of == card) && (!strcmp(which, "*") || !strcmp(which, function))) found = code;
    }
    if (file) fclose(file);
    return found;
}

static void record(const char *function) {
    const char *path = getenv("FAKE_NVML_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s %ld\n", function, (long)syscall(SYS_gettid));
    fclose(file);
}

static int called(const char *function, int card) {
    record(function);
    while (told("hang", function, card)) usleep(10000);
    int code = told("error", function, card);
    if (code) return code;
    return started == number("generation", 0) || !strcmp(function, "nvmlInitWithFlags") ? SUCCESS : UNINITIALIZED;
}

#define ASKED(card) do { int code = called(__func__, card); if (code) return code; } while (0)
#define OF(device) ASKED((device)->index)

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    ASKED(-1);
    if (!number("cards", 0)) return DRIVER_NOT_LOADED;
    started = number("generation", 0);
    return SUCCESS;
}
int nvmlShutdown(void) { ASKED(-1); started = -1; return SUCCESS; }
const char *nvmlErrorString(int code) { static char text[32]; snprintf(text, sizeof text, "fake error %d", code); return text; }

static int handle(int index, Handle *device) {
    if (index < 0 || index >= number("cards", 0)) return NOT_FOUND;
    devices[index].index = index;
    *device = &devices[index];
    return SUCCESS;
}
int nvmlDeviceGetCount_v2(unsigned *count) { ASKED(-1); *count = number("cards", 0); return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle *device) { ASKED((int)index); return handle(index, device); }
int nvmlDeviceGetHandleByUUID(const char *uuid, Handle *device) {
    int index = atoi(uuid + strlen("GPU-"));
    ASKED(index);
    return handle(index, device);
}
int nvmlDeviceGetUUID(Handle device, char *text, unsigned length) { OF(device); snprintf(text, length, "GPU-%d", device->index); return SUCCESS; }
int nvmlDeviceGetName(Handle device, char *text, unsigned length) { OF(device); snprintf(text, length, "NVIDIA Fake %d", device->index); return SUCCESS; }
int nvmlDeviceGetMemoryInfo(Handle device, Memory *memory) {
    OF(device);
    memory->total = 141ULL << 30;
    memory->used = ((device->index + 1ULL) << 30) + device->index;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(Handle device, Rates *rates) { OF(device); rates->gpu = 10 * device->index; rates->memory = 1; return SUCCESS; }
int nvmlDeviceGetPowerUsage(Handle device, unsigned *mw) { OF(device); *mw = 100500 + 1000 * device->index; return SUCCESS; }
int nvmlDeviceGetEnforcedPowerLimit(Handle device, unsigned *mw) { OF(device); *mw = 700000 - 1000 * device->index; return SUCCESS; }
int nvmlDeviceGetTemperature(Handle device, int sensor, unsigned *celsius) {
    OF(device);
    if (sensor != 0) return INVALID_ARGUMENT;
    *celsius = 30 + device->index;
    return SUCCESS;
}
int nvmlDeviceGetClockInfo(Handle device, int which, unsigned *mhz) { OF(device); *mhz = 1000 * which + device->index; return SUCCESS; }
int nvmlDeviceGetCurrentClocksEventReasons(Handle device, unsigned long long *mask) { OF(device); *mask = 1ULL << device->index; return SUCCESS; }
int nvmlDeviceGetPcieThroughput(Handle device, int counter, unsigned *kb) { /* 0 is sent, 1 received */
    OF(device);
    usleep(20000);
    *kb = (counter ? 200 : 100) + device->index;
    return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Handle device, unsigned *count, Process *processes) {
    OF(device);
    FILE *file = fopen(getenv("FAKE_NVML"), "r");
    char line[256];
    unsigned found = 0, pid;
    unsigned long long used;
    int card;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "process %d %u %llu", &card, &pid, &used) == 3 && card == device->index) {
            if (processes && found < *count) processes[found] = (Process){pid, used, -1, -1};
            found++;
        }
    if (file) fclose(file);
    int fits = processes ? found <= *count : !found;
    *count = found;
    return fits ? SUCCESS : INSUFFICIENT_SIZE;
}
int nvmlDeviceGetCudaComputeCapability(Handle device, int *major, int *minor) { OF(device); *major = 9; *minor = 0; return SUCCESS; }
int nvmlSystemGetDriverVersion(char *text, unsigned length) { ASKED(-1); snprintf(text, length, "570.00"); return SUCCESS; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { ASKED(-1); *version = 12080; return SUCCESS; }
