// Package attribution says which run, rank and job a process belongs to, from what the kernel shows about it under /proc:
// a few environment variables, named in an allow-list, and its control group.
//
// What bites: a process's environment can only be read by its owner or root, so without rights there is simply no answer.
// The environment is the one that the process was started with; what a program sets later with setenv is not in it, and
// programs that change their title (Ray, vLLM) often overwrite it. Then the run is looked for at the parents, the rank is
// not: it would be the parent's.
package attribution
