import { ENDED_JOBS } from '#core/adaptbf/ended-jobs.ts'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import {
  demo,
  emulatedCluster,
  smallScenario,
  twoJobs,
  type Emulated,
  jobsQuery as query,
} from '../../tests/node/emulated-cluster.ts'
import { firstBrokenRecord } from '../base/audit.ts'
import { History } from '../history/history.ts'
import { jobHits } from '../host/search/subjects.ts'
import { overviewFrame } from '../host/views/overview.ts'
import { isPresent } from '../host/position.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'
import { debtsAt, pairsOf } from '../host/views/pairs.ts'
import { RuleService } from '../host/rules/rule-service.ts'
import { QUICK } from '../../tests/node/rule-service.ts'
import { rulesFrame } from '../host/views/rules/rules.ts'
import { LongView } from '../recorded/long-view.ts'
import type { NodeConnection } from '../base/connection.ts'
import { jobColumn, shareName, TOTAL, totalColumn } from './state/recent.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const EPOCH = 1_767_225_600_000
const OSS = ['oss01', 'oss02'] as const
const ourNames = (text: string): string[] =>
  parseNrsTbfRule(text)
    .rules.filter((r) => isControllerRule(r.name))
    .map((r) => r.name)
const foreign = (host: string, c: Emulated): void => {
  const node = c.source.emulator.node(host)
  const r = node?.exec("lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start night_batch jobid={9.*} rate=77'")
  expect(r?.code).toBe(0)
}

describe('the modes', () => {
  it('enforce: rules are in force on both servers within five seconds, each under a timer', async () => {
    const c = emulatedCluster(demo())
    await c.run(5)
    for (const host of OSS) {
      const names = ourNames(c.rules(host))
      expect(names.length).toBeGreaterThan(1)
      expect(c.source.emulator.node(host)?.timers.size).toBe(1)
      expect(c.monitor.loop.outcome(host)?.state).toBe('applied')
    }
    expect(c.monitor.failures).toEqual([])
    expect(firstBrokenRecord(c.records)).toBeUndefined()
  })

  it('enforce: no rule is sent before the timer that removes it', async () => {
    const c = emulatedCluster(demo())
    await c.run(6)
    for (const host of OSS) {
      const covered = new Set<string>()
      for (const s of c.sent.filter((x) => x.host === host)) {
        if (s.command.startsWith('systemd-run')) {
          for (const m of s.command.matchAll(/reg stop (\w+)/g)) covered.add(m[1] as string)
        }
        const started = /reg start (\w+)/.exec(s.command)?.[1]
        if (started !== undefined) expect(covered).toContain(started)
      }
      expect(covered.size).toBeGreaterThan(1)
    }
  })

  it('enforce: everything that changes a server is on record before it is sent', async () => {
    const order: string[] = []
    const c = emulatedCluster(twoJobs(), {
      onAudit: (r) => {
        if (r.kind === 'intent') order.push(...r.text.split('\n').map((t) => `audit ${t}`))
      },
      around: (node) => ({
        ...node,
        exec: (command) => {
          order.push(command)
          return node.exec(command)
        },
      }),
    })
    await c.run(3)
    const changes = order.filter((o) => /^((test -e .* && )?lctl set_param|systemd-run|systemctl (?!show ))/.test(o))
    expect(changes.length).toBeGreaterThan(4)
    for (const [i, o] of order.entries()) {
      if (changes.includes(o)) expect(order.slice(0, i)).toContain(`audit ${o}`)
    }
  })

  it('observe: nothing is ever written', async () => {
    const c = emulatedCluster(demo(), { mode: 'observe' })
    await c.run(5)
    expect(c.writes()).toEqual([])
    expect(c.sent.filter((s) => s.command.startsWith('system'))).toEqual([])
    expect(c.records).toEqual([])
    expect(c.monitor.jobs.size).toBeGreaterThan(5)
  })

  it('advise: plans are shown and nothing is written', async () => {
    const c = emulatedCluster(demo(), { mode: 'advise' })
    await c.run(5)
    for (const host of OSS) {
      const shown = c.monitor.loop.outcome(host)
      expect(shown?.state).toBe('shown')
      expect(shown?.plan.commands.length).toBeGreaterThan(0)
    }
    expect(c.writes()).toEqual([])
    expect(c.sent.filter((s) => s.command.startsWith('system'))).toEqual([])
  })

  it.each(['observe', 'advise'] as const)(
    'leaving enforce for %s restores the rules byte for byte, foreign ones included, and takes the timers away',
    async (mode) => {
      // All jobs end before, so that the counts of attached classes no longer change.
      const jobs = ['1.a.u1', '2.b.u2'].map((id) => ({ id, stop_s: 3 }))
      const c = emulatedCluster(smallScenario(jobs), { mode: 'observe' })
      for (const host of OSS) foreign(host, c)
      await c.run(1)
      const before = OSS.map((host) => c.rules(host))
      expect(before[0]).toContain('night_batch jobid={9.*} 77, ref 0')
      c.monitor.setMode('enforce')
      await c.run(2)
      for (const host of OSS) expect(ourNames(c.rules(host))).toHaveLength(2)
      c.monitor.setMode(mode)
      await c.run(3)
      expect(OSS.map((host) => c.rules(host))).toEqual(before)
      for (const host of OSS) expect(c.source.emulator.node(host)?.timers.size).toBe(0)
      const written = c.writes().length
      await c.run(3.5)
      expect(c.writes()).toHaveLength(written)
    },
  )

  it('go back over a server that was away: its rules are removed when it returns', async () => {
    let isAway = false
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      around: (node) => ({
        ...node,
        exec: async (command) => {
          if (isAway && node.host === 'oss02') return lost('timed out')
          return node.exec(command)
        },
      }),
    })
    await c.run(2)
    isAway = true
    await c.run(2.5)
    c.monitor.setMode('observe')
    await c.run(3)
    expect(ourNames(c.rules('oss01'))).toEqual([])
    expect(ourNames(c.rules('oss02'))).not.toEqual([])
    isAway = false
    await c.run(3.5)
    expect(ourNames(c.rules('oss02'))).toEqual([])
  })
})

