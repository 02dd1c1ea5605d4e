/**
 * What a load left in the tables of the recorded machine, put into those of the emulated one: the jobs and counters that a
 * recorded answer lists get samples, in its order. Numbers are not carried over; they are values.
 */
import type { CounterTable } from '#core/emulator/live-counter.ts'
import type { JobStatsTable } from '#core/emulator/job-stats-table.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { splitParams } from '#core/lustre/lctl.ts'
import { binBytes } from '#core/lustre/size-histogram.ts'
import { parseStatsTable } from '#core/lustre/stats-table.ts'
import type { Testfs } from '../testfs.ts'

const ONE_MS = 1_000_000

function loadJobs(table: JobStatsTable, text: string, now: number): void {
  table.clear()
  for (const { jobId, counters } of parseJobStats(text).entries) {
    const moved = [...counters].filter(([, c]) => c.samples > 0)
    // The lines that grep kept name jobs and nothing of what they did.
    if (moved.length === 0) table.countIo(now, jobId, 'write', 4096, ONE_MS)
    for (const [name, c] of moved) {
      const op = /^(read|write)_bytes$/.exec(name)?.[1]
      if (op === 'read' || op === 'write') {
        for (const bin of c.hist?.keys() ?? [20]) table.countIo(now, jobId, op, binBytes(bin), ONE_MS)
      } else if (!counters.get(`${name}_bytes`)?.samples) table.count(now, jobId, name, ONE_MS)
    }
  }
}

function loadStats(table: CounterTable, text: string, now: number): void {
  table.clear(now)
  for (const row of parseStatsTable(text).rows) if (row.samples > 0) table.count(now, row.name, 1000)
}

/** Puts the content of a recorded answer into the tables that it was printed from. */
export function load({ sim, oss, mds, services }: Testfs, command: string, stdout: string): void {
  const named = splitParams(stdout)
  // Without names an answer of one parameter is that parameter's value.
  const single = /^lctl get_param (?:-n |-H )?'?([\w.-]+)'?(?: \| .*)?$/.exec(command)?.[1]
  // `-H` puts the name before every line.
  const isAlone = single !== undefined && (named.size === 0 || command.includes(' -H '))
  const values = isAlone ? new Map([[single, stdout.replaceAll(`${single}=`, '')]]) : named
  const targets = new Map([...oss.osts, ...mds.mdts].map((t) => [t.name, t]))
  for (const [name, text] of values) {
    if (name.endsWith('job_stats') && !text.includes('job_id:')) {
      targets.get(name.split('.')[1] ?? '')?.jobStats.clear()
      continue
    }
    const [, target = '', attribute = '', nid = ''] =
      /^\w+\.([\w-]+)\.([\w.]+?)(?:\.([\w.]+@\w+)\.stats)?$/.exec(name) ?? []
    const t = targets.get(target)
    if (t && attribute === 'job_stats') loadJobs(t.jobStats, text, sim.now)
    else if (t && attribute === 'exports' && nid !== '') loadStats(t.connections.at(sim.now, nid), text, sim.now)
    else if (t && (attribute === 'stats' || attribute === 'md_stats')) loadStats(t.stats, text, sim.now)
    else {
      const service = services.get(/^(?:ost|mds|ldlm|mgs)\.\w+\.(\w+)\.stats$/.exec(name)?.[1] ?? '')
      if (service) loadStats(service.stats as CounterTable, text, sim.now)
    }
  }
}
