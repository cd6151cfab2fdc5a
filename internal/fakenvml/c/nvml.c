// A fake of NVIDIA's management library. The declarations are ours: what a function takes and the layout of what it
// fills are facts of the interface that go-nvml speaks.
#include "script.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned int uint;
typedef unsigned long long ull;
typedef struct device *dev;

static struct device devices[MAX_GPUS][MAX_PARTS + 1];
static int started;

static dev handle(int gpu, int part) {
	dev d = &devices[gpu][part + 1];
	d->gpu = gpu;
	d->part = part;
	return d;
}

// Functions that return numbers, by the keys of the script.
#define ENTER(d)                  \
	int code = enter(d);          \
	if (code != OK) return code; \
	double v = 0
#define GET(out, key)                  \
	if ((code = number(d, key, &v)))   \
		return code;                   \
	*(out) = v
#define NUMBER(name, type, key) \
	int name(dev d, type *out) { \
		ENTER(d);               \
		GET(out, key);          \
		return OK;              \
	}
#define TEXT(name, key) \
	int name(dev d, char *out, uint size) { \
		int code = enter(d);               \
		return code ? code : string(d, key, out, size); \
	}
#define SAMPLED(name, key) \
	int name(dev d, uint *out, uint *period) { \
		ENTER(d);                             \
		GET(out, key);                        \
		*period = 1000000;                    \
		return OK;                            \
	}

int nvmlInit_v2(void) {
	int code = start();
	started = code == OK;
	return code;
}
int nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(int code) {
	switch (code) {
	case OK: return "Success";
	case NOT_SUPPORTED: return "Not Supported";
	case NO_PERMISSION: return "Insufficient Permissions";
	case DRIVER_NOT_LOADED: return "Driver Not Loaded";
	case 18: return "Driver/library version mismatch";
	case GPU_IS_LOST: return "GPU is lost";
	default: return "Unknown Error";
	}
}

int nvmlSystemGetDriverVersion(char *out, uint size) { return string(NULL, "driver", out, size); }
int nvmlSystemGetNVMLVersion(char *out, uint size) { return string(NULL, "nvml", out, size); }
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
	double v;
	int code = number(NULL, "cuda", &v);
	if (code == OK) *out = v;
	return code;
}

int nvmlDeviceGetCount_v2(uint *out) {
	read_again();
	if (!started) return UNINITIALIZED;
	*out = gpu_count();
	return OK;
}
int nvmlDeviceGetHandleByIndex_v2(uint index, dev *out) {
	if (index >= (uint)gpu_count()) return INVALID_ARGUMENT;
	*out = handle(index, WHOLE);
	int code = enter(*out);
	double v;
	if (code == OK && number(*out, "handle", &v) != NOT_SUPPORTED) code = v;
	return code;
}

TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
NUMBER(nvmlDeviceGetMinorNumber, uint, "minor")
NUMBER(nvmlDeviceGetBrand, int, "brand")
NUMBER(nvmlDeviceGetArchitecture, uint, "architecture")
NUMBER(nvmlDeviceGetVirtualizationMode, int, "virtualization")

struct pci {
	char legacy[16];
	uint domain, bus, device, id, subsystem;
	char bus_id[32];
};
int nvmlDeviceGetPciInfo_v3(dev d, struct pci *out) {
	int code = enter(d);
	memset(out, 0, sizeof *out);
	return code ? code : string(d, "pci", out->bus_id, sizeof out->bus_id);
}

int nvmlDeviceGetUtilizationRates(dev d, uint out[2]) {
	ENTER(d);
	GET(&out[0], "util");
	GET(&out[1], "util_memory");
	return OK;
}
SAMPLED(nvmlDeviceGetEncoderUtilization, "util_encoder")
SAMPLED(nvmlDeviceGetDecoderUtilization, "util_decoder")
SAMPLED(nvmlDeviceGetJpgUtilization, "util_jpeg")
SAMPLED(nvmlDeviceGetOfaUtilization, "util_ofa")

struct memory {
	ull total, free, used;
};
struct memory2 {
	uint version;
	ull total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(dev d, struct memory2 *out) {
	ENTER(d);
	GET(&out->total, "memory");
	GET(&out->reserved, "memory_reserved");
	GET(&out->used, "memory_used");
	out->free = out->total - out->reserved - out->used;
	return OK;
}
int nvmlDeviceGetMemoryInfo(dev d, struct memory *out) {
	struct memory2 m;
	int code = nvmlDeviceGetMemoryInfo_v2(d, &m);
	*out = (struct memory){m.total, m.free, m.used + m.reserved};
	return code;
}
int nvmlDeviceGetBAR1MemoryInfo(dev d, struct memory *out) {
	ENTER(d);
	GET(&out->total, "bar1");
	GET(&out->used, "bar1_used");
	out->free = out->total - out->used;
	return OK;
}

NUMBER(nvmlDeviceGetPowerUsage, uint, "power")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, uint, "power_limit")
NUMBER(nvmlDeviceGetPowerManagementLimit, uint, "power_limit_requested")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, uint, "power_limit_default")
int nvmlDeviceGetPowerManagementLimitConstraints(dev d, uint *least, uint *most) {
	ENTER(d);
	GET(least, "power_limit_min");
	GET(most, "power_limit_max");
	return OK;
}
NUMBER(nvmlDeviceGetTotalEnergyConsumption, ull, "energy")