describe('a console that stops', () => {
  it('leaves no rule of its own after a minute, and every foreign one', async () => {
    const c = emulatedCluster(twoJobs(), { mode: 'enforce' })
    for (const host of OSS) foreign(host, c)
    // Long enough that timers were renewed: the newest must count, not the first.
    await c.run(45)
    for (const host of OSS) expect(ourNames(c.rules(host))).toHaveLength(2)
    c.source.emulator.sim.runUntil(45 * NS_PER_S + 60 * NS_PER_S)
    for (const host of OSS) {
      expect(ourNames(c.rules(host))).toEqual([])
      expect(c.rules(host)).toContain('night_batch jobid={9.*} 77')
    }
  })
})

describe('a timer that cannot be made', () => {
  it('on one server: no rule is written there, that is shown, and the other server is controlled', async () => {
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      around: (node) => ({
        ...node,
        exec: async (command) =>
          node.host === 'oss01' && command.startsWith('systemd-run')
            ? printed('', 'sh: systemd-run: not found\n', 127)
            : node.exec(command),
      }),
    })
    await c.run(3)
    expect(c.writes().filter((s) => s.host === 'oss01')).toEqual([])
    expect(c.monitor.failures).toMatchObject([{ code: 'LEASE_FAILED', why: 'sh: systemd-run: not found' }])
    expect(c.monitor.failures[0]?.what).toContain('oss01')
    expect(ourNames(c.rules('oss02'))).toHaveLength(2)
  })
})

describe('an audit that cannot be written', () => {
  it('stops every write and is shown, while sampling continues; and ends by itself', async () => {
    let isFull = false
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      onAudit: () => {
        if (isFull) throw new Error('database or disk is full')
      },
    })
    await c.run(2)
    isFull = true
    const changes = (): number => c.sent.filter((s) => /set_param|^system/.test(s.command)).length
    const written = changes()
    const sample = c.monitor.sample
    c.source.emulator.jobs.forEach((j) => expect(j.running).toBe(true))
    await c.run(40)
    expect(changes()).toBe(written)
    expect(c.monitor.sample).toBe(sample + 380)
    const rpcs = totalColumn('rpcs')
    expect(c.monitor.recent.raw.totals.value(TOTAL, rpcs, c.monitor.sample)).toBeGreaterThan(0)
    // The first due command is the lease renewal.
    expect(c.monitor.failures.map((f) => f.code)).toEqual(['NOT_ON_RECORD', 'NOT_ON_RECORD'])
    expect(c.monitor.failures[0]?.why).toContain('disk is full')
    isFull = false
    await c.run(41)
    expect(c.monitor.failures).toEqual([])
    expect(changes()).toBeGreaterThan(written)
    expect(firstBrokenRecord(c.records)).toBeUndefined()
  })

  it('refuses the way into enforce, and never the way out', async () => {
    let isFull = true
    const c = emulatedCluster(twoJobs(), {
      mode: 'advise',
      onAudit: () => {
        if (isFull) throw new Error('full')
      },
    })
    expect(c.monitor.setMode('enforce')).toMatchObject({ ok: false, error: { code: 'NOT_ON_RECORD' } })
    expect(c.monitor.loop.mode).toBe('advise')
    expect(c.monitor.setController('static')).toMatchObject({ ok: false })
    expect(c.monitor.loop.controller).toBe('adaptbf')
    isFull = false
    expect(c.monitor.setMode('enforce').ok).toBe(true)
    isFull = true
    expect(c.monitor.setMode('observe')).toMatchObject({ ok: false, error: { code: 'NOT_ON_RECORD' } })
    expect(c.monitor.loop.mode).toBe('observe')
  })
})

