import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { JobDeltas, type JobDelta } from '#core/lustre/job-deltas.ts'
import { formatCounter, formatEntryHead } from '#core/lustre/job-stats-print.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { splitParams } from '#core/lustre/lctl.ts'
import { profile } from '#core/lustre/profile.ts'
import { SERVICES } from '../../base/service.ts'
import { filterTail, parseFilterSum, type Mark } from './job-filter.ts'
import { TargetTables } from './target-tables.ts'

const DIALECT = profile('dev').text.jobStats
const TARGETS = ['t-OST0000', 't-OST0001'] as const
const paramOf = (target: string): string => `obdfilter.${target}.job_stats`

/** All installed awks, which must agree. */
const AWKS = ['awk', 'mawk', 'gawk', 'busybox awk', 'original-awk'].filter(
  (awk) => spawnSync('sh', ['-c', `${awk} 'BEGIN{exit 0}'`]).status === 0,
)

/** Runs the pipe behind lctl in a server's shell. */
function cut(text: string, after: Mark, awk = 'awk'): string {
  const line = filterTail(after).replace('LC_ALL=C awk', `LC_ALL=C ${awk}`)
  const ran = spawnSync('sh', ['-c', line], { input: Buffer.from(text, 'latin1') })
  if (ran.status !== 0) throw new Error(ran.stderr.toString('latin1'))
  return ran.stdout.toString('latin1')
}

interface Entry {
  start: number
  at: number
  samples: number
}

/** Tables of a server: its clock advances with every update, and entries are in the order of their creation. */
class Server {
  readonly tables = TARGETS.map(() => new Map<string, Entry>())
  readonly gone = new Set<number>()
  clockNs = 1_700_000_000_123_456_789n
  #tick(): number {
    this.clockNs += 1_000_003n
    return 0
  }

  touch(target: number, id: string, samples: number): void {
    this.#tick()
    const table = this.tables[target]
    const now = Number(this.clockNs - 1_700_000_000_000_000_000n)
    const e = table?.get(id)
    if (e) {
      e.at = now
      e.samples += samples
    } else table?.set(id, { start: now, at: now, samples })
  }

  /** Removes the entries that were idle for longest, as the server's own clean-up does. */
  expire(target: number, n: number): void {
    const table = this.tables[target]
    const oldest = [...(table ?? [])].sort(([, a], [, b]) => a.at - b.at).slice(0, n)
    for (const [id] of oldest) table?.delete(id)
  }

  /** @param meanwhile  called when so many entries are printed. */
  print(at: number, meanwhile: () => void): string {
    let out = ''
    let printed = 0
    const time = (ns: number): string => {
      const all = 1_700_000_000_000_000_000n + BigInt(ns)
      return `${all / 1_000_000_000n}.${String(all % 1_000_000_000n).padStart(9, '0')}`
    }
    TARGETS.forEach((target, i) => {
      if (this.gone.has(i)) return
      const ids = [...(this.tables[i] ?? new Map<string, Entry>()).keys()]
      out += ids.length === 0 ? `${paramOf(target)}=job_stats:\n` : `${paramOf(target)}=\njob_stats:\n`
      for (const id of ids) {
        if (printed++ === at) meanwhile()
        const e = this.tables[i]?.get(id)
        if (!e) continue
        const times = { snapshot: time(e.at), start: time(e.start), elapsed: '9.000000001' }
        const c = {
          samples: e.samples,
          min: 1,
          max: 9,
          sum: e.samples * 4,
          sumsq: '81',
          hist: new Map([[20, e.samples]]),
        }
        out += formatEntryHead(id, times, DIALECT) + formatCounter('write', c, DIALECT)
      }
    })
    return `${out}ost.OSS.ost_io.nrs_tbf_rule=\nregular_requests:\nCPT 0:\nr jobid={a=b} 5, ref 0\n`
  }
}

const facts = (deltas: readonly JobDelta[] | undefined) =>
  deltas?.map((d) => ({ ...d, ops: [...d.ops] })).sort((a, b) => (a.jobId < b.jobId ? -1 : a.jobId > b.jobId ? 1 : 0))

/** Job ids that a user may set: 1 to 31 bytes. */
const bytes = fc
  .array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 31 })
  .map((b) => String.fromCharCode(...b))
const hostile = fc.constantFrom(
  '- job_id:',
  '  snapshot_time:   1.000000001',
  'obdfilter.t-OST0000.job_stats=',
  'obdfilter.t-OST0000.job_stats.sum=1 1',
  "'; reboot; '",
  '$(reboot)',
  '%s%s%n',
  '\\n- job_id: x',
  '__proto__',
  '*',
)
const id = fc.oneof(
  { weight: 6, arbitrary: fc.nat(12).map((n) => `job.${n}`) },
  { weight: 1, arbitrary: hostile },
  { weight: 1, arbitrary: bytes },
)
const target = fc.nat(1)
const change = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('touch' as const), target, id, n: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('expire' as const), target, n: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), target, id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), target }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ns: fc.bigInt({ min: -5_000_000_000n, max: 5_000_000_000n }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), target }) },
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

function apply(s: Server, c: Change): void {
  if (c.kind === 'touch') s.touch(c.target, c.id, c.n)
  else if (c.kind === 'expire') s.expire(c.target, c.n)
  else if (c.kind === 'drop') s.tables[c.target]?.delete(c.id)
  else if (c.kind === 'clear') s.tables[c.target]?.clear()
  else if (c.kind === 'clock') s.clockNs += c.ns
  else if (s.gone.delete(c.target)) s.tables[c.target]?.clear()
  else s.gone.add(c.target)
}

