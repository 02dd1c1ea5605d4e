/** AdapTBF in the console: its records and debts through gaps, odd input and restarts, and its settings. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { ControlLag } from '#core/control/controller.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { MODEL_FENCES } from '#core/control/fences.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import {
  demo,
  emulatedCluster,
  smallScenario,
  twoJobs,
  type Emulated,
  jobsQuery as query,
} from '../../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { History } from '../../history/history.ts'
import { jobFrame } from '../../host/views/jobs/job.ts'
import { jobsFrame } from '../../host/views/jobs/jobs.ts'
import { debtsAt } from '../../host/views/pairs.ts'
import { LedgerStateStore } from './ledger-state-store.ts'
import type { ClusterMonitor } from '../monitor.ts'
import { jobColumn, shareColumn, shareName } from '../state/recent.ts'
import { edited, lost } from '#tests/kits/electron/answers.ts'

const RECORD = shareColumn('record')
const DATA = ['small-OST0001', 'small-OST0002'] as const

const open = (file: string): History => {
  const opened = History.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.why)
  return opened.value
}
/** Claims less debts of every job at a sample. */
function balances(monitor: ClusterMonitor, sample: number, target: string): Map<string, number> | undefined {
  const debts = debtsAt(monitor, sample, target)
  if (!debts) return undefined
  const sums = new Map<string, number>()
  for (const { lender, borrower, tokens } of debts) {
    expect(tokens).toBeGreaterThan(0)
    sums.set(lender, (sums.get(lender) ?? 0) + tokens)
    sums.set(borrower, (sums.get(borrower) ?? 0) - tokens)
  }
  return sums
}
/** Pairs and records of every job agree at a sample, on every target and in total; returns jobs with a record. */
function expectEven(monitor: ClusterMonitor, sample: number): number {
  const { raw, shares } = monitor.recent
  let withRecord = 0
  for (const target of ['', ...monitor.targets.map((t) => t.target)]) {
    const sums = balances(monitor, sample, target)
    expect(sums).toBeDefined()
    let total = 0
    for (const { jobId } of monitor.jobs.all) {
      const name = shareName(jobId, target)
      const record =
        target === '' ? raw.jobs.value(jobId, jobColumn('record'), sample) : shares.value(name, RECORD, sample)
      expect(sums?.get(jobId) ?? 0, `${jobId} on ${target} at ${sample}`).toBe(Number.isNaN(record) ? 0 : record)
      total += Number.isNaN(record) ? 0 : record
      if (record !== 0 && !Number.isNaN(record)) withRecord++
    }
    expect(total).toBe(0)
  }
  return withRecord
}
const recordsOf = (c: Emulated, target: string): [string, number][] =>
  [...c.monitor.jobs.all]
    .map((j): [string, number] => [
      j.jobId,
      c.monitor.recent.shares.value(shareName(j.jobId, target), RECORD, c.monitor.sample),
    ])
    .filter(([, v]) => v !== 0 && !Number.isNaN(v))
    .sort()