describe('a history that takes nothing', () => {
  it('is shown, and neither samples nor control end', async () => {
    const opened = History.open(':memory:', 0)
    if (!opened.ok) throw new Error('no history')
    const c = emulatedCluster(twoJobs(), { mode: 'advise', history: opened.value })
    await c.run(2)
    expect(c.monitor.isRecording).toBe(true)
    opened.value.close()
    let heard = 0
    c.monitor.onChange(() => heard++)
    await c.run(5)
    expect(c.monitor.sample).toBe(49)
    expect(heard).toBe(30)
    expect(c.monitor.isRecording).toBe(false)
    expect(c.monitor.failures).toMatchObject([{ code: 'HISTORY_NOT_WRITTEN' }])
  })
})

describe('an error inside a sample', () => {
  it('is shown and does not end the sampling', async () => {
    const c = emulatedCluster(twoJobs(), { mode: 'observe' })
    await c.run(1)
    const collect = c.monitor.jobs.meet.bind(c.monitor.jobs)
    let breaks = true
    c.monitor.jobs.meet = (...args) => {
      if (breaks) throw new TypeError('cannot read properties of undefined')
      return collect(...args)
    }
    await c.run(2)
    expect(c.monitor.failures).toMatchObject([{ code: 'SAMPLE_FAILED', why: 'cannot read properties of undefined' }])
    breaks = false
    await c.run(3)
    expect(c.monitor.failures).toEqual([])
  })

  it('continues if a reader that no sample waits for fails, and reports it', async () => {
    for (const parameter of ['ldlm', 'brw_stats', 'timeouts']) {
      const c = emulatedCluster(twoJobs(), {
        around: (node) => ({
          ...node,
          exec: (command) =>
            command.includes(parameter)
              ? Promise.reject(new TypeError(`${parameter} is undefined`))
              : node.exec(command),
        }),
      })
      const output = new Set<string>()
      await c.run(3, () => c.monitor.failures.forEach((f) => output.add(`${f.code} ${f.why}`)))
      expect([parameter, ...output]).toContain(`SAMPLE_FAILED ${parameter} is undefined`)
      expect(c.monitor.sample).toBeGreaterThan(10)
    }
  })
})

