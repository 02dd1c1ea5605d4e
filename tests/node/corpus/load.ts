/**
 * Load of the recorded machine, repeated on the emulated one: jobs and counters that a recorded answer lists, and
 * that are not there yet, get samples in its order. Nothing is ever taken away, so that clearing, dropping and expiring are
 * the emulator's own doing; numbers are not carried over, except where they are a table's shape (histograms, pools).
 */
import type { JobStatsTable } from '#core/emulator/job-stats-table.ts'
import type { CounterTable } from '#core/emulator/live-counter.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { splitParams } from '#core/lustre/lctl.ts'
import { parsePoolState } from '#core/lustre/pool-state.ts'
import { binBytes } from '#core/lustre/size-histogram.ts'
import { parseStatsTable } from '#core/lustre/stats-table.ts'
import type { Testfs, TestLocks } from '../testfs.ts'
import { loadBrwStats, loadRpcStats } from './load-histograms.ts'

const ONE_MS = 1_000_000

/** Counters already set for each job, so that nothing is counted twice. */
const counted = new WeakMap<JobStatsTable, Map<string, Set<string>>>()

function loadJobs(table: JobStatsTable, text: string, now: number): void {
  const known = counted.get(table) ?? new Map<string, Set<string>>()
  counted.set(table, known)
  const isThere = new Set(table.jobIds)
  for (const { jobId, counters } of parseJobStats(text).entries) {
    const done = (isThere.has(jobId) ? known.get(jobId) : undefined) ?? new Set<string>()
    known.set(jobId, done)
    const once = (what: string, count: () => void): void => {
      if (done.has(what)) return
      done.add(what)
      count()
    }
    const moved = [...counters].filter(([, c]) => c.samples > 0)
    // The lines that grep or head kept name jobs and nothing of what they did.
    if (moved.length === 0 && done.size === 0)
      once('write_bytes', () => table.countIo(now, jobId, 'write', 4096, ONE_MS))
    for (const [name, c] of moved) {
      const op = /^(read|write)_bytes$/.exec(name)?.[1] as 'read' | 'write' | undefined
      if (op) {
        for (const bin of c.hist?.keys() ?? [20]) {
          once(`${name} ${bin}`, () => table.countIo(now, jobId, op, binBytes(bin), ONE_MS))
        }
      } else if (!counters.get(`${name}_bytes`)?.samples) once(name, () => table.count(now, jobId, name, ONE_MS))
    }
  }
}

function loadStats(table: CounterTable, text: string, now: number): void {
  for (const row of parseStatsTable(text).rows) {
    if (row.samples > 0 && !table.counters.get(row.name)?.samples) table.count(now, row.name, 1000)
  }
}

/** Pools are numbers and counters of locks that nothing emulated holds. */
function loadPool(locks: TestLocks, attribute: string, text: string, now: number): void {
  if (attribute === 'stats') loadStats(locks.poolStats as CounterTable, text, now)
  if (attribute === 'state') {
    const { state } = parsePoolState(text)
    if (state) locks.pool = { ...state, plan: state.plan?.gp ?? locks.pool.plan }
  }
}

/** Values of an answer by name; without names, an answer of one parameter is that parameter's value. */
function valuesOf(command: string, stdout: string): Map<string, string> {
  const named = splitParams(stdout)
  const single = /^lctl get_param (?:-n |-H )?'?([\w.-]+)'?(?: \| .*)?$/.exec(command)?.[1]
  // `-H` puts the name before every line.
  const isAlone = single !== undefined && (named.size === 0 || command.includes(' -H '))
  return isAlone ? new Map([[single, stdout.replaceAll(`${single}=`, '')]]) : named
}

/** Counts again what the jobs of an answer did, as if they had gone on until now. */
export function goOn({ sim, oss }: Testfs, command: string, stdout: string): void {
  const targets = new Map(oss.osts.map((t) => [t.name, t]))
  for (const [name, text] of valuesOf(command, stdout)) {
    const table = targets.get(name.split('.')[1] ?? '')?.jobStats
    if (!table || !name.endsWith('.job_stats')) continue
    for (const { jobId } of parseJobStats(text).entries) table.countIo(sim.now, jobId, 'write', 4096, ONE_MS)
  }
}

/** Does to the emulated machine what an answer shows was done to the recorded one. */
export function load(testfs: Testfs, command: string, stdout: string): void {
  const { sim, oss, mds, client, services, locks } = testfs
  const targets = new Map([...oss.osts, ...mds.mdts].map((t) => [t.name, t]))
  const osts = new Map(oss.osts.map((t) => [t.name, t]))
  for (const [name, text] of valuesOf(command, stdout)) {
    const parts =
      /^(?<type>[\w-]+)\.(?<target>[\w-]+?-(?:OST|MDT)\d{4})(?:-\w+-\w+)?\.(?<attribute>\w+)(?:\.(?<nid>[\w.]+@\w+)\.stats)?$/
    const { type = '', target = '', attribute = '', nid } = parts.exec(name)?.groups ?? {}
    const t = targets.get(target)
    const pool = /^ldlm\.namespaces\.(.+)\.pool\.(state|stats)$/.exec(name)
    const service = services.get(/^(?:ost|mds|ldlm|mgs)\.\w+\.(\w+)\.stats$/.exec(name)?.[1] ?? '')
    const locksOf = locks.get(pool?.[1]?.replace(/ffff[0-9a-f]{12}$/, testfs.instance) ?? '')
    if (pool && locksOf) loadPool(locksOf, pool[2] as string, text, sim.now)
    else if (service) loadStats(service.stats as CounterTable, text, sim.now)
    else if (!t) continue
    else if (attribute === 'job_stats') loadJobs(t.jobStats, text, sim.now)
    else if (attribute === 'exports' && nid !== undefined) loadStats(t.connections.at(sim.now, nid), text, sim.now)
    else if (type === 'obdfilter' || type === 'mdt') {
      if (attribute === 'stats' || attribute === 'md_stats') loadStats(t.stats, text, sim.now)
    } else if (attribute === 'rpc_stats') loadRpcStats(client.line(t).histograms, text)
    else if (attribute === 'brw_stats') {
      const ost = osts.get(target)
      if (ost) loadBrwStats(ost.brw, text)
    }
  }
}