describe('who owes whom', () => {
  it('sums to every record at every sample, on every target, now and looked back at', async () => {
    const c = emulatedCluster(demo())
    let most = 0
    await c.run(8, () => {
      if (c.monitor.sample > 0) most = Math.max(most, expectEven(c.monitor, c.monitor.sample))
    })
    expect(most).toBeGreaterThan(20)
    for (let sample = 1; sample <= c.monitor.sample; sample += 3) expectEven(c.monitor, sample)
  })

  it('is in the frames: the footer reads 0 for every choice, and the inspector adds up', async () => {
    const c = emulatedCluster(demo())
    await c.run(6)
    const { sample } = c.monitor
    for (const at of [null, sample - 13]) {
      for (const target of ['', ...c.monitor.targets.map((t) => t.target), 'no-such-target']) {
        const f = jobsFrame(c.monitor, { ...query, at, target }, 1)
        expect([f.target, f.totals.record]).toEqual([target, 0])
        expect(f.targets).toHaveLength(4)
        for (const [i, jobId] of f.rows.jobId.entries()) {
          const job = jobFrame(c.monitor, { at, windowMs: 10_000, target, jobId }, 1)
          const pairs = job.pairs?.tokens.reduce((s, n) => s + n, job.pairs.rest)
          expect(pairs, `${jobId} ${target}`).toBe(f.rows.record[i] ?? 0)
          expect(job.record).toBe(f.rows.record[i])
          // The lines of a ledger that starts with the job add up to its record.
          if (job.ledger.length < 40) expect(job.ledger.reduce((s, l) => s + l.tokens, 0)).toBe(job.record ?? 0)
        }
      }
    }
    const listed = jobsFrame(c.monitor, { ...query, limit: 1 }, 1)
    const [only] = listed.rows.jobId
    for (const [i, lender] of (listed.pairs?.lender ?? []).entries())
      expect([lender, listed.pairs?.borrower[i]]).toContain(only)
  })

  it('shows demand against what was allocated, and the share against what nodes give', async () => {
    const c = emulatedCluster(twoJobs(), { mode: 'enforce' })
    await c.run(6)
    for (const target of ['', DATA[0]]) {
      const f = jobFrame(c.monitor, { at: null, windowMs: 10_000, target, jobId: '1.hog.u1' }, 1)
      const of = (m: 'demand' | 'allocated' | 'rpcs') => f.series[m].slice(-10).map((v) => v ?? NaN)
      const mean = (values: number[]): number => values.reduce((s, v) => s + v, 0) / values.length
      // It is limited to its rate, so it wants more than it is given, and gets all that it is given.
      expect(mean(of('demand'))).toBeGreaterThan(mean(of('allocated')))
      expect(mean(of('rpcs')) / mean(of('allocated'))).toBeGreaterThan(0.8)
      expect(f.entitled).toBeCloseTo(1 / 3)
      expect(f.share).toBeGreaterThan(0)
    }
    const part = jobFrame(c.monitor, { at: null, windowMs: 10_000, target: DATA[1], jobId: '1.hog.u1' }, 1)
    expect(part.series.allowed.every((v) => v === null)).toBe(true)
    expect(part.ledger.every((l) => l.target === DATA[1])).toBe(true)
  })

  it('is forgotten with the controller, and a past before that is not made up', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(3)
    const before = c.monitor.sample
    expect(debtsAt(c.monitor, before - 5, '')?.length).toBeGreaterThan(0)
    c.monitor.setController('static')
    await c.run(4)
    expect(debtsAt(c.monitor, c.monitor.sample, '')).toEqual([])
    expect(debtsAt(c.monitor, before - 5, '')).toBeUndefined()
    expect(jobFrame(c.monitor, { ...query, at: before - 5, jobId: '1.hog.u1' }, 1).pairs).toBeNull()
    c.monitor.setController('adaptbf')
    await c.run(6)
    expectEven(c.monitor, c.monitor.sample)
  })
})

describe('a period that was not observed', () => {
  it('holds the records of the server that is away: they are shown, do not move and sum to zero', async () => {
    let isAway = false
    const c = emulatedCluster(demo(), {
      around: (node) => ({
        ...node,
        exec: async (command) => {
          if (isAway && node.host === 'oss02') return lost('timed out')
          return node.exec(command)
        },
      }),
    })
    await c.run(4)
    const away = c.monitor.targets.filter((t) => t.node === 'oss02').map((t) => t.target)
    const before = away.map((t) => recordsOf(c, t))
    expect(before.flat().length).toBeGreaterThan(3)
    const decided = c.history.count('decision')
    isAway = true
    await c.run(6, () => {
      expect(away.map((t) => recordsOf(c, t))).toEqual(before)
      expect(c.monitor.loop.controllers.report(away[0]!)?.held?.code).toBe('NOT_OBSERVED')
      expectEven(c.monitor, c.monitor.sample)
      expect(jobsFrame(c.monitor, query, 1).totals.record).toBe(0)
    })
    // Held periods were not decided: the history has only the decisions of the other server.
    expect(c.history.count('decision')).toBe(decided + 20 * 2)
    isAway = false
    await c.run(6.15)
    expect(away.map((t) => recordsOf(c, t))).toEqual(before)
    await c.run(8, () => expectEven(c.monitor, c.monitor.sample))
    expect(away.map((t) => recordsOf(c, t))).not.toEqual(before)
    expect(c.monitor.failures).toEqual([])
  })
})