describe('the ledger', () => {
  it('sums to zero over all jobs at every sample, in all and on every target, and lent equals borrowed', async () => {
    const c = emulatedCluster(demo())
    const { raw, shares } = c.monitor.recent
    const lent = { samples: 0, most: 0 }
    await c.run(8, () => {
      const { sample, jobs } = c.monitor
      if (sample === 0) return
      // A job that only uses metadata has no tokens on any OST, and no record.
      const data = [...jobs.all].filter((j) => [...j.targets].some((t) => t.includes('OST')))
      const records = data.map((j) => raw.jobs.value(j.jobId, jobColumn('record'), sample))
      expect(records.every((r) => Number.isInteger(r))).toBe(true)
      expect(records.reduce((s, r) => s + r, 0)).toBe(0)
      const l = raw.totals.value(TOTAL, totalColumn('lent'), sample)
      expect(l).toBe(raw.totals.value(TOTAL, totalColumn('borrowed'), sample))
      if (l > 0) lent.samples++
      lent.most = Math.max(lent.most, l)
    })
    expect(lent.samples).toBeGreaterThan(30)
    const ledgers = c.monitor.targets.map((t) => {
      const last = [...c.monitor.jobs.all].map((j) => shares.value(shareName(j.jobId, t.target), 2, c.monitor.sample))
      return last.filter((v) => !Number.isNaN(v))
    })
    expect(ledgers.every((l) => l.length > 0)).toBe(true)
    const frame = jobsFrame(c.monitor, query, 1)
    expect(frame.totals.record).toBe(0)
    expect(frame.ledger.lent).toEqual(frame.ledger.borrowed)
    expect(Math.max(...frame.ledger.lent)).toBeGreaterThan(0)
  })

  it('of each target sums to zero in every decision', async () => {
    const c = emulatedCluster(demo())
    const begin = c.monitor.loop.begin.bind(c.monitor.loop)
    let decisions = 0
    c.monitor.loop.begin = (...args) => {
      const begun = begin(...args)
      for (const d of begun.period.decisions) {
        decisions++
        expect([...d.records.values()].reduce((s, r) => s + r, 0)).toBe(0)
        expect(d.allocations.reduce((s, a) => s + a.recordDelta, 0)).toBe(0)
      }
      return begun
    }
    await c.run(5)
    expect(decisions).toBe(49 * 4)
    expect(c.monitor.failures).toEqual([])
  })

  it.each(['static', 'none'] as const)('is not there under %s: records are null, not zero', async (controller) => {
    const c = emulatedCluster(twoJobs(), { mode: 'enforce', controller })
    await c.run(3)
    const frame = jobsFrame(c.monitor, query, 1)
    expect(frame.rows.jobId).toHaveLength(2)
    expect(frame.rows.record).toEqual([null, null])
    expect(OSS.map((host) => ourNames(c.rules(host)).length)).toEqual(controller === 'static' ? [2, 2] : [0, 0])
  })
})

describe('a run', () => {
  it('with the same seed shows the same frames, and with another seed others', async () => {
    const frames = async (seed: number): Promise<string> => {
      const c = emulatedCluster(demo(), { seed })
      const out: string[] = []
      await c.run(4, () => {
        if (c.monitor.sample % 10 !== 5) return
        out.push(JSON.stringify([jobsFrame(c.monitor, query, 1), overviewFrame(c.monitor, query, 1)]))
      })
      return out.join('\n')
    }
    const first = await frames(7)
    expect(first.length).toBeGreaterThan(1000)
    expect(await frames(7)).toBe(first)
    expect(await frames(8)).not.toBe(first)
  })
})

