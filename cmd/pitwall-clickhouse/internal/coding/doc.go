// Package coding holds the two compressions of ClickHouse's HTTP interface:
// HTTP's own (Content-Encoding, Accept-Encoding) and the checksummed frames that
// compress=1 and decompress=1 ask for. Both stream, and neither lets a small
// input decide how much memory is used.
package coding
