// Lists, samples and events of the fake library.
#define _GNU_SOURCE
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned int uint;
typedef unsigned long long ull;
typedef struct device *dev;

static const char *nth(dev d, const char *format, int n) {
	char key[64];
	snprintf(key, sizeof key, format, n);
	return line(d, key);
}

static ull wall_us(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

// Processes: "process.N=kind pid memory gi ci", kind c, g or m, memory and instances -1 where the driver tells none.
struct process1 {
	uint pid;
	ull memory;
};
struct process {
	uint pid;
	ull memory;
	uint gi, ci;
};
static int processes(dev d, char kind, uint *count, void *out, size_t each) {
	int code = enter(d);
	if (code) return code;
	char all[] = "processes.?"; // what the call returns, when it fails
	all[sizeof all - 2] = kind;
	double v;
	if ((code = number(d, all, &v)) && line(d, all)) return code;
	uint found = 0, room = *count;
	for (int n = 0;; n++) {
		const char *v = nth(d, "process.%d", n);
		char k;
		uint pid;
		long long memory;
		int gi, ci;
		if (!v) break;
		if (sscanf(v, "%c %u %lld %d %d", &k, &pid, &memory, &gi, &ci) != 5 || k != kind) continue;
		if (found < room) {
			struct process p = {pid, memory, gi, ci};
			memcpy((char *)out + found * each, &p, each);
		}
		found++;
	}
	*count = found;
	return found > room ? INSUFFICIENT_SIZE : OK;
}
#define PROCESSES(name, kind) \
	int name(dev d, uint *count, struct process1 *out) { return processes(d, kind, count, out, sizeof *out); } \
	int name##_v2(dev d, uint *count, struct process *out) { return processes(d, kind, count, out, sizeof *out); } \
	int name##_v3(dev d, uint *count, struct process *out) { return processes(d, kind, count, out, sizeof *out); }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, 'c')
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, 'g')
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, 'm')

struct used {
	uint pid;
	ull time;
	uint sm, memory, encoder, decoder;
};
int nvmlDeviceGetProcessUtilization(dev d, struct used *out, uint *count, ull last) {
	int code = enter(d);
	if (code) return code;
	(void)last;
	uint found = 0, room = out ? *count : 0;
	for (const char *v; (v = nth(d, "process_util.%d", found)); found++) {
		struct used u = {.time = wall_us()};
		if (sscanf(v, "%u %u %u %u %u", &u.pid, &u.sm, &u.memory, &u.encoder, &u.decoder) != 5) break;
		if (found < room) out[found] = u;
	}
	*count = found;
	if (!found) return line(d, "process_util") ? NOT_FOUND : NOT_SUPPORTED;
	return found > room ? INSUFFICIENT_SIZE : OK;
}

// GPM samples: what is told between two is the script's value at that moment.
struct sample {
	struct device of;
	int taken;
};
struct metrics {
	uint version, count;
	struct sample *first, *second;
	struct {
		uint id;
		int code;
		double value;
		const char *names[3];
	} list[333];
};
int nvmlGpmQueryDeviceSupport(dev d, uint out[2]) {
	int code = enter(d);
	if (code) return code;
	double v = 0;
	out[1] = number(d, "gpm", &v) == OK && v > 0;
	return OK;
}
int nvmlGpmSampleAlloc(struct sample **out) {
	*out = calloc(1, sizeof **out);
	return OK;
}
int nvmlGpmSampleFree(struct sample *s) {
	free(s);
	return OK;
}
int nvmlGpmSampleGet(dev d, struct sample *s) {
	int code = enter(d);
	double v;
	if (!code && (code = number(d, "gpm_sample", &v)) == NOT_SUPPORTED) code = OK; // a script says only of failures
	*s = (struct sample){*d, code == OK};
	return code;
}
int nvmlGpmMigSampleGet(dev d, uint gi, struct sample *s) {
	int code = enter(d);
	if (code) return code;
	for (int part = 0; part < MAX_PARTS; part++) {
		struct device m = {d->gpu, part};
		double v;
		if (number(&m, "gi", &v) == OK && v == gi) {
			*s = (struct sample){m, 1};
			return OK;
		}
	}
	return INVALID_ARGUMENT;
}
int nvmlGpmMetricsGet(struct metrics *m) {
	if (!m->first->taken || !m->second->taken) return INVALID_ARGUMENT;
	for (uint i = 0; i < m->count; i++)
		m->list[i].code = numbered(&m->second->of, "gpm.%d", m->list[i].id, 0, &m->list[i].value);
	return OK;
}