describe('a server of which one target has no measure yet', () => {
  it('is held as a whole for that period: its rules are sums over its targets', async () => {
    let isHidden = false
    const c = emulatedCluster(demo(), {
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const r = await node.exec(command)
          if (!isHidden || node.host !== 'oss01' || !command.includes('job_stats')) return r
          return edited(r, (text) => {
            const at = text.indexOf('obdfilter.demo-OST0001.job_stats=')
            return text.slice(0, at) + text.slice(text.indexOf('ost.OSS', at))
          })
        },
      }),
    })
    await c.run(4)
    isHidden = true
    await c.run(4.45)
    expect(c.monitor.reading('oss01')?.targets.map((t) => t.target)).toEqual(['demo-OST0000'])
    const changes = c.writes().length
    expect(changes).toBeGreaterThan(0)
    isHidden = false
    await c.run(4.55)
    const held = (t: string) => c.monitor.loop.controllers.report(t)?.held?.code
    expect(['demo-OST0000', 'demo-OST0001', 'demo-OST0002'].map(held)).toEqual([
      'NOT_OBSERVED',
      'NOT_OBSERVED',
      undefined,
    ])
    expect(
      c
        .writes()
        .slice(changes)
        .filter((w) => w.host === 'oss01'),
    ).toEqual([])
    await c.run(5, () => expectEven(c.monitor, c.monitor.sample))
    expect(held('demo-OST0001')).toBeUndefined()
    expect(c.monitor.failures).toEqual([])
  })
})

describe('a period', () => {
  it.each([50, 1000, 10_000])('of %i ms controls, and the ledger is even', async (period_ms) => {
    const jobs = [{ id: '1.hog.u1' }, { id: '2.calm.u2', clients: [2, 3], processes: 2 }]
    const c = emulatedCluster(smallScenario(jobs, { period_ms }))
    let withRecord = 0
    await c.run((period_ms / 1000) * 8, () => {
      if (c.monitor.sample > 0) withRecord += expectEven(c.monitor, c.monitor.sample)
    })
    expect(withRecord).toBeGreaterThan(0)
    expect(c.monitor.loop.controllers.report(DATA[0])?.held).toBeUndefined()
    expect(c.monitor.failures).toEqual([])
  })
})

