// Package xid says what the driver's error numbers mean and what to do about them. The facts are from NVIDIA's catalogue of
// Xid errors (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, as of 2026) and, for numbers that only
// GPUs before Ampere report, its older table; the words are ours.
//
// What bites: a number names a symptom. The same one can come from a program, from the driver and from hardware, so severity
// and action are those for the first time it is seen; the same Xid again and again on one GPU is hardware.
package xid
