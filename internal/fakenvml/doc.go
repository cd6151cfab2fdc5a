// Package fakenvml builds a fake of NVIDIA's management library, libnvidia-ml.so.1, which replays a script: the GPUs of
// a machine, with values that stand or move, and faults. The real helper program and the real go-nvml run on it, in
// tests and in demonstrations, on machines without a GPU.
//
// The script is the file that the environment variable PITWALL_FAKE_NVML names, read anew when it changes: lines of
// key=value, later ones before earlier ones, # for comments. Keys without a GPU are the machine's: driver, nvml, cuda,
// count, init (what nvmlInit returns), init_hang, latency_us (of every call), event.N. The others are of a GPU,
// "gpu.3.power", or of all that do not say it themselves, "gpu.*.power"; of a MIG device "gpu.3.mig.0.memory",
// "gpu.*.mig.0.memory" or "gpu.*.mig.*.memory". A function of which the script says nothing is NOT_SUPPORTED; where it
// says fail(4) that is returned. The keys are in c/nvml.c and c/lists.c, beside the functions.
//
// A number may be sine(mean,amplitude,seconds), rate(start,per second), wrap(start,per second,modulus) or
// at(second,before,from then on), all by the time since the library was loaded. hang, lost and init_hang hold from the
// second that they say on. In strings %g and %m are the GPU's and the MIG device's number in two digits and \xff is a
// byte; a string that fills the caller's buffer has no end.
//
// Record writes the script of a real machine: see the command record in this folder.
//
// A function that a driver lacks is left out when the library is built: see Build.
package fakenvml
