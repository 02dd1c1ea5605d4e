import Database from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAIN, type Redactor } from '#core/snapshot/redactor.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { AS_IT_IS, COPIED, COPIED_SEPARATELY, NEVER_EXPORTED } from './copied-columns.ts'
import { writeExcerpt, type ExcerptFacts, type ExcerptOptions } from './excerpt.ts'
import type { History } from './history.ts'
import { openHere, readHere } from '#tests/kits/electron/foreign/in-process.ts'
import { recordAt } from './one-series.ts'
import type { HistoryReader } from './reader.ts'
import { migrate } from './schema.ts'
import { facts, job, MINUTE_MS, newFile, NOW, openAt, SECOND_MS, target } from '#tests/kits/electron/history/samples.ts'

const SPAN = { fromMs: NOW + MINUTE_MS, toMs: NOW + 3 * MINUTE_MS }
const ALL: ExcerptOptions = { redactor: PLAIN, detail: 'all', keepJobs: new Set() }
const FIT: ExcerptOptions = { ...ALL, detail: 'fit' }

/** Every name that must not be exported; each occurs in every place of the file that can hold such a name. */
const SECRETS = [
  'secretjob',
  'secretexe',
  'secretuser',
  'secretaccount',
  'secrethost',
  'secrettarget',
  'secretcluster',
  'secretrule',
]
const hidden = (text: string): string => text.replaceAll(/secret([a-z]+)/g, (_, kind: string) => `a ${kind}`)
const HIDING: Redactor = {
  isOn: true,
  name: (kind, text) => `${kind} ${hidden(text)}`,
  conditions: hidden,
  text: hidden,
  prose: hidden,
  json: (value) => JSON.parse(hidden(JSON.stringify(value))) as unknown,
}

/** Four minutes at a sample a second: `jobs` active in turn, one with a gap, records that sum to zero. */
function fill(history: History, jobs: number, settles = true): void {
  history.beginSource('EMULATED', 'secretcluster', 'secrethost one', NOW)
  const conditions = 'jobid={secretjob.1}&nid={secrethost@tcp}'
  const rule = { queue: 'reg', cpt: 0, name: 'secretrule', conditions, rate: 5, ref: 1 } as const
  history.recordRules(NOW + 1000, 'secrethost', [rule])
  const who = (jobId: string) => ({ jobId, user: 'secretuser', account: 'secretaccount', nodes: 2 })
  for (let s = 0; s < 240; s++) {
    const at = NOW + s * SECOND_MS
    const all = Array.from({ length: jobs }, (_, k) =>
      job(`${k}.secretexe.secretjob`, k === 3 && s === 100 ? null : k * 10 + (s % 7), {
        record: (k % 2 === 0 ? 1 : -1) * 2 ** (20 + (k >> 1)),
        throttled: k === 1 ? 1 : 0,
      }),
    )
    // The last one is active only part of the time.
    history.record(at, s % 3 === 0 ? all : all.slice(0, -1), [target('secrettarget', s)], who, { rpcs: s + 1 })
    history.recordPlane('lock_resources', at, [
      { name: 'secrettarget / 3', place: 'secrethost', jobId: '', values: [s + 1, 2, 3] },
    ])
    if (s % 50 === 10) {
      const texts = { subject: 'secretuser', text: 'secretjob of secretaccount', where: 'secrettarget' }
      history.recordEvent({ atMs: at, kind: 'note', level: 'ok', ...texts })
    }
  }
  history.keepConvoy(
    { resource: 'secrettarget / 3', server: 'secrethost', fromMs: SPAN.fromMs, toMs: SPAN.fromMs + 9, waiting: 5 },
    { text: 'secretjob on secrethost', n: 65 },
  )
  const moved = { target: 'secrettarget', node: 'secrethost', kind: 'lend', tokens: 3 } as const
  const lender = '9.secretexe.secretjob.gone'
  const borrower = '1.secretexe.secretjob'
  history.recordMoves([{ atMs: SPAN.fromMs + 5000, lender, borrower, ...moved }], who)
  const allocations = [{ jobId: 'secretjob.x', tokens: 5, record: -2 }]
  const decision = { target: 'secrettarget', budget: 9, allocations } as unknown as Parameters<
    History['recordDecision']
  >[3]
  history.recordDecision(SPAN.fromMs + 5000, 'adaptbf', 'secrethost', decision)
  const counts = {
    locks: 1,
    unused: 2,
    resources: 3,
    granted: 4,
    grants: 5,
    cancels: 6,
    limit: 7,
    timeouts: 8,
    contentions: 9,
  }
  history.recordLdlm(SPAN.fromMs + 5000, 'secrethost', [{ namespace: 'ns-secrettarget', ...counts }])
  history.recordAudit({
    number: 1,
    atMs: SPAN.fromMs + 1,
    server: 'secrethost',
    kind: 'intent',
    text: 'secretjob',
    hash: 'h',
  })
  history.keepControllerState('secretcluster', 'secrettarget', SPAN.fromMs, '{"secretjob":1}')
  history.flush()
  if (settles) history.settle()
}