describe('odd input', () => {
  it('a job that a server lists twice is one job', async () => {
    const c = emulatedCluster(twoJobs(), {
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const twice = /^(- job_id: +1\.hog[\s\S]*?)(?=^- job_id|^ost\.)/gm
          return edited(await node.exec(command), (text) => text.replace(twice, '$1$1'))
        },
      }),
    })
    await c.run(4, () => c.monitor.sample > 0 && expectEven(c.monitor, c.monitor.sample))
    expect(c.monitor.reading('oss01')?.targets[0]?.entries.map((e) => e.jobId)).toEqual([
      '1.hog.u1',
      '1.hog.u1',
      '2.calm.u2',
    ])
    expect(jobsFrame(c.monitor, query, 1).rows.jobId.toSorted()).toEqual(['1.hog.u1', '2.calm.u2'])
    expect(c.monitor.loop.controllers.report(DATA[0])?.held).toBeUndefined()
    expect(c.monitor.failures).toEqual([])
  })

  it('a clock that goes backwards holds the records for one period and is reported', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(3)
    const before = DATA.map((t) => recordsOf(c, t))
    c.source.emulator.sim.runUntil(3.1 * NS_PER_S)
    await c.monitor.tick(2.5 * NS_PER_S)
    expect(c.monitor.loop.controllers.report(DATA[0])?.held?.code).toBe('CLOCK_BACKWARDS')
    expect(DATA.map((t) => recordsOf(c, t))).toEqual(before)
    const output = c.monitor.events.between(-Infinity, Infinity, 50).filter((e) => e.text.includes('ends before'))
    expect(output.map((e) => e.where).sort()).toEqual([...DATA])
    c.source.emulator.sim.runUntil(3.2 * NS_PER_S)
    await c.monitor.tick(2.6 * NS_PER_S)
    expect(c.monitor.loop.controllers.report(DATA[0])?.held).toBeUndefined()
    expect(c.monitor.failures).toEqual([])
    expect(jobsFrame(c.monitor, query, 1).totals.record).toBe(0)
  })

  it('a job without a number of nodes is unmapped and counts as one node', async () => {
    const jobs = [{ id: '1.named.u1' }, { id: 'login.rsync', in_slurm: false }]
    const c = emulatedCluster(smallScenario(jobs))
    await c.run(4)
    const f = jobsFrame(c.monitor, { ...query, filter: 'is:unmapped' }, 1)
    expect([f.rows.jobId, f.rows.nodes]).toEqual([['login.rsync'], [null]])
    expect(f.facets.is).toContainEqual({ value: 'unmapped', count: 1 })
    expect(c.monitor.loop.controllers.report(DATA[0])?.unmapped).toEqual(['login.rsync'])
    const frame = jobFrame(c.monitor, { ...query, jobId: 'login.rsync' }, 1)
    expect([frame.nodes, frame.entitled]).toEqual([null, 0.5])
  })

  it('rules that are gone say nothing of how their tokens were used', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(4)
    const wanted = () => c.monitor.loop.controllers.report(DATA[0])?.demand.get('1.hog.u1') ?? 0
    const served = () => c.monitor.reading('oss01')?.targets[0]?.deltas?.find((d) => d.jobId === '1.hog.u1')?.rpcs ?? 0
    expect(wanted()).toBeGreaterThan(served())
    const node = c.source.emulator.node('oss01')
    for (const { name } of parseNrsTbfRule(c.rules('oss01')).rules.filter((r) => isControllerRule(r.name))) {
      node?.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg stop ${name}'`)
    }
    await c.run(4.15)
    expect(served()).toBeGreaterThan(0)
    expect(wanted()).toBe(served())
    await c.run(4.5)
    expect(wanted()).toBeGreaterThan(served())
  })
})