// Virtual GPUs: "vgpu.N=instance type framebuffer uuid", "vgpu_util.N=instance sm memory encoder decoder".
static const char *vgpu(uint instance, int *gpu) {
	for (*gpu = 0; *gpu < gpu_count(); ++*gpu) {
		struct device d = {*gpu, WHOLE};
		const char *v;
		for (int n = 0; (v = nth(&d, "vgpu.%d", n)); n++)
			if (strtoul(v, NULL, 10) == instance) return v;
	}
	return NULL;
}
int nvmlDeviceGetActiveVgpus(dev d, uint *count, uint *out) {
	int code = enter(d);
	if (code) return code;
	uint found = 0, room = *count;
	for (const char *v; (v = nth(d, "vgpu.%d", found)); found++)
		if (found < room) out[found] = strtoul(v, NULL, 10);
	*count = found;
	if (!found) return NOT_SUPPORTED;
	return found > room ? INSUFFICIENT_SIZE : OK;
}
struct vgpu_used {
	uint instance;
	ull time;
	ull used[4];
};
int nvmlDeviceGetVgpuUtilization(dev d, ull last, int *type, uint *count, struct vgpu_used *out) {
	int code = enter(d);
	if (code) return code;
	(void)last;
	*type = 3;
	uint found = 0, room = *count;
	for (const char *v; (v = nth(d, "vgpu_util.%d", found)); found++) {
		struct vgpu_used u = {.time = wall_us()};
		sscanf(v, "%u %llu %llu %llu %llu", &u.instance, &u.used[0], &u.used[1], &u.used[2], &u.used[3]);
		if (found < room) out[found] = u;
	}
	*count = found;
	return found > room ? INSUFFICIENT_SIZE : OK;
}
int nvmlVgpuInstanceGetUUID(uint instance, char *out, uint size) {
	int gpu;
	const char *v = vgpu(instance, &gpu);
	if (!v) return NOT_FOUND;
	snprintf(out, size, "%s", strrchr(v, ' ') + 1);
	return OK;
}
int nvmlVgpuInstanceGetType(uint instance, uint *out) {
	int gpu;
	const char *v = vgpu(instance, &gpu);
	return v && sscanf(v, "%*u %u", out) == 1 ? OK : NOT_FOUND;
}
int nvmlVgpuInstanceGetFbUsage(uint instance, ull *out) {
	int gpu;
	const char *v = vgpu(instance, &gpu);
	return v && sscanf(v, "%*u %*u %llu", out) == 1 ? OK : NOT_FOUND;
}
int nvmlVgpuTypeGetName(uint type, char *out, uint *size) {
	*size = snprintf(out, *size, "NVIDIA fake-%u", type);
	return OK;
}
int nvmlVgpuTypeGetFramebufferSize(uint type, ull *out) {
	*out = (ull)type << 30;
	return OK;
}

// Events: "event.N=seconds gpu type data gi ci", told once each and in order, N from 0 on without gaps, and not before the
// GPU is registered.
struct event {
	dev device;
	ull type, data;
	uint gi, ci;
};
static struct device registered[MAX_GPUS], *where[MAX_GPUS];
static ull wanted[MAX_GPUS];
static int told;

int nvmlEventSetCreate(void **out) {
	*out = &told;
	return OK;
}
int nvmlEventSetFree(void *set) {
	(void)set;
	return OK;
}
int nvmlDeviceGetSupportedEventTypes(dev d, ull *out) {
	double v;
	int code = enter(d);
	if (code || (code = number(d, "events", &v))) return code;
	*out = v;
	return OK;
}
int nvmlDeviceRegisterEvents(dev d, ull types, void *set) {
	(void)set;
	registered[d->gpu] = *d;
	wanted[d->gpu] = types;
	where[d->gpu] = d;
	return OK;
}
int nvmlEventSetWait_v2(void *set, struct event *out, uint ms) {
	(void)set;
	for (double until = now_s() + ms / 1e3; now_s() < until; usleep(20000)) {
		read_again();
		const char *v = nth(NULL, "event.%d", told);
		double from;
		int gpu, gi, ci;
		ull type, data;
		if (!v || sscanf(v, "%lf %d %llu %llu %d %d", &from, &gpu, &type, &data, &gi, &ci) != 6 || now_s() < from) continue;
		if (gpu >= MAX_GPUS || (gpu >= 0 && !where[gpu])) continue;
		told++;
		if (gpu >= 0 && !(type & wanted[gpu])) continue;
		*out = (struct event){gpu < 0 ? NULL : where[gpu], type, data, gi, ci};
		return OK;
	}
	return TIMEOUT;
}