let history: History
let db: Database.Database
beforeAll(() => {
  history = openAt(newFile())
  fill(history, 12)
  db = new Database(history.file, { readonly: true })
})
afterAll(() => {
  db.close()
  history.close()
})

const newName = (): string => join(tempFolder(), 'x.qosrec')
async function excerpt(o: ExcerptOptions, from = db, span = SPAN): Promise<{ file: string; facts: ExcerptFacts }> {
  const file = newName()
  const written = await writeExcerpt(from, 1, span, file, o)
  if (!written.ok) throw new Error(`${written.error.code}: ${written.error.why}`)
  return { file, facts: written.value }
}
function reading<T>(file: string, read: (reader: HistoryReader) => T): T {
  const opened = readHere(file)
  if (!opened.ok) throw new Error(opened.error.why)
  try {
    return read(opened.value)
  } finally {
    opened.value.close()
  }
}

describe('what leaves', () => {
  it('is an explicit decision: every table and column of the schema is listed, and no text is copied verbatim', () => {
    const schema = new Database(':memory:')
    migrate(schema)
    const tables = schema
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
      .pluck()
      .all() as string[]
    expect(tables.toSorted()).toEqual([...Object.keys(COPIED), ...COPIED_SEPARATELY, ...NEVER_EXPORTED].toSorted())
    for (const [table, columns] of Object.entries(COPIED)) {
      const there = schema.pragma(`table_xinfo(${table})`) as { name: string; type: string }[]
      expect(Object.keys(columns), table).toEqual(there.map((c) => c.name))
      for (const { name, type } of there) {
        const isNumber = type === 'INTEGER' || type === 'REAL'
        expect((columns as Record<string, unknown>)[name] === AS_IT_IS, `${table}.${name}`).toBe(isNumber)
      }
    }
    for (const table of ['instant', 'block', 'block_use']) {
      const texts = (schema.pragma(`table_xinfo(${table})`) as { type: string }[]).filter((c) => c.type === 'TEXT')
      expect(texts, table).toEqual([])
    }
    schema.close()
  })

  it('has none of the names of the cluster in any byte of it, frames and decisions included', async () => {
    const { file, facts: f } = await excerpt({ ...ALL, redactor: HIDING })
    const bytes = readFileSync(file).toString('latin1')
    for (const secret of SECRETS) expect(bytes.includes(secret), secret).toBe(false)
    const out = new Database(file)
    const one = (sql: string): unknown => out.prepare(sql).raw().get()
    expect(one('SELECT name, kind FROM cluster')).toEqual(['cluster a cluster', 'EMULATED'])
    expect(one('SELECT cluster, detail FROM source')).toEqual(['cluster a cluster', ''])
    expect(one('SELECT job_id, user, account, exe FROM job')).toEqual([
      'job 0.a exe.a job',
      'user a user',
      'account a account',
      'exe a exe.a job',
    ])
    expect(one('SELECT name, node FROM target')).toEqual(['target a target', 'host a host'])
    expect(one('SELECT server, name, conditions FROM rule')).toEqual([
      'host a host',
      'rule a rule',
      'jobid={a job.1}&nid={a host@tcp}',
    ])
    expect(one('SELECT controller, allocations FROM decision')).toEqual(['adaptbf', '[["job a job.x",5,-2]]'])
    expect(one('SELECT subject, text, place, kind FROM event')).toEqual([
      'a user',
      'a job of a account',
      'a target',
      'note',
    ])
    expect(one('SELECT node, name FROM ldlm_namespace')).toEqual(['host a host', 'target ns-a target'])
    expect(one('SELECT count(*) FROM adaptbf_moves')).toEqual([1])
    for (const table of NEVER_EXPORTED) expect(one(`SELECT count(*) FROM ${table}`), table).toEqual([0])
    expect(one('SELECT count(*) FROM setting')).toEqual([1])
    out.close()
    reading(file, (r) => {
      expect(r.cluster).toBe('cluster a cluster')
      const rows = r.planeAt('lock_resources', SPAN.fromMs + 5000, 1000)
      expect(rows?.columns[0]?.[0]).toBe(66)
      expect(r.planeSeries(rows?.keys[0] ?? 0)).toMatchObject({ name: 'file a target / 3', place: 'host a host' })
      expect(r.convoys(0, Infinity, 9)).toEqual([
        {
          id: 1,
          resource: 'file a target / 3',
          server: 'host a host',
          fromMs: SPAN.fromMs,
          toMs: SPAN.fromMs + 9,
          waiting: 5,
        },
      ])
      expect(r.convoyFrame(1)).toEqual({ text: 'a job on a host', n: 65 })
    })
    expect(f).toMatchObject({
      jobs: 12,
      jobsWhole: 12,
      targets: 1,
      servers: 1,
      instants: 120,
      tier: 'raw',
      missing: [],
    })
  })

  it('of two names with one stand-in is nothing: it fails loudly and leaves nothing', async () => {
    const file = newName()
    const one: Redactor = { ...HIDING, name: (kind) => kind }
    expect(await writeExcerpt(db, 1, SPAN, file, { ...ALL, redactor: one })).toMatchObject({
      ok: false,
      error: { code: 'EXCERPT_NAMES' },
    })
    expect(readdirSync(dirname(file))).toEqual([])
  })
})