describe('a restart of the console', () => {
  /** Two consoles, one after the other, on one running world. */
  async function restarted(
    file: string,
    spoil: (file: string) => void = () => undefined,
  ): Promise<[Emulated, Emulated]> {
    const first = emulatedCluster(twoJobs(), { kind: 'LIVE', history: open(file) })
    await first.run(6)
    first.monitor.close()
    first.history.close()
    spoil(file)
    const second = emulatedCluster(twoJobs(), {
      kind: 'LIVE',
      history: open(file),
      source: first.source,
      session: 'next',
    })
    return [first, second]
  }

  it('continues with the records and debts of the same live cluster, under the rules still in force', async () => {
    const [first, second] = await restarted(join(tempFolder(), 'h.sqlite'))
    const records = DATA.map((t) => recordsOf(first, t))
    const pairs = debtsAt(first.monitor, first.monitor.sample, '')
    expect(records.flat().length).toBe(4)
    // The first reading is a base; the next is the first sample.
    await second.run(6.15)
    expect(second.monitor.sample).toBe(0)
    await second.run(6.25)
    expectEven(second.monitor, 1)
    const moved = DATA.map((t) => second.monitor.loop.controllers.report(t)?.moves ?? [])
    DATA.forEach((t, i) => {
      const now = new Map(records[i])
      for (const m of moved[i]!) {
        now.set(m.lender, (now.get(m.lender) ?? 0) + m.lent - m.reclaimed)
        now.set(m.borrower, (now.get(m.borrower) ?? 0) - m.lent + m.reclaimed)
      }
      expect(recordsOf(second, t)).toEqual([...now].filter(([, v]) => v !== 0).sort())
    })
    // Tokens are remembered, because their rules are there: the hog is known to be limited at once.
    const demand = second.monitor.loop.controllers.report(DATA[0])?.demand.get('1.hog.u1') ?? 0
    const reading = second.monitor.reading('oss01')?.targets[0]?.deltas?.find((d) => d.jobId === '1.hog.u1')
    expect(demand).toBeGreaterThan(reading?.rpcs ?? NaN)
    expect(
      second.monitor.events.between(-Infinity, Infinity, 20).filter((e) => e.text.includes('restored')),
    ).toHaveLength(2)
    expect(second.monitor.failures).toEqual([])
    await second.run(9, () => expectEven(second.monitor, second.monitor.sample))
    // Earlier debts keep the time at which they began, and older lines come from the history.
    const restoredMs = second.source.toUnixMs(6 * NS_PER_S)
    const old = (debtsAt(second.monitor, 1, '') ?? []).filter((d) => (d.sinceMs ?? Infinity) < restoredMs)
    expect(old.length).toBeGreaterThan(0)
    for (const { lender, borrower, sinceMs } of old) {
      const before = pairs?.find((p) => p.lender === lender && p.borrower === borrower)
      expect(sinceMs).toBeCloseTo(before?.sinceMs ?? NaN, 3)
    }
    const ledger = jobFrame(second.monitor, { ...query, jobId: '1.hog.u1' }, 1).ledger
    expect(Math.min(...ledger.map((l) => l.atMs))).toBeLessThan(restoredMs)
    second.history.close()
  })

  it('starts without records if they cannot be read, and reports it', async () => {
    const [, second] = await restarted(join(tempFolder(), 'h.sqlite'), (file) => {
      const db = new Database(file)
      db.exec(`UPDATE adaptbf_state SET state = replace(state, '"record":', '"record":1') WHERE target = '${DATA[0]}'`)
      db.exec(`UPDATE adaptbf_state SET state = 'no JSON' WHERE target = '${DATA[1]}'`)
      db.close()
    })
    await second.run(9, () => second.monitor.sample > 0 && expectEven(second.monitor, second.monitor.sample))
    expect(second.monitor.failures).toMatchObject([{ code: 'BAD_STATE' }])
    expect(second.monitor.failures[0]?.what).toContain(DATA[0])
    second.history.close()
  })

  it('does not bring back what another controller ended', async () => {
    const file = join(tempFolder(), 'h.sqlite')
    const first = emulatedCluster(twoJobs(), { kind: 'LIVE', history: open(file) })
    await first.run(4)
    first.monitor.setController('static')
    first.monitor.setController('adaptbf')
    first.monitor.close()
    first.history.close()
    const second = emulatedCluster(twoJobs(), {
      kind: 'LIVE',
      history: open(file),
      source: first.source,
      session: 'next',
    })
    const kept = new LedgerStateStore(second.monitor.source, second.history)
    expect(DATA.map((t) => kept.load(t))).toEqual([
      { ok: true, value: undefined },
      { ok: true, value: undefined },
    ])
    await second.run(5, () => second.monitor.sample > 0 && expectEven(second.monitor, second.monitor.sample))
    expect(second.monitor.events.between(-Infinity, Infinity, 20).filter((e) => e.text.includes('restored'))).toEqual(
      [],
    )
    second.history.close()
  })

  it('of an emulated cluster begins a new world, with the same scenario, seed and epoch too', async () => {
    const file = join(tempFolder(), 'h.sqlite')
    for (const expected of [0, 1]) {
      const c = emulatedCluster(twoJobs(), { history: open(file) })
      await c.run(0.1)
      expect(DATA.flatMap((t) => c.monitor.loop.controllers.pairs(t)?.pairs() ?? [])).toEqual([])
      await c.run(4)
      c.monitor.close()
      expect(c.history.count('adaptbf_state')).toBe(0)
      expect(c.history.count('adaptbf_moves') > 0).toBe(true)
      expect(c.history.count('source')).toBe(expected + 1)
      c.history.close()
    }
  })
})

