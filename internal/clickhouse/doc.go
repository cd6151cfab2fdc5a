// Package clickhouse is the writing side's view of a ClickHouse server: an HTTP client that sends statements and
// finished blocks, the classes its errors fall into, the numbered migrations that make the tables, the check
// that a table still keeps the row contract, and whether it has a row. Reading for people (live page, dashboards) is done elsewhere.
//
// What bites:
//   - ClickHouse can answer 200 and put the exception into the body, and a proxy can answer 200 without any
//     ClickHouse behind it. Both are errors here; believing a bare 200 would mark rows as stored that are not.
//   - Error 252 is two errors: "too many parts" passes, "too many partitions in one INSERT" never does
//     ([ErrTooManyPartitions]).
//   - An unknown error code is retryable on purpose: a guess must not throw data away.
//   - Migrations are not transactions. Each statement is idempotent on its own, so a half-applied one is
//     finished by the next start, and two collectors may run the same one at once.
package clickhouse