// Functions with an index in the key.
#define INDEXED(name, first, type, key) \
	int name(dev d, first index, type *out) { \
		ENTER(d);                            \
		if ((code = numbered(d, key, index, 0, &v))) return code; \
		*out = v;                            \
		return OK;                           \
	}
int nvmlDeviceGetTemperature(dev d, int sensor, uint *out) {
	ENTER(d);
	if (sensor) return INVALID_ARGUMENT;
	GET(out, "temperature");
	return OK;
}
INDEXED(nvmlDeviceGetTemperatureThreshold, int, uint, "temperature_limit.%d")
INDEXED(nvmlDeviceGetClockInfo, int, uint, "clock.%d")
INDEXED(nvmlDeviceGetMaxClockInfo, int, uint, "clock_max.%d")
INDEXED(nvmlDeviceGetFanSpeed_v2, uint, uint, "fan.%d")
INDEXED(nvmlDeviceGetPcieThroughput, int, uint, "pcie_rate.%d")
INDEXED(nvmlDeviceGetNvLinkState, uint, int, "nvlink.%d.up")
NUMBER(nvmlDeviceGetNumFans, uint, "fans")
NUMBER(nvmlDeviceGetFanSpeed, uint, "fan.0")
int nvmlDeviceGetFanSpeedRPM(dev d, uint out[3]) { // version, fan, speed
	ENTER(d);
	GET(&out[2], "fan_rpm");
	return OK;
}
NUMBER(nvmlDeviceGetPerformanceState, int, "pstate")
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, ull, "reasons")
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, ull, "reasons")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, uint, "pcie_generation")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, uint, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, uint, "pcie_generation_max")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, uint, "pcie_width_max")
NUMBER(nvmlDeviceGetPcieReplayCounter, uint, "pcie_replays")
NUMBER(nvmlDeviceGetPersistenceMode, int, "persistence")
NUMBER(nvmlDeviceGetComputeMode, int, "compute_mode")

int nvmlDeviceGetEccMode(dev d, int *mode, int *pending) {
	ENTER(d);
	GET(mode, "ecc");
	GET(pending, "ecc_pending");
	return OK;
}
int nvmlDeviceGetRetiredPages(dev d, int cause, uint *count, ull *addresses) {
	ENTER(d);
	if ((code = numbered(d, "retired.%d", cause, 0, &v))) return code;
	uint room = *count;
	*count = v;
	if (room < *count) return INSUFFICIENT_SIZE;
	for (uint i = 0; i < *count; i++) addresses[i] = 0x1000 * i;
	return OK;
}
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, int, "retired_pending")
int nvmlDeviceGetRemappedRows(dev d, uint *corrected, uint *uncorrected, uint *pending, uint *failed) {
	ENTER(d);
	GET(corrected, "remapped_corrected");
	GET(uncorrected, "remapped_uncorrected");
	GET(pending, "remapped_pending");
	GET(failed, "remapped_failed");
	return OK;
}
int nvmlDeviceGetRowRemapperHistogram(dev d, uint out[5]) {
	ENTER(d);
	for (int i = 0; i < 5; i++) {
		if ((code = numbered(d, "remap_banks.%d", i, 0, &v))) return code;
		out[i] = v;
	}
	return OK;
}
int nvmlDeviceGetTotalEccErrors(dev d, int kind, int since, ull *out) {
	ENTER(d);
	if ((code = numbered(d, "ecc_total.%d.%d", kind, since, &v))) return code;
	*out = v;
	return OK;
}
int nvmlDeviceGetMemoryErrorCounter(dev d, int kind, int since, int place, ull *out) {
	ENTER(d);
	if ((code = numbered(d, kind ? since ? "ecc.1.1.%d" : "ecc.1.0.%d" : since ? "ecc.0.1.%d" : "ecc.0.0.%d", place, 0, &v)))
		return code;
	*out = v;
	return OK;
}
int nvmlDeviceGetNvLinkErrorCounter(dev d, uint link, int counter, ull *out) {
	ENTER(d);
	if ((code = numbered(d, "nvlink.%d.error.%d", link, counter, &v)) &&
		(code = numbered(d, "nvlink.*.error.%d", counter, 0, &v)))
		return code;
	*out = v;
	return OK;
}

struct value {
	uint id, scope;
	long long time, latency;
	int type, code;
	union {
		ull u;
		double d;
		uint i;
	} v;
};
int nvmlDeviceGetFieldValues(dev d, int count, struct value *out) {
	ENTER(d);
	for (int i = 0; i < count; i++) {
		out[i].code = numbered(d, "field.%d.%d", out[i].id, out[i].scope, &v);
		if (out[i].code == NOT_SUPPORTED) out[i].code = numbered(d, "field.%d", out[i].id, 0, &v);
		out[i].type = 3;
		out[i].v.u = v;
	}
	return OK;
}

int nvmlDeviceGetMigMode(dev d, uint *mode, uint *pending) {
	ENTER(d);
	GET(mode, "mig_mode");
	GET(pending, "mig_mode_pending");
	return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(dev d, uint *out) {
	*out = 7;
	return enter(d);
}
int nvmlDeviceGetMigDeviceHandleByIndex(dev d, uint index, dev *out) {
	ENTER(d);
	*out = handle(d->gpu, index);
	if (number(*out, "gi", &v) || v < 0) return NOT_FOUND;
	return OK;
}
NUMBER(nvmlDeviceGetGpuInstanceId, uint, "gi")
NUMBER(nvmlDeviceGetComputeInstanceId, uint, "ci")