describe('settings', () => {
  const changes = (c: Emulated): number =>
    c.writes().reduce((n, w) => n + w.command.split("'reg change ").length - 1, 0)

  it('are the paper by default, can be changed while it runs, and keep records and debts', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(3)
    expect(c.monitor.loop.controllers.options).toMatchObject({ demand: 'saturation', deadbandPercent: 0 })
    const before = DATA.map((t) => recordsOf(c, t))
    expect(c.monitor.setControllerOptions({ demand: 'served', coefficient: 'min' }).ok).toBe(true)
    expect(c.records.at(-1)).toMatchObject({ kind: 'mode', text: 'adaptbf demand=served coefficient=min' })
    const pairs = debtsAt(c.monitor, c.monitor.sample, '')
    expect(DATA.map((t) => recordsOf(c, t))).toEqual(before)
    expect(pairs?.length).toBeGreaterThan(0)
    await c.run(5, () => expectEven(c.monitor, c.monitor.sample))
    const report = c.monitor.loop.controllers.report(DATA[0])
    const deltas = c.monitor.reading('oss01')?.targets[0]?.deltas ?? []
    expect(report?.demand.get('1.hog.u1')).toBe(deltas.find((d) => d.jobId === '1.hog.u1')?.rpcs)
  })

  it('refuse what is out of range with a notice, put nothing on record and change nothing', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(1)
    const before = [c.records.length, c.monitor.loop.controllers.options]
    for (const [change, code] of [
      [{ deadbandPercent: 80 }, 'BAD_DEADBAND'],
      [{ overdraft: -0.1 }, 'BAD_OVERDRAFT'],
      [{ spill: true }, 'ONLY_IN_SERVER'],
    ] as const) {
      expect(c.monitor.setControllerOptions(change)).toMatchObject({ ok: false, error: { code } })
    }
    expect([c.records.length, c.monitor.loop.controllers.options]).toEqual(before)
    const live = emulatedCluster(twoJobs(), { kind: 'LIVE' })
    for (const [change, code] of [
      [{ demand: 'backlog' }, 'DEMAND_NOT_MEASURED'],
      [{ autoT: true }, 'NO_DEVICE_TIME'],
    ] as const) {
      expect(live.monitor.setControllerOptions(change)).toMatchObject({ ok: false, error: { code } })
    }
  })

  it('the deadband spares changes', async () => {
    const run = async (percent: number): Promise<number> => {
      const c = emulatedCluster(
        smallScenario([{ id: '1.hog.u1' }, { id: '2.calm.u2', clients: [2, 3], processes: 2 }], {
          adaptbf: { deadband_percent: percent },
        }),
      )
      await c.run(6)
      expect(c.monitor.failures).toEqual([])
      return changes(c)
    }
    const all = await run(0)
    const some = await run(50)
    expect(all).toBeGreaterThan(20)
    expect(some).toBeLessThan(all / 2)
  })

  it.each(['dispatched', 'arrivals', 'backlog'] as const)(
    'demand %s comes from the emulator itself',
    async (demand) => {
      const c = emulatedCluster(twoJobs())
      expect(c.monitor.setControllerOptions({ demand }).ok).toBe(true)
      await c.run(4, () => c.monitor.sample > 0 && expectEven(c.monitor, c.monitor.sample))
      const report = c.monitor.loop.controllers.report(DATA[0])
      expect(report?.substituted).toBe(0)
      expect(report?.demand.get('1.hog.u1')).toBeGreaterThan(0)
    },
  )

  it('autoT finds what the device can serve', async () => {
    // 4 channels of 20 ms: 196 RPC/s, and T is half of that.
    const scenario = smallScenario([{ id: '1.hog.u1' }], { adaptbf: { auto_t: true, demand: 'backlog' } })
    const c = emulatedCluster({ ...scenario, control: { ...scenario.control, max_rate: 100 } })
    await c.run(20)
    expect(c.monitor.loop.controllers.maxRate(DATA[0])).toBeGreaterThan(150)
    expect(c.monitor.loop.controllers.maxRate(DATA[0])).toBeLessThan(215)
  })
})

