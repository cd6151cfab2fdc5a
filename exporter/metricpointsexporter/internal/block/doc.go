// Package block turns the payloads of one log range into ClickHouse Native blocks of metric_points, sorted by the
// table's key and compressed.
//
// Sorting here costs about 20 ns a row and saves the server four times that; it also makes the block a function of the
// range alone, so a range that is encoded anew after a restart gives the same rows under the same token. A range whose
// rows lie in more months than one INSERT may touch becomes several blocks.
//
// Months and Sample choose the rows by which a block is looked for where a server may not have what it answered for.
//
// What bites: a Builder is reused; the pieces it hands out are valid during the call only.
package block