const round = fc.record({
  changes: fc.array(change, { maxLength: 6 }),
  meanwhile: fc.array(
    change.filter((c) => c.kind === 'touch'),
    { maxLength: 2 },
  ),
  at: fc.nat(8),
})

describe('job_stats cut down on the server', () => {
  it('comes to the very deltas of whole readings, whatever happens to the tables and the clock', () => {
    let cuts = 0
    fc.assert(
      fc.property(fc.array(round, { minLength: 4, maxLength: 9 }), (rounds) => {
        const server = new Server()
        for (let i = 0; i < 9; i++) server.touch(i % 2, `job.${i}`, 1)
        const tables = new TargetTables([SERVICES.ost_io], true, 0)
        const whole = TARGETS.map(() => new JobDeltas())
        rounds.forEach(({ changes, meanwhile, at }, k) => {
          for (const c of changes) apply(server, c)
          const text = server.print(at, () => meanwhile.forEach((c) => apply(server, c)))
          const all = splitParams(text)
          const expected = TARGETS.map((t, i) => {
            const value = all.get(paramOf(t))
            if (value === undefined) whole[i]?.reset()
            return value === undefined
              ? undefined
              : { target: t, deltas: whole[i]?.update(parseJobStats(value).entries) }
          })
          const mark = tables.mark(k * NS_PER_S)
          const answered = mark ? splitParams(cut(text, mark)) : all
          const isCut = mark !== undefined && tables.takeCut(answered)
          if (isCut) cuts++
          const { targets } = tables.take(isCut ? answered : all, k * NS_PER_S, 1)
          expect(targets.map((t) => ({ target: t.target, deltas: facts(t.deltas) }))).toEqual(
            expected.flatMap((e) => (e ? [{ target: e.target, deltas: facts(e.deltas) }] : [])),
          )
          if (isCut) expect(answered.get('ost.OSS.ost_io.nrs_tbf_rule')).toBe(all.get('ost.OSS.ost_io.nrs_tbf_rule'))
        })
      }),
      { numRuns: 60 },
    )
    expect(cuts).toBeGreaterThan(30)
  })

  it.each(AWKS)('%s prints what moved, and the sums of all', (awk) => {
    const server = new Server()
    for (let i = 0; i < 6; i++) server.touch(0, `job.${i}`, 1)
    server.touch(0, '- job_id: "x', 3)
    const text = server.print(-1, () => undefined)
    const known = parseJobStats(splitParams(text).get(paramOf('t-OST0000')) ?? '')
    const [s = '', ns = ''] = known.entries[4]?.snapshotTime.split('.') ?? []
    const answer = splitParams(cut(text, { s: Number(s), ns: Number(ns) }, awk))
    const part = parseJobStats(answer.get(paramOf('t-OST0000')) ?? '')
    expect(part.entries.map((e) => e.jobId)).toEqual(['job.5', '- job_id: "x'])
    expect(part.skipped).toEqual([])
    const sum = parseFilterSum(answer.get(`${paramOf('t-OST0000')}.sum`))
    expect(sum).toEqual({
      entries: 7,
      printed: 2,
      seconds: known.entries.reduce((n, e) => n + Number(e.snapshotTime.split('.')[0]), 0),
      nanos: known.entries.reduce((n, e) => n + Number(e.snapshotTime.split('.')[1]), 0),
      odd: 0,
    })
    expect(parseFilterSum(answer.get(`${paramOf('t-OST0001')}.sum`))?.entries).toBe(0)
  })

  it('reads whole where there is no awk, where the answer is cut off, and where times have no ns', () => {
    const fill = (s: Server): string => {
      for (let i = 0; i < 8; i++) s.touch(i % 2, `job.${i}`, 1)
      return s.print(-1, () => undefined)
    }
    const ready = (): { tables: TargetTables; server: Server; mark: Mark } => {
      const server = new Server()
      const tables = new TargetTables([SERVICES.ost_io], true, 0)
      for (let k = 0; k < 3; k++) tables.take(splitParams(fill(server)), k * NS_PER_S, 1)
      const mark = tables.mark(3 * NS_PER_S)
      if (!mark) throw new Error('nothing to leave out')
      return { tables, server, mark }
    }
    const a = ready()
    expect(a.tables.takeCut(new Map())).toBe(false)
    for (let i = 0; i < 2; i++) a.tables.takeCut(new Map())
    expect(a.tables.fullReadReason).toBe('awk timed out; retried in 60 s')
    a.tables.take(splitParams(fill(a.server)), 3 * NS_PER_S, 1)
    expect(a.tables.mark(4 * NS_PER_S)).toBeUndefined()

    const b = ready()
    const answer = cut(fill(b.server), b.mark)
    for (let n = 0; n < answer.length; n += 97) {
      // Without the last sum nothing is accepted; once all of them are there, nothing is missing.
      const isWhole = answer.slice(0, n).includes('t-OST0001.job_stats.sum=')
      if (!isWhole) expect(ready().tables.takeCut(splitParams(answer.slice(0, n)))).toBe(false)
    }
    expect(b.tables.takeCut(splitParams(answer))).toBe(true)

    const c = ready()
    const seconds = fill(c.server).replaceAll(/(snapshot_time: +\d+)\.\d{9}/g, '$1')
    expect(c.tables.takeCut(splitParams(cut(seconds, c.mark)))).toBe(false)
  })
})
