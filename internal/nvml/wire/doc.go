// Package wire is how the collector and the helper program pitwall-nvml talk over a pipe: frames of a length (4 bytes,
// little endian), a kind (1 byte) and a payload of varints, strings and floats.
//
// The helper first says Hello. The collector sends Ask; the helper answers with Header at once and then with Answer for
// each GPU that Header lists as asked, as they finish, in any order, or never. Event comes at any time.
//
// Both sides are built together: what differs in Version does not talk. Whatever is read is bounded by MaxFrame, and by
// the frame's own length before anything is allocated.
package wire
