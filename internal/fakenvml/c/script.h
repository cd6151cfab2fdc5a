// The script that the fake library replays: lines "key=value", read anew when the file changes. See doc.go.
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stddef.h>

// What the functions return, numbered as NVML does.
enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	TIMEOUT = 10,
	GPU_IS_LOST = 15,
};

// A handle; part is the MIG device's index or WHOLE.
enum { WHOLE = -1, MAX_GPUS = 64, MAX_PARTS = 8 };
struct device {
	int gpu, part;
};

double now_s(void);       // since the library was loaded
void pass(const char *us); // sleeps for the microseconds that a key says
void read_again(void);    // if the file changed
int start(void);          // the driver starts; what nvmlInit returns

// number looks for a value: "gpu.3.key", then "gpu.*.key". It returns NOT_SUPPORTED when there is none.
int number(const struct device *d, const char *key, double *out);
// numbered is number with %d of the key replaced, twice at most.
int numbered(const struct device *d, const char *format, int a, int b, double *out);
// string copies a value, with its end only when it fits.
int string(const struct device *d, const char *key, char *out, size_t size);
// line returns a value as it is, NULL when there is none.
const char *line(const struct device *d, const char *key);
// enter begins a call on a device: it takes its time, hangs or fails as the script says.
int enter(const struct device *d);
int gpu_count(void);

#endif
