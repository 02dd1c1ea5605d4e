/** Round trip of all recorded server output in the formats below: parsed completely and printed again to the same bytes. */
import { describe, expect, it } from 'vitest'
import { CORPUS, corpusRecords, printedParams, type PrintedParam } from '../../tests/corpus.ts'
import { brwSections, formatBrwStats, parseBrwStats, type BrwQuantity } from './brw-stats.ts'
import { formatCpuPartitions, parseCpuPartitions } from './cpu-partitions.ts'
import { formatDevices, parseDevices } from './devices.ts'
import type { HistogramRow } from './histogram.ts'
import { MDT_COUNTERS, OST_COUNTERS, printJobStats } from './job-stats-print.ts'
import { parseJobStats } from './job-stats.ts'
import { formatNrsPolicies, parseNrsPolicies } from './nrs-policies.ts'
import { formatCptTitle, formatQueueTitle, formatRuleLine, parseNrsTbfRule } from './nrs-tbf-rule.ts'
import { formatPoolState, parsePoolState } from './pool-state.ts'
import { formatRpcStats, modifyRows, rpcSections, type RpcQuantity } from './rpc-stats.ts'
import { parseRpcStats } from '../../tests/node/corpus/parse-rpc-stats.ts'
import { parseBinLabel } from './size-histogram.ts'
import { formatServiceTimeouts, parseServiceTimeouts } from './service-timeouts.ts'
import { formatStatsTable, parseStatsTable } from './stats-table.ts'
import type { SkippedLine } from './text.ts'

