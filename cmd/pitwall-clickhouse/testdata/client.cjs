// Runs the official JavaScript client against the endpoint in CLICKHOUSE_URL and
// prints one line "ok NAME" or "not ok NAME: REASON" per check. COMPRESSION=1 turns
// both directions' gzip on.
const assert = require('node:assert/strict')
const { createClient } = require('@clickhouse/client')

const on = process.env.COMPRESSION === '1'
const db = on ? 'js_gzip' : 'js_plain'
const options = { url: process.env.CLICKHOUSE_URL, compression: { request: on, response: on }, request_timeout: 30_000 }
const admin = createClient(options)
const client = createClient({ ...options, database: db })
const rows = async (query, more = {}) => (await client.query({ query, format: 'JSONEachRow', ...more })).json()

const checks = {
  ping: async () => assert.equal((await client.ping()).success, true),
  'create database': async () => { await admin.command({ query: `CREATE DATABASE ${db}` }) },
  'create table': async () => {
    const { query_id } = await client.command({
      query: `CREATE TABLE t (id UInt32, name String, at DateTime64(3, 'UTC'), tags Map(String, String), list Array(UInt8), note Nullable(String))
              ENGINE = MergeTree ORDER BY id`,
    })
    assert.ok(query_id.length > 0)
  },
  'insert json objects': async () => {
    const result = await client.insert({
      table: 't', format: 'JSONEachRow',
      values: [1, 2, 3].map((id) => ({ id, name: `n'${id}\n`, at: '2026-11-20 12:00:00.123', tags: { k: `v${id}` }, list: [id], note: null })),
    })
    assert.equal(result.executed, true)
    assert.equal(result.summary.written_rows, '3')
  },
  'select json': async () => {
    const got = await rows('SELECT * FROM t ORDER BY id LIMIT 1')
    assert.deepEqual(got, [{ id: 1, name: "n'1\n", at: '2026-11-20 12:00:00.123', tags: { k: 'v1' }, list: [1], note: null }])
  },
  'select JSON with meta': async () => {
    const got = await (await client.query({ query: 'SELECT id FROM t ORDER BY id', format: 'JSON' })).json()
    assert.equal(got.rows, 3)
    assert.deepEqual(got.meta, [{ name: 'id', type: 'UInt32' }])
  },
  'insert columns only': async () => {
    await client.insert({ table: 't', columns: ['id', 'name'], format: 'JSONEachRow', values: [{ id: 4, name: 'four' }] })
    assert.deepEqual(await rows('SELECT name FROM t WHERE id = 4'), [{ name: 'four' }])
  },
  'insert compact rows': async () => {
    await client.insert({ table: 't (id, name)', format: 'JSONCompactEachRow', values: [[5, 'five'], [6, 'six']] })
    assert.deepEqual(await rows('SELECT count() AS n FROM t'), [{ n: 6 }])
  },
  'insert stream of csv': async () => {
    const { Readable } = require('node:stream')
    const lines = Array.from({ length: 5000 }, (_, i) => `${100 + i},row ${i}\n`)
    await client.insert({ table: 't (id, name)', format: 'CSV', values: Readable.from(lines, { objectMode: false }) })
    assert.deepEqual(await rows("SELECT count() AS n FROM t WHERE name LIKE 'row %'"), [{ n: 5000 }])
  },
  'insert nothing': async () => {
    const result = await client.insert({ table: 't', format: 'JSONEachRow', values: [] })
    assert.equal(result.executed, false)
  },
  'query parameters': async () => {
    const got = await rows('SELECT {n:UInt8} + 1 AS n, {s:String} AS s, {a:Array(String)} AS a, {d:DateTime64(3)} AS d', {
      query_params: { n: 6, s: "it's\ta \\ test\n", a: ["x'", 'y'], d: new Date(Date.UTC(2026, 10, 20, 1, 2, 3, 4)) },
    })
    assert.deepEqual(got, [{ n: 7, s: "it's\ta \\ test\n", a: ["x'", 'y'], d: '2026-11-20 01:02:03.004' }])
  },
  settings: async () => {
    const got = await rows("SELECT toUInt32(getSetting('max_block_size')) AS n", { clickhouse_settings: { max_block_size: '77' } })
    assert.deepEqual(got, [{ n: 77 }])
  },
  'query id': async () => {
    const result = await client.query({ query: 'SELECT 1', query_id: 'js-query' })
    assert.equal(result.query_id, 'js-query')
    await result.text()
  },
  'stream of rows': async () => {
    let n = 0, sum = 0
    const result = await client.query({ query: 'SELECT number FROM numbers(200000)', format: 'JSONEachRow' })
    for await (const batch of result.stream()) for (const row of batch) { n++; sum += Number(row.json().number) }
    assert.equal(n, 200_000)
    assert.equal(sum, (200_000 * 199_999) / 2)
  },
  'csv text': async () => {
    const result = await client.query({ query: 'SELECT id, name FROM t WHERE id IN (4, 5) ORDER BY id', format: 'CSVWithNames' })
    assert.equal(await result.text(), '"id","name"\n4,"four"\n5,"five"\n')
  },
  'typed error': async () => {
    await assert.rejects(rows('SELECT * FROM nowhere'), (e) => e.code === '60' && e.type === 'UNKNOWN_TABLE')
  },
  'syntax error': async () => {
    await assert.rejects(client.command({ query: 'CREATE TABEL x' }), (e) => e.code === '62' && e.type === 'SYNTAX_ERROR')
  },
  'error in the middle': async () => {
    const result = await client.query({
      query: "SELECT throwIf(number = 500000, 'late') FROM numbers(1000000)", format: 'JSONEachRow',
      clickhouse_settings: { max_block_size: '10000', max_threads: 1 },
    })
    // With gzip the client sees the cut connection before the text in front of it.
    await assert.rejects(async () => { for await (const _ of result.stream()); }, on ? Error : (e) => e.code === '395')
  },
  session: async () => {
    const session = createClient({ ...options, database: db, session_id: `js-${on}` })
    await session.command({ query: 'CREATE TEMPORARY TABLE mine (a UInt8)' })
    await session.insert({ table: 'mine', values: [{ a: 9 }], format: 'JSONEachRow' })
    assert.deepEqual(await (await session.query({ query: 'SELECT a FROM mine', format: 'JSONEachRow' })).json(), [{ a: 9 }])
    await session.close()
  },
  abort: async () => {
    const controller = new AbortController()
    const query = "SELECT count(), 'js-abort' FROM numbers(1000000000000) WHERE rand() = 1"
    const running = rows(query, { abort_signal: controller.signal })
    const count = async () => (await rows("SELECT count() AS n FROM system.processes WHERE query LIKE '%js-abort%' AND query NOT LIKE '%processes%'"))[0].n
    const until = async (n) => { const end = Date.now() + 10_000; while ((await count()) !== n) assert.ok(Date.now() < end, `still not ${n}`) }
    await until(1)
    controller.abort()
    await assert.rejects(running)
    await until(0)
  },
  exec: async () => {
    const { stream } = await client.exec({ query: 'SELECT 42 FORMAT TabSeparated' })
    let text = ''
    for await (const chunk of stream) text += chunk
    assert.equal(text, '42\n')
  },
}

;(async () => {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check()
      console.log(`ok ${name}`)
    } catch (e) {
      console.log(`not ok ${name}: ${String(e && e.message).replaceAll('\n', ' ')}`)
    }
  }
  await client.close()
  await admin.close()
})()