describe('the lag of the control loop', () => {
  /** Lag after each sample, on a cluster whose clock advances with each command that writes. */
  async function lagsOf(kind: 'LIVE' | 'EMULATED', commandNs: number): Promise<ControlLag[]> {
    let lateNs = 0
    const lags: ControlLag[] = []
    const c = emulatedCluster(twoJobs(), {
      kind,
      mode: 'enforce',
      controller: 'adaptbf',
      around: (node) => ({
        ...node,
        exec: (command) => {
          if (command.includes('set_param')) lateNs += commandNs
          return node.exec(command)
        },
      }),
    })
    c.monitor.source.nowNs = () => c.source.nowNs() + lateNs
    await c.run(5, () => {
      const { lag } = c.monitor.loop.controllers
      if (lag) lags.push(lag)
      lateNs = 0
    })
    return lags
  }

  it('is told to the controller: the age of the counters, and when the last rules came into force in the period', async () => {
    const lags = await lagsOf('LIVE', 10e6)
    const writes = lags.flatMap(({ write }) => write ?? [])
    expect(writes.length).toBeGreaterThan(3)
    for (const { leastNs, mostNs } of writes) {
      expect(leastNs).toBeGreaterThanOrEqual(0)
      expect(mostNs).toBeGreaterThanOrEqual(10e6)
      expect(mostNs).toBeGreaterThan(leastNs)
    }
    expect(lags.length).toBeGreaterThan(writes.length)
  })

  it('is none where writes take no time', async () => {
    const lags = await lagsOf('EMULATED', 0)
    expect(lags.length).toBeGreaterThan(10)
    for (const lag of lags) expect(lag).toEqual({ ageNs: 0, write: undefined })
  })
})

describe('the limit on writes', () => {
  it('spreads changes over periods, says how many are put off, and makes them later', async () => {
    const jobs = Array.from({ length: 12 }, (_, i) => ({ id: `${i}.job.u1`, processes: 1 }))
    const c = emulatedCluster(smallScenario(jobs), { fences: { ...MODEL_FENCES, changesPerSec: 3 } })
    const counts = new Set<number>()
    let started = 0
    await c.run(6, () => {
      const outcome = c.monitor.loop.outcome('oss01')
      const made = outcome?.plan.commands.filter((p) => p.verb !== 'stop').length ?? 0
      expect(made).toBeLessThanOrEqual(3)
      if (outcome?.putOff) counts.add(outcome.putOff)
      if (outcome?.putOff) expect(outcome.detail).toMatch(/\d+ changes? put off: at most 3 changes\/s on a server$/)
      started = Math.max(started, (c.rules('oss01').match(/^ab_/gm) ?? []).length)
    })
    expect(Math.max(...counts)).toBeGreaterThan(3)
    expect(started).toBe(12)
    expect(c.monitor.failures).toEqual([])
    // One timer covers the rules that are put off, too.
    expect(c.sent.filter((s) => s.host === 'oss01' && s.command.startsWith('systemd-run')).length).toBeLessThanOrEqual(
      2,
    )
  })
})