describe('a node that stops answering', () => {
  const outage = (away: readonly string[]): { c: Emulated; set: (v: boolean) => void } => {
    let isAway = false
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      around: (node: NodeConnection) => ({
        ...node,
        exec: async (command) => {
          if (isAway && away.includes(node.host)) return lost('connection reset')
          return node.exec(command)
        },
      }),
    })
    return { c, set: (v) => (isAway = v) }
  }

  it('is a gap, not a zero, until there is a rate again; the other node continues', async () => {
    const { c, set } = outage(['oss02'])
    const { raw } = c.monitor.recent
    const rate = (target: string, s: number): number => raw.targets.value(target, 0, s)
    await c.run(2)
    set(true)
    await c.run(4)
    const lost = c.monitor.sample
    expect(c.monitor.missing.get('oss02')?.reason).toBe('connection reset')
    expect(c.monitor.targets.map((t) => t.target)).toEqual(['small-OST0001', 'small-OST0002'])
    const frame = overviewFrame(c.monitor, query, 1)
    expect(frame.targets.rpcs).toEqual([expect.any(Number) as number, null])
    expect(frame.targets.utilisation[1]).toBeNull()
    set(false)
    await c.run(6)
    expect(c.monitor.missing.size).toBe(0)
    for (let s = 21; s <= lost; s++) {
      expect(rate('small-OST0001', s)).toBeGreaterThan(0)
      expect(rate('small-OST0002', s)).toBeNaN()
    }
    // RPCs served in the gap belong to no sample: the first reading afterwards is a base.
    expect(rate('small-OST0002', lost + 1)).toBeNaN()
    expect(rate('small-OST0002', lost + 2)).toBeGreaterThan(0)
    expect(rate('small-OST0002', lost + 2)).toBeLessThan(400)
    const events = c.monitor.events.between(-Infinity, Infinity, 100).filter((e) => e.kind === 'lost')
    expect(events.map((e) => [e.level, e.where])).toEqual([
      ['ok', 'oss02'],
      ['bad', 'oss02'],
    ])
    expect(events[0]?.text).toBe('oss02 answers again after 2 s, gap kept')
    expect(c.monitor.failures).toEqual([])
  })

  it('keeps its rules as they are over the gap, and they are not relaxed by the first reading', async () => {
    const { c, set } = outage(['oss02'])
    await c.run(2)
    set(true)
    await c.run(3)
    set(false)
    const before = c.sent.length
    await c.run(3.1)
    expect(c.sent.slice(before).filter((s) => s.host === 'oss02' && s.command.includes('stop'))).toEqual([])
    expect(ourNames(c.rules('oss02'))).toHaveLength(2)
  })

  it('together with all others leaves samples that are gaps, so that no chart draws a line across', async () => {
    const { c, set } = outage(OSS)
    await c.run(2)
    set(true)
    await c.run(3)
    const { raw } = c.monitor.recent
    expect(c.monitor.sample).toBe(29)
    expect(raw.totals.value(TOTAL, totalColumn('rpcs'), 29)).toBeNaN()
    expect(raw.jobs.value('1.hog.u1', jobColumn('rpcs'), 29)).toBeNaN()
    const rules = (at: number | null) => {
      const { sample, tiles } = overviewFrame(c.monitor, { ...query, at }, 1)
      return [sample, tiles.find((t) => t.id === 'rules')?.value]
    }
    expect(rules(29)).toEqual([29, null])
    // A view without a time shows the last data, under its own time.
    expect(rules(null)).toEqual([19, 4])
    // A search reports of a job the same as the views.
    const [hog] = jobHits({ terms: ['hog'], limit: 5 }, new LongView(c.monitor), undefined).found
    expect(hog?.kind === 'job' && hog.rpcs).toBeGreaterThan(0)
    // The current state belongs to the last answer and to now, not to the silence between.
    await c.run(6)
    expect([18, 19, 40, c.monitor.sample].map((at) => isPresent(c.monitor, at))).toEqual([true, true, false, true])
    set(false)
    await c.run(7)
    expect(raw.totals.value(TOTAL, totalColumn('rpcs'), c.monitor.sample)).toBeGreaterThan(0)
  })
})

describe('hostile job ids', () => {
  const ids = [
    'two words',
    '{brace}',
    "it's",
    '"quoted"',
    'new\nline',
    '*',
    '$(reboot)',
    '`id`',
    'a,b&c',
    '; rm -rf /',
    '<img src=x>',
    '\\x41',
    '-rf',
  ]

  it('appear in frames as data, and in no command', async () => {
    const jobs = ids.map((id) => ({ id, processes: 1, pattern: { kind: 'poisson', rate: 20 } }))
    const c = emulatedCluster(smallScenario([...jobs, { id: '1.good.u1' }]), { mode: 'enforce' })
    await c.run(3)
    const frame = jobsFrame(c.monitor, query, 1)
    expect(frame.rows.jobId.toSorted()).toEqual([...ids, '1.good.u1'].sort())
    for (const host of OSS) {
      const rules = parseNrsTbfRule(c.rules(host)).rules.filter((r) => isControllerRule(r.name))
      // `-rf` is a plain word in the grammar of rules, and never an option: it is written inside braces.
      for (const r of rules) expect(['jobid={-rf}', 'jobid={1.good.u1}']).toContain(r.conditions)
    }
    const commands = c.sent.map((s) => s.command)
    expect(commands.some((x) => x.includes('jobid={1.good.u1}'))).toBe(true)
    for (const id of ids.filter((i) => i !== '*' && i !== '-rf')) {
      expect(commands.filter((x) => x.includes(id))).toEqual([])
    }
    // The only asterisks sent are those of Sluice's own readings.
    expect(new Set(commands.filter((x) => x.includes('*')))).toEqual(
      new Set(
        commands.filter((x) =>
          /^(?:lctl get_param (?:'obdfilter\.\*\.(?:job_stats|brw_stats)'|ldlm\.lock_granted_count)|systemctl show --all --property=\S+) /.test(
            x,
          ),
        ),
      ),
    )
    // They are unthrottled, and the operator is notified.
    expect(c.monitor.failures.map((f) => f.code)).toEqual(['JOBS_WITHOUT_RULE'])
  })
})

