import Database from 'better-sqlite3'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobsFrame, OverviewFrame, RulesFrame } from '#core/api/frames.ts'
import { demo, emulatedCluster, jobsQuery, type Emulated } from '../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { FileReader } from '../history/file-reader.ts'
import { History } from '../history/history.ts'
import { RuleService } from '../host/rules/rule-service.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'
import { overviewFrame } from '../host/views/overview.ts'
import { recordedRulesFrame } from '../host/views/rules/rules-recorded.ts'
import { rulesFrame } from '../host/views/rules/rules.ts'
import { clusterAt, NEAR_MS, placeAt } from './find.ts'
import { Past } from './past.ts'
import type { RecordedCluster } from './recorded-cluster.ts'

const RULES = { service: 'ost_io', node: '', queue: 'reg', offset: 0, limit: 200 } as const

interface Shown {
  readonly atMs: number
  readonly jobs: JobsFrame
  readonly overview: OverviewFrame
  readonly rules: RulesFrame
}

/** Frames of a source at its newest sample, as a window showed them. */
function shownBy(c: Emulated, service: RuleService): Shown {
  const overview = overviewFrame(c.monitor, { at: null, windowMs: 10_000 }, 1)
  const jobs = jobsFrame(c.monitor, jobsQuery, 1)
  return { atMs: jobs.atMs ?? NaN, jobs, overview, rules: rulesFrame(service, { ...RULES, at: null }, 1) }
}

async function play(scenario: Parameters<typeof emulatedCluster>[0], seconds: number, every: number) {
  const file = join(tempFolder(), 'history.sqlite')
  const opened = History.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.what)
  const c = emulatedCluster(scenario, { history: opened.value })
  const service = new RuleService(c.monitor)
  const shown: Shown[] = []
  await c.run(seconds, () => {
    if (c.monitor.sample > 0 && c.monitor.sample % every === 0) shown.push(shownBy(c, service))
  })
  return { c, file, history: opened.value, shown }
}

function reopened(file: string): { past: Past; reader: FileReader } {
  const db = new Database(file)
  const { id, name } = db.prepare('SELECT id, name FROM cluster LIMIT 1').get() as { id: number; name: string }
  const reader = new FileReader(db, id, { name, isOwner: true })
  return { past: new Past(reader), reader }
}

function at(past: Past, atMs: number): { viewed: RecordedCluster; sample: number } {
  const place = placeAt(past, atMs, NEAR_MS)
  if (!place) throw new Error('nothing is kept')
  const viewed = clusterAt(past, place)
  return { viewed, sample: viewed.nearest(atMs) }
}

/** Stored columns of a row. */
const keptRows = (f: JobsFrame) => {
  const { user, account, nodes, rpcs, readBps, writeBps, mdops, ioBytes, throttled, rule, ruleRate, record } = f.rows
  return new Map(
    f.rows.jobId.map((id, i) => [
      id,
      [user, account, nodes, rpcs, readBps, writeBps, mdops, ioBytes, throttled, rule, ruleRate, record].map(
        (c) => c[i],
      ),
    ]),
  )
}
const keptTiles = (f: OverviewFrame) =>
  f.tiles.filter((t) => t.id !== 'budget' && t.id !== 'locks').map(({ id, value }) => ({ id, value }))
const keptRules = (f: RulesFrame) =>
  f.rows.map(({ name, conditions, rateMin, rateMax, ceiling, servers, missing, jobId }) => {
    return { name, conditions, rateMin, rateMax, ceiling, servers, missing, jobId }
  })

describe('a recorded run is what was shown of it', () => {
  let run: Awaited<ReturnType<typeof play>>
  let past: Past
  beforeAll(async () => {
    run = await play(demo(), 8, 9)
    run.history.close()
    past = reopened(run.file).past
  })
  afterAll(() => past.reader.close())

  it('in every column that is kept, at every sample', () => {
    expect(run.shown.length).toBeGreaterThan(7)
    for (const shown of run.shown) {
      const { viewed, sample } = at(past, shown.atMs)
      const query = { ...jobsQuery, at: sample }
      const jobs = jobsFrame(viewed, query, 1)
      expect(jobs.atMs).toBe(shown.atMs)
      const live = keptRows(shown.jobs)
      const recorded = keptRows(jobs)
      for (const [id, row] of recorded) expect([id, row]).toEqual([id, live.get(id)])
      // Jobs that never did anything are not stored.
      for (const [id, row] of live) if (!recorded.has(id)) expect([id, row[3], row[6]]).toEqual([id, 0, 0])
      for (const key of ['rpcs', 'readBps', 'writeBps', 'mdops', 'record', 'rules'] as const) {
        expect([key, jobs.totals[key]]).toEqual([key, shown.jobs.totals[key]])
      }
      const overview = overviewFrame(viewed, { at: sample, windowMs: 10_000 }, 1)
      expect(keptTiles(overview)).toEqual(keptTiles(shown.overview))
      const { name, node, rpcs, serviceMs, queued, imbalance } = overview.targets
      expect({ name, node, rpcs, serviceMs, queued, imbalance }).toEqual({
        name: shown.overview.targets.name,
        node: shown.overview.targets.node,
        rpcs: shown.overview.targets.rpcs,
        serviceMs: shown.overview.targets.serviceMs,
        queued: shown.overview.targets.queued,
        imbalance: shown.overview.targets.imbalance,
      })
      expect(overview.events.map((e) => e.text).sort()).toEqual(shown.overview.events.map((e) => e.text).sort())
      const rules = recordedRulesFrame(viewed, { ...RULES, at: sample }, 1)
      expect(keptRules(rules)).toEqual(keptRules(shown.rules))
    }
  })
})
