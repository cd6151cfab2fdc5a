// Package exposition reads the body that an inference engine or its router answers on /metrics: Prometheus text or
// OpenMetrics text. It is the one place that knows prometheus' textparse, whose API moves between releases.
//
// What it adds to textparse: a bad line costs that line and is counted, where textparse gives up the body; samples
// come with the TYPE of their family, also where client_python writes TYPE lines with a colon above samples with an
// underscore; and every size is limited before textparse sees the bytes.
//
// Bodies of one server are alike from scrape to scrape. With [Reader.Follow] a line that begins with a series that stood
// there before is not lexed again; only its number is read. The result is the same, which FuzzFollow holds.
//
// What bites: nearly all slices that a [Reader] hands out point into the body or into buffers of the reader, so they
// are good until the next call of Next. A quoted string may run over line ends for textparse, and blank lines recurse in
// it, so it is given nothing but runs of lines that were looked at first. textparse stops at its first error and cannot
// be resumed: after a bad line a new parser starts at the next one.
package exposition