describe('of many jobs', () => {
  // The limit fits two of twelve jobs at 121 samples each, beside the sum.
  const few = { ...FIT, fitSamples: 3 * 122 }

  it('the busiest keep their samples, the others are one sum with an exact record, and ten seconds keep every job', async () => {
    const { file, facts: f } = await excerpt(few)
    expect(f).toMatchObject({ jobs: 12, jobsWhole: 2, instants: 120, tier: 'raw' })
    expect(f.missing).toEqual([
      '10 jobs are aggregated in the finest resolution; coarser means are kept per job',
      'Controller decisions: one per target in ten seconds',
    ])
    const here = history.reader()
    reading(file, (there) => {
      for (const tier of ['raw', '1s'] as const) {
        const blocks = [...there.jobsBetween(tier, SPAN.fromMs, SPAN.toMs - 1)]
        expect(blocks).toHaveLength(120)
        for (const b of blocks) {
          const all = here.jobs(tier, b.atMs)
          if (!all) throw new Error('no block')
          const names = [...b.keys].map((k) => there.job(k)?.jobId)
          expect(names).toEqual(['(10 other jobs)', '9.secretexe.secretjob', '10.secretexe.secretjob'])
          const kept = new Set(b.keys)
          const others = [...all.keys].flatMap((k, i) => (kept.has(k) ? [] : [i]))
          for (const c of [0, 1, 2]) {
            expect(b.columns[c]?.[0]).toBe(others.reduce((n, i) => n + (all.columns[c]?.[i] ?? 0), 0))
          }
          expect(recordAt(b, 0)).toBe(others.reduce((n, i) => n + (recordAt(all, i) ?? 0), 0))
          // A gap in one is a gap in the sum.
          expect(Number.isNaN(b.columns[0]?.[0])).toBe(b.atMs === NOW + 100 * SECOND_MS)
        }
      }
      for (const tier of ['10s', '1min'] as const) {
        expect([...there.jobsBetween(tier, SPAN.fromMs, SPAN.toMs - 1)]).toEqual([
          ...here.jobsBetween(tier, SPAN.fromMs, SPAN.toMs - 1),
        ])
      }
    })
  })

  it('named jobs keep their samples before the busiest, as far as they fit', async () => {
    const names = async (keep: string[]): Promise<string[]> => {
      const { file } = await excerpt({ ...few, keepJobs: new Set(keep) })
      return reading(file, (r) =>
        [...(r.jobs('raw', SPAN.fromMs + 1000)?.keys ?? [])].map((k) => r.job(k)?.jobId.split('.')[0] ?? ''),
      )
    }
    expect(await names(['2.secretexe.secretjob', 'nobody'])).toEqual(['(10 other jobs)', '2', '10'])
    const all = Array.from({ length: 12 }, (_, k) => `${k}.secretexe.secretjob`)
    expect((await names(all)).length).toBeLessThanOrEqual(4)
  })

  it('an excerpt of an excerpt of the same range is the same file, however it was reduced', async () => {
    await fc.assert(
      fc.asyncProperty(
        ...[fc.integer({ min: 200, max: 3000 }), fc.boolean(), fc.integer({ min: 0, max: 100_000 })],
        async (fitSamples, isRedacted, shift) => {
          const span = { fromMs: SPAN.fromMs + shift, toMs: SPAN.toMs - (shift >> 1) }
          const o = { ...FIT, fitSamples, redactor: isRedacted ? HIDING : PLAIN }
          const first = await excerpt(o, db, span)
          const opened = openHere(first.file)
          if (!opened.ok) throw new Error(opened.error.why)
          const second = await excerpt({ ...FIT, fitSamples }, opened.value.db, span)
          opened.value.db.close()
          expect(readFileSync(second.file).equals(readFileSync(first.file))).toBe(true)
          expect(second.facts).toEqual(first.facts)
          const again = await excerpt(o, db, span)
          expect(readFileSync(again.file).equals(readFileSync(first.file))).toBe(true)
        },
      ),
      { numRuns: 5 },
    )
  })

  it('the last seconds have means of ten seconds although the source has not made them yet', async () => {
    const young = openAt(newFile())
    fill(young, 12, false)
    const source = new Database(young.file, { readonly: true })
    const made = source.prepare('SELECT max(at_ms) FROM instant WHERE tier = 2').pluck()
    expect(made.get()).toBeNull()
    const span = { fromMs: NOW + 100_000, toMs: NOW + 239_500 }
    const { file } = await excerpt({ ...few }, source, span)
    source.close()
    reading(file, (r) => {
      expect([...r.instants('10s', 0, Infinity)]).toEqual(
        Array.from({ length: 14 }, (_, i) => NOW + 100_000 + i * 10_000),
      )
      const last = r.jobs('10s', NOW + 230_000)
      expect(last?.keys).toHaveLength(12)
      // 240 samples and a sum: s % 7 over 230 to 239, the last of which is not a complete second yet.
      const mean = (k: number): number =>
        Array.from({ length: 10 }, (_, i) => k * 10 + ((230 + i) % 7)).reduce((a, b) => a + b) / 10
      expect(last?.columns[0]?.[5]).toBeCloseTo(mean(5), 4)
    })
    young.close()
  })
})