if (CORPUS === '') console.log('print-corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

type Again = (p: PrintedParam) => { readonly skipped: readonly SkippedLine[]; readonly text: string }

/** Parameters printed as tables of counters. */
const STATS = ['stats', 'md_stats', 'ldlm_stats', 'pool.stats']

describe.skipIf(CORPUS === '')('texts of real servers', () => {
  const params = printedParams()

  /** Parses and prints every text of an attribute; returns their number by release. */
  function roundTrip(attribute: string, again: Again): Map<string, number> {
    const counts = new Map<string, number>()
    for (const p of params.filter(({ name }) => name === attribute || name.endsWith(`.${attribute}`))) {
      const { skipped, text } = again(p)
      expect(skipped, p.at).toEqual([])
      expect(text, p.at).toBe(p.value)
      counts.set(p.profile.release, (counts.get(p.profile.release) ?? 0) + 1)
    }
    return counts
  }
  const ALL = ['2.15', '2.17', 'dev']
  const releases = (counts: Map<string, number>): string[] => [...counts.keys()].sort()

  it.each(STATS)('of %s', (attribute) => {
    const counts = roundTrip(attribute, ({ value, profile }) => {
      const table = parseStatsTable(value)
      return { skipped: table.skipped, text: formatStatsTable(table, profile.text) }
    })
    expect(releases(counts).length).toBeGreaterThan(attribute === 'ldlm_stats' ? 1 : 2)
  })

  it('of brw_stats', () => {
    const counts = roundTrip('brw_stats', ({ value, profile }) => {
      const stats = parseBrwStats(value)
      const dialect = profile.text.histogram
      // From counts by bin to rows: the server also decides which rows are omitted.
      const QUANTITIES: BrwQuantity[] = ['pages', 'discontiguousPages', 'inFlight', 'timeMs', 'sizeBytes', 'mapMs']
      const bins = new Map(
        stats.sections.map(({ title, rows }, i) => [
          QUANTITIES[i] as BrwQuantity,
          binsOf(rows, /discontiguous|in flight/.test(title) ? Number : power),
        ]),
      )
      expect(brwSections(bins, 'zfs', dialect)).toEqual(stats.sections)
      return { skipped: stats.skipped, text: formatBrwStats(stats, dialect) }
    })
    expect(counts.get('2.15')).toBeGreaterThan(3)
  })

  it('of rpc_stats', () => {
    const counts = roundTrip('rpc_stats', ({ value, profile }) => {
      const stats = parseRpcStats(value)
      const dialect = profile.text.histogram
      const QUANTITIES: RpcQuantity[] = ['pages', 'inFlight', 'offset', 'latencyUs']
      const labels = [power, Number, zeroAndPowers, zeroAndPowers]
      const bins = new Map(
        stats.sections.map(({ rows }, i) => [QUANTITIES[i] as RpcQuantity, binsOf(rows, labels[i] as typeof power)]),
      )
      expect(rpcSections(bins, stats.modify ? 'mdc' : 'osc', dialect)).toEqual(stats.sections)
      if (stats.modify) {
        const counted = new Map(stats.modify.rows.map(({ label, count }) => [Number(label), count]))
        expect(modifyRows(counted)).toEqual(stats.modify.rows)
      }
      return { skipped: stats.skipped, text: formatRpcStats(stats, dialect) }
    })
    expect(releases(counts)).toEqual(ALL)
  })

  it('of pool.state', () => {
    const counts = roundTrip('pool.state', ({ value }) => {
      const { state, skipped } = parsePoolState(value)
      return { skipped, text: state ? formatPoolState(state) : '' }
    })
    expect(releases(counts)).toEqual(ALL)
  })

  it('of devices', () => {
    roundTrip('devices', ({ value }) => {
      const { devices, skipped } = parseDevices(value)
      return { skipped, text: formatDevices(devices) }
    })
    let lists = 0
    for (const r of corpusRecords()) {
      if (r.exit !== 0 || !/^lctl (?:dl|device_list)(?: -t)?$/.test(r.command)) continue
      const { devices, skipped } = parseDevices(r.stdout)
      expect(skipped, `${r.file} ${r.id}`).toEqual([])
      expect(formatDevices(devices, { peers: r.command.endsWith('-t') })).toBe(r.stdout)
      lists++
    }
    expect(lists).toBeGreaterThan(5)
  })

  it('of cpu_partition_table and timeouts', () => {
    roundTrip('cpu_partition_table', ({ value }) => {
      const { partitions, skipped } = parseCpuPartitions(value)
      return { skipped, text: formatCpuPartitions(partitions) }
    })
    const timeouts = roundTrip('ost_io.timeouts', ({ value }) => {
      const { estimates, skipped } = parseServiceTimeouts(value)
      return { skipped, text: formatServiceTimeouts(estimates) }
    })
    expect(releases(timeouts)).toEqual(ALL)
  })

  it('of job_stats', () => {
    const counts = roundTrip('job_stats', ({ name, value, profile }) => {
      const { entries, skipped } = parseJobStats(value)
      const names = (name.startsWith('mdt.') ? MDT_COUNTERS : OST_COUNTERS)(profile)
      const text = printJobStats(
        entries.map((e) => ({
          jobId: e.jobId,
          times: { snapshot: e.snapshotTime, start: e.startTime, elapsed: elapsed(e.snapshotTime, e.startTime) },
          counters: new Map(
            [...e.counters].map(([counter, c]) => [
              counter,
              { ...c, sumsq: String(c.sumsq), hist: c.hist ?? new Map<number, number>() },
            ]),
          ),
        })),
        names,
        profile.text.jobStats,
      )
      return { skipped, text }
    })
    expect(releases(counts)).toEqual(ALL)
  })

  it('of nrs_policies', () => {
    const counts = roundTrip('nrs_policies', ({ value }) => {
      const { policies, skipped } = parseNrsPolicies(value)
      return { skipped, text: formatNrsPolicies(policies) }
    })
    expect(releases(counts)).toEqual(ALL)
  })

  it('of nrs_tbf_rule', () => {
    const counts = roundTrip('nrs_tbf_rule', ({ value }) => {
      const { rules, skipped } = parseNrsTbfRule(value)
      const hasHp = value.includes('\nhigh_priority')
      let text = ''
      for (const queue of hasHp ? (['reg', 'hp'] as const) : (['reg'] as const)) {
        text += formatQueueTitle(queue)
        const ofQueue = rules.filter((r) => r.queue === queue)
        for (const cpt of new Set(ofQueue.map((r) => r.cpt))) {
          text += formatCptTitle(cpt)
          for (const r of ofQueue.filter((x) => x.cpt === cpt)) text += formatRuleLine(r)
        }
      }
      return { skipped, text }
    })
    expect(releases(counts)).toEqual(ALL)
  })
})

/** Bin numbers by label. */
const power = (label: string): number => parseBinLabel(label) ?? -1
const zeroAndPowers = (label: string): number => (label === '0' ? 0 : power(label) + 1)

/** Counts by bin, as stored by a server. */
const binsOf = (rows: readonly HistogramRow[], bin: (label: string) => number) => ({
  read: new Map(rows.map((r) => [bin(r.label), r.read])),
  write: new Map(rows.map((r) => [bin(r.label), r.write])),
})

/** Time between two texts `secs.nsecs`. */
function elapsed(snapshot: string, start: string | undefined): string | undefined {
  if (start === undefined) return undefined
  const ns = (t: string): bigint => BigInt(t.replace('.', ''))
  const span = ns(snapshot) - ns(start)
  return `${span / 1_000_000_000n}.${String(span % 1_000_000_000n).padStart(9, '0')}`
}
