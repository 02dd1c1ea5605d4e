import { expect, it } from 'vitest'
import { valueAt, valuesOf } from '#core/snapshot/column.ts'
import { CLUSTER_MEASURES, INSTANTS_MOST, replayData as schema } from '#core/snapshot/replay-data.ts'
import { CLUSTER_COLUMNS } from '../../history/reader.ts'
import { facts, job, newFile, openAt, target } from '#tests/kits/electron/history/samples.ts'
import { replayData } from './replay-data.ts'
import { factsOf, fill, FROM, SMALL, USUAL, type Size } from '#tests/kits/electron/incidents/page-facts.ts'

/** Pages of a short generated history. */
function of(size: Size, record: (history: ReturnType<typeof openAt>) => void) {
  const history = openAt(newFile(), FROM)
  history.beginSource('LIVE', 'altair', '', FROM)
  record(history)
  history.flush()
  const data = replayData(history.reader(), factsOf(size, null))
  history.close()
  return data
}

it('the measures of the whole source are those of the history, in its order', () => {
  expect(CLUSTER_MEASURES).toEqual(CLUSTER_COLUMNS)
})

it('figures are those of the samples, a gap is a gap, an absent job did nothing, others are summed', () => {
  const size = { ...SMALL, seconds: 10, jobs: 45 }
  const data = of(size, (h) => {
    for (let s = 0; s < 10; s++) {
      if (s === 5 || s === 6 || s === 7) continue
      const jobs = Array.from({ length: 45 }, (_, k) =>
        job(`${k}.x.u1`, k === 1 && s < 2 ? null : k === 0 ? 9000 : 1000 - k, { record: k === 0 ? -7 : null }),
      )
      h.record(FROM + s * 1000, s === 9 ? jobs.slice(1) : jobs, [target('t', s === 3 ? null : 5)], facts, {
        rpcs: s === 4 ? null : 100 + s,
      })
    }
  })
  expect(schema.parse(data)).toEqual(data)
  // One extra instant marks the gap.
  expect(data.t.map((t) => (t - FROM) / 1000)).toEqual([0, 1, 2, 3, 4, 5, 8, 9])
  expect(valuesOf(data.cluster.rpcs, 8)).toEqual([100, 101, 102, 103, null, null, 108, 109])
  expect(data.gaps).toEqual([{ fromMs: FROM + 5000, toMs: FROM + 8000, why: data.gaps[0]?.why }])
  const [first] = data.jobs.filter((j) => j.name === '0.x.u1')
  expect(valuesOf(first?.rpcs ?? null, 8)).toEqual([9000, 9000, 9000, 9000, 9000, null, 9000, 0])
  expect(valuesOf(first?.record ?? null, 8)).toEqual([-7, -7, -7, -7, -7, null, -7, null])
  const [second] = data.jobs.filter((j) => j.name === '1.x.u1')
  expect(valuesOf(second?.rpcs ?? null, 8)).toEqual([null, null, 999, 999, 999, null, 999, 999])
  expect(data.jobs).toHaveLength(40)
  expect(data.other.jobs).toBe(5)
  expect(valueAt(data.other.rpcs, 0)).toBe(960 + 959 + 958 + 957 + 956)
  expect(valuesOf(data.targets[0]?.rpcs ?? null, 8)).toEqual([5, 5, 5, null, 5, null, 5, 5])
})

it('more instants than are shown are means of several, and it is said of how many', () => {
  const size = { ...SMALL, seconds: 300, jobs: 1 }
  const data = of(size, (h) => {
    for (let i = 0; i < 3000; i++)
      h.record(FROM + i * 100, [job('1.x.u1', i % 2 ? 30 : 10)], [], facts, { rpcs: i % 2 ? 30 : 10 })
  })
  expect(data.t.length).toBeLessThanOrEqual(INSTANTS_MOST)
  expect(data.meanOf * (data.tier === 'raw' ? 1 : 10)).toBeGreaterThanOrEqual(5)
  const known = valuesOf(data.cluster.rpcs, data.t.length).filter((v) => v !== null)
  expect(known.every((v) => v >= 16 && v <= 24)).toBe(true)
})

it('ten minutes of 12 servers, 48 targets and 40 jobs with figures of their own: rules with when they stood, events, and what a page may weigh', () => {
  const size = { ...USUAL, jobs: 60 }
  const history = fill(size)
  const data = replayData(history.reader(), factsOf(size))
  history.close()
  expect(schema.safeParse(data).success).toBe(true)
  expect(JSON.stringify(data).length).toBeLessThan(1_200_000)
  expect(data.targets.map((t) => t.node)).toEqual(data.targets.map((t) => t.node).toSorted())
  const rule = data.rules.find((r) => r.name === 'hog4690')
  expect(rule?.stood).toHaveLength(12)
  expect(rule?.stood[0]?.[2]).toBe(FROM + 312_000)
  expect(data.rules.filter((r) => r.name === 'ckpt_4655').map((r) => r.rate)).toEqual([200, 250])
  expect(data.events.map((e) => e.atMs)).toEqual(data.events.map((e) => e.atMs).toSorted((a, b) => a - b))
  expect(data.jobs.map((j) => j.mean)).toEqual(data.jobs.map((j) => j.mean).toSorted((a, b) => (b ?? 0) - (a ?? 0)))
})

it('a span without a sample is a page without instants', () => {
  const data = of(SMALL, () => undefined)
  expect(schema.safeParse(data).success).toBe(true)
  expect([data.t, data.jobs, data.targets, data.events]).toEqual([[], [], [], []])
})