describe('what is not there', () => {
  it('is an excerpt of nothing, or of a name that exists', async () => {
    const file = newName()
    const empty = await writeExcerpt(db, 1, { fromMs: 5, toMs: 10 }, file, FIT)
    expect(empty).toMatchObject({ ok: false, error: { code: 'EXCERPT_EMPTY' } })
    expect(await writeExcerpt(db, 7, SPAN, file, FIT)).toMatchObject({ ok: false, error: { code: 'EXCERPT_EMPTY' } })
    expect(readdirSync(dirname(file))).toEqual([])
    const { file: taken } = await excerpt(FIT)
    const before = readFileSync(taken)
    expect(await writeExcerpt(db, 1, SPAN, taken, FIT)).toMatchObject({ ok: false, error: { code: 'EXCERPT_EXISTS' } })
    expect(readFileSync(taken).equals(before)).toBe(true)
  })

  it('is said: gaps, what was evicted and where only coarser means are left', async () => {
    const gappy = openAt(newFile())
    gappy.beginSource('EMULATED', 'c', '', NOW)
    for (let s = 0; s < 200; s++) {
      if (s >= 120 && s < 150) continue
      gappy.record(NOW + s * 1000, [job('a', s)], [target('T', s)], facts, { rpcs: 1 })
    }
    gappy.recordEvent({
      atMs: NOW + 121_000,
      kind: 'lost',
      level: 'bad',
      subject: 'Source',
      text: 'oss1 went away',
      where: '',
    })
    gappy.settle()
    gappy.close()
    const source = new Database(gappy.file)
    source.exec(`DELETE FROM instant WHERE tier < 2 AND at_ms < ${NOW + 60_000}; DELETE FROM block WHERE tier < 2 AND at_ms < ${NOW + 60_000};
      INSERT INTO eviction VALUES (1, ${NOW}, 1, 0, ${NOW}, ${NOW + 59_999}, 9, 'quota')`)
    const { facts: f } = await excerpt(FIT, source, { fromMs: NOW - 60_000, toMs: NOW + 200_000 })
    source.close()
    expect(f.missing).toEqual([
      '2026-01-01 23:59:00 to 2026-01-02 00:00:00 UTC: no data (Sluice was not running)',
      '2026-01-02 00:00:00 to 00:01:00 UTC: means of ten seconds and coarser only (evicted: the history had reached its quota)',
      '2026-01-02 00:02:00 to 00:02:30 UTC: no data (oss1 went away)',
    ])
    expect(f).toMatchObject({ instants: 110, tier: 'raw' })
  })

  it('is anything at all of one that was canceled, whenever that was', async () => {
    const steps: number[] = []
    await excerpt({ ...FIT, progress: (done) => steps.push(done) })
    expect(steps.length).toBeGreaterThan(3)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    for (const at of [0, steps.length >> 1, steps.length - 1]) {
      const file = newName()
      const cancel = new AbortController()
      let n = 0
      const progress = (): void => {
        if (n++ === at) cancel.abort()
      }
      const cut = await writeExcerpt(db, 1, SPAN, file, { ...FIT, progress, signal: cancel.signal })
      expect(cut).toMatchObject({ ok: false, error: { code: 'EXCERPT_CANCELLED' } })
      expect(readdirSync(dirname(file))).toEqual([])
    }
  })

  it('is anything at all on a disk that is full, at whatever page that is', async () => {
    for (const pagesMax of [1, 40, 60]) {
      const file = newName()
      const full = await writeExcerpt(db, 1, SPAN, file, { ...FIT, pagesMax })
      expect(full, String(pagesMax)).toMatchObject({
        ok: false,
        error: { code: 'EXCERPT_FAILED', why: 'database or disk is full' },
      })
      expect(readdirSync(dirname(file))).toEqual([])
    }
  })
})
