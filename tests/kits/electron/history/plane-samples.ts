/** Rows of locks, metadata and tokens for tests of the history. */
import {
  PLANE_TABLES,
  planeTable,
  type PlaneName,
  type PlaneRow,
  type PlaneTableId,
} from '#core/series/plane-tables.ts'
import type { History } from '#electron/history/history.ts'
import { facts, job, NOW, target } from './samples.ts'

/** Row with the named values; all others are gaps. */
export const planeRow = (
  table: PlaneTableId,
  name: Partial<PlaneName>,
  known: Readonly<Record<string, number>>,
): PlaneRow => ({
  name: name.name ?? 'series',
  place: name.place ?? '',
  jobId: name.jobId ?? '',
  values: planeTable(table).columns.map((c) => known[c.name] ?? NaN),
})

export const CONVOY = { resource: 'ckpt / 1', server: 'ls0', fromMs: NOW + 2000, toMs: NOW + 5000, waiting: 12 }

/**
 * Records `seconds` of two jobs, a target, every plane, two events, a rule, a decision and a convoy. In second s a rate is s, so that
 * sums are known.
 */
export function recordPlanes(history: History, seconds: number): void {
  history.beginSource('LIVE', 'altair', '', NOW)
  for (let s = 0; s < seconds; s++) {
    const at = NOW + s * 1000
    history.record(at, [job('1.cfd.u1', s), job('2.io.u2', 5, { record: -3 })], [target('OST0', s)], facts, { rpcs: s })
    for (const { id, placeIs, hasJob, rank } of PLANE_TABLES) {
      const known = Object.fromEntries(rank.map((column) => [column, s + 1]))
      const place = placeIs === '' ? '' : 'here'
      history.recordPlane(id, at, [
        planeRow(id, { name: 'a', place, jobId: hasJob ? '1.cfd.u1' : '' }, { ...known, wait_p95_ms: 250 }),
        planeRow(id, { name: 'b', place, jobId: hasJob ? '2.io.u2' : '' }, known),
      ])
    }
  }
  for (const text of ['first', 'second'])
    history.recordEvent({ atMs: NOW + 1000, kind: 'note', level: 'ok', subject: 'Note', text, where: '' })
  history.recordRules(NOW + 1000, 'oss1', [
    { queue: 'reg', cpt: 0, name: 'sl_1', conditions: 'jobid={1.cfd.u1}', rate: 100, ref: 0 },
  ])
  history.recordDecision(NOW + 2000, 'adaptbf', 'oss1', {
    target: 'OST0',
    atNs: 0,
    budget: 700,
    records: new Map(),
    allocations: [{ jobId: '1.cfd.u1', tokens: 700, ratePerSec: 700, record: 1, recordDelta: 1 }],
  })
  history.keepConvoy(CONVOY, { messages: [] })
  history.flush()
}
