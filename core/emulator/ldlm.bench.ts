/**
 * Cost of locks in the emulator, and of parsing their counters.
 *
 * `ldlm.touch`: RPCs a second that find their lock among those of 64 clients with 100 objects each, compared with a Map lookup
 * of the same names, the minimum cost of any lock table. `ldlm.parse`: one answer of a server with 64 targets.
 */
import type { Bench } from '../../bench/measure.ts'
import { parseLdlm } from '../lustre/ldlm-counters.ts'
import { formatStatsTable } from '../lustre/stats-table.ts'
import { profileOf } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { ExtentLocks } from './ldlm-extents.ts'

const RPCS = 2_000_000
const CLIENTS = Array.from({ length: 64 }, (_, i) => `10.4.0.${i + 1}@tcp`)
const OBJECTS = CLIENTS.flatMap((client) =>
  Array.from({ length: 100 }, (_, i) => ({ client, object: `${client}/job/${i}` })),
)
const TEXT = profileOf(parseVersion('2.17.57')).text
type Clock = () => number

/** Calls a second, touching each object in turn. */
function timed(now: Clock, one: (at: (typeof OBJECTS)[number]) => void): number {
  for (const o of OBJECTS) one(o)
  const began = now()
  for (let i = 0; i < RPCS; i++) one(OBJECTS[(i * 7) % OBJECTS.length] as (typeof OBJECTS)[number])
  return (RPCS / (now() - began)) * 1000
}

function touch(now: Clock): number {
  let time = 0
  const locks = new ExtentLocks(() => (time += 2000), TEXT.namespaces)
  return timed(now, ({ client, object }) => locks.touch(client, object, true))
}

function map(now: Clock): number {
  const names = new Map(OBJECTS.map(({ object }) => [object, { used: 0 }]))
  let time = 0
  return timed(now, ({ object }) => {
    const o = names.get(object)
    if (o) o.used = time += 2000
  })
}

const COUNTERS = [
  'granted',
  'grant',
  'cancel',
  'grant_rate',
  'cancel_rate',
  'grant_plan',
  'slv',
  'recalc_freed',
  'recalc_timing',
]

function answerOf(targets: number): string {
  const rows = COUNTERS.map((name, sum) => ({
    name,
    samples: 388,
    unit: 'locks',
    range: { min: 0, max: 9, sum },
    sumsq: undefined,
  }))
  const stats = formatStatsTable({ times: { snapshot: '1795215874.936529151' }, rows }, TEXT)
  const scalars = [
    'contended_locks',
    'contention_events',
    'lock_count',
    'lock_timeouts',
    'lock_unused_count',
    'resource_count',
  ]
  const pool = ['cancel_rate', 'grant_rate', 'granted', 'limit']
  let text = 'ldlm.lock_granted_count=4711\n'
  for (let t = 0; t < targets; t++) {
    const at = `ldlm.namespaces.filter-testfs-OST${t.toString(16).padStart(4, '0')}_UUID`
    for (const s of scalars) text += `${at}.${s}=12345\n`
    for (const p of pool) text += `${at}.pool.${p}=12345\n`
    text += `${at}.pool.stats=\n${stats}`
  }
  return text
}

function parse(now: Clock): number {
  const text = answerOf(64)
  const rounds = 50
  for (let i = 0; i < rounds; i++) parseLdlm(text)
  const began = now()
  let read = 0
  for (let i = 0; i < rounds; i++) read += parseLdlm(text).namespaces.length
  if (read !== 64 * rounds) throw new Error('not every namespace was read')
  return (now() - began) / rounds
}

export const benches: readonly Bench[] = [
  {
    id: 'ldlm.touch',
    unit: 'RPC/s',
    run: touch,
    baseline: map,
    note: 'RPCs that find their lock among those of 64 clients with 100 objects each',
    beside: 'a look into a map of the same names',
    limit: 'Two maps, and a list in order of use that each RPC moves its lock to the end of.',
  },
  {
    id: 'ldlm.parse.64-targets',
    unit: 'ms',
    run: parse,
    note: 'one answer of a server with 64 targets: counters, pools and their tables',
    limit: 'every line is split and its number read; the tables of the pools are most of the lines',
  },
]