describe('jobs that did nothing for an hour', () => {
  it('leave their records to the account of those that ended, and the records still sum to zero', async () => {
    const jobs = [
      { id: '1.short.u1', stop_s: 2 },
      { id: '2.long.u2', clients: [2], processes: 2 },
    ]
    const c = emulatedCluster(smallScenario(jobs), { mode: 'enforce' })
    // An hour passes in ten seconds: only the wall clock is stretched.
    const stretched = (ns: number): number => EPOCH + (ns / NS_PER_S) * 360_000
    const source = Object.assign(c.monitor.source as { toUnixMs: (ns: number) => number }, { toUnixMs: stretched })
    expect(source.toUnixMs(NS_PER_S)).toBe(EPOCH + 360_000)
    const at = (sample: number) => {
      const { rows, totals } = jobsFrame(c.monitor, { ...query, at: sample }, 1)
      expect(totals.record).toBe(0)
      return Object.fromEntries(rows.jobId.map((jobId, i) => [jobId, rows.record[i]]))
    }
    await c.run(8)
    const before = c.monitor.sample
    const left = at(before)['1.short.u1'] ?? 0
    expect(left).not.toBe(0)
    await c.run(15)
    expect(at(c.monitor.sample)).toMatchObject({ '1.short.u1': null, [ENDED_JOBS]: left })
    expect(at(before)['1.short.u1']).toBe(left)
    // At every sample the debts agree with the records of that sample, also where the job is closed.
    for (let sample = before; sample <= c.monitor.sample; sample++) {
      const owed = debtsAt(c.monitor, sample, '') ?? []
      for (const [jobId, record] of Object.entries(at(sample))) {
        const { tokens, rest } = pairsOf(owed, jobId)
        expect([sample, jobId, tokens.reduce((sum, n) => sum + n, rest)]).toEqual([sample, jobId, record ?? 0])
      }
    }
    // And the ledger on disk shows to whom the debts moved.
    c.monitor.close()
    c.monitor.history.flush()
    const ended = { jobId: ENDED_JOBS, fromMs: EPOCH, toMs: EPOCH + 1e9, limit: 1000 }
    const lines = c.monitor.history.moves(ended).map(({ lender, kind, tokens }) => {
      return (lender === ENDED_JOBS ? 1 : -1) * (kind === 'lend' ? tokens : -tokens)
    })
    expect(lines.reduce((sum, n) => sum + n, 0)).toBe(left)
    for (const { target } of c.monitor.targets) {
      expect(
        c.monitor.loop.controllers
          .pairs(target)
          ?.pairs()
          .map(({ lender, borrower }) => [lender, borrower]),
      ).not.toContainEqual(expect.arrayContaining(['1.short.u1']))
    }
  })
})

describe('a plan that the server refuses', () => {
  it('is reported as a failure and not sent again every period', async () => {
    const c = emulatedCluster(smallScenario([{ id: '1.hog.u1' }], { policy: 'tbf nid' }))
    await c.run(10)
    expect(c.monitor.failures.map((f) => f.code)).toEqual(['RULES_NOT_APPLIED', 'RULES_NOT_APPLIED'])
    const attempts = new Set(c.writes().map((w) => `${w.host} ${w.atNs}`))
    // Pauses of 1, 2, 4, 8 s: four attempts per server in ten seconds, not a hundred.
    expect(attempts.size).toBeGreaterThanOrEqual(6)
    expect(attempts.size).toBeLessThanOrEqual(8)
    expect(ourNames(c.rules('oss01'))).toEqual([])
  })
})

describe('the rules view', () => {
  it('keeps a foreign rule for the same job apart from ours', async () => {
    const c = emulatedCluster(twoJobs())
    await c.run(2)
    const node = c.source.emulator.node('oss01')
    // It is bound, and leaves the job active in every period: an idle one has no rule of Sluice.
    node?.exec("lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start hog_limit jobid={1.hog.u1} rate=77'")
    await c.run(3)
    const { rows } = rulesFrame(
      new RuleService(c.monitor, QUICK),
      { at: null, service: 'ost_io', node: 'oss01', queue: 'reg', offset: 0, limit: 100 },
      1,
    )
    const hog = rows.filter((r) => r.conditions === 'jobid={1.hog.u1}')
    expect(hog.map((r) => [r.owner, r.rateMax]).sort()).toEqual([
      ['other', 77],
      ['sluice', expect.any(Number)],
    ])
    expect(rows.find((r) => r.owner === 'other')?.ceiling).toBe(77)
  })
})
