import { beforeEach, describe, expect, it } from 'vitest'
import { ok, type Result } from '#core/base/result.ts'
import type { DesiredRule } from '#core/control/desired-rule.ts'
import { planRules } from '#core/control/plan.ts'
import type { CounterReading } from '#core/lustre/counter-stream.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import type { NodeConnection } from '../base/connection.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { Audit, type AuditRecord } from '../base/audit.ts'
import { applyPlan } from './executor.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const rule = (digit: string, rate: number): DesiredRule => ({
  name: `ab_000000000${digit}`,
  conditions: `jobid={${digit}.x}`,
  rate,
})
const A = rule('a', 10)
const B = rule('b', 20)
const C = rule('c', 30)

let node: NodeConnection
let log: string[]
let records: AuditRecord[]
let audit: Audit

beforeEach(() => {
  log = []
  records = []
  const oss = new EmulatedSource(twoJobs()).nodes[0] as NodeConnection
  node = {
    ...oss,
    exec: (command) => {
      log.push(command)
      return oss.exec(command)
    },
  }
  audit = new Audit((r) => {
    log.push(`audit ${r.kind}`)
    records.push(r)
  })
})

const failing = (fails: (command: string) => boolean, how: () => Result<never>): NodeConnection => ({
  ...node,
  exec: async (command) => (fails(command) ? how() : node.exec(command)),
})

describe('a plan', () => {
  it('is applied, read back and found equal', async () => {
    const plan = planRules('oss01', [], [A, B])
    const applied = await applyPlan(node, plan, audit, 1000)
    expect(applied).toMatchObject({ state: 'applied', detail: 'verified by read-back' })
    expect(applied.rules?.map((r) => `${r.name} ${r.conditions} ${r.rate}`)).toEqual([
      `${A.name} ${A.conditions} 10`,
      `${B.name} ${B.conditions} 20`,
      'default * 10000',
      'default * 10000', // of the hp queue
    ])
    expect(applied.rulesText).toContain(`${A.name} ${A.conditions} 10, ref 0\n`)
  })

  it('is undone by its inverse', async () => {
    const before = (await applyPlan(node, planRules('oss01', [], [A, B]), audit, 0)).rulesText
    const read = (await applyPlan(node, planRules('oss01', [], [A, B]), audit, 0)).rules ?? []
    const plan = planRules('oss01', read, [rule('b', 5), C])
    await applyPlan(node, plan, audit, 0)
    const undo = { ...plan, commands: plan.inverse, expected: new Map([A, B].map((r) => [r.name, r])) }
    expect((await applyPlan(node, undo, audit, 0)).rulesText).toBe(before)
  })

  it('is on record, as it is sent, before it is sent; and so is what came of it', async () => {
    const plan = planRules('oss01', [], [A, B])
    await applyPlan(node, plan, audit, 1000)
    expect(log.map((l) => l.split(' ').slice(0, 2).join(' '))).toEqual([
      'audit intent',
      'lctl set_param',
      'lctl get_param',
      'audit outcome',
    ])
    expect(records[0]?.text).toBe(log[1])
    for (const { value } of plan.commands) expect(log[1]).toContain(shellQuote(value))
    expect(records[1]).toMatchObject({ server: 'oss01', kind: 'outcome', text: 'applied: verified by read-back' })
  })

  it('is not sent when it cannot be put on record', async () => {
    const full = new Audit(() => {
      throw new Error('database or disk is full')
    })
    await expect(applyPlan(node, planRules('oss01', [], [A]), full, 0)).rejects.toThrow('full')
    expect(log).toEqual([])
  })
})

describe('a command that fails', () => {
  it('does not keep the others from being sent, and the server is quoted', async () => {
    await applyPlan(node, planRules('oss01', [], [B]), audit, 0)
    // B is started a second time, as if by another user between reading and writing.
    const applied = await applyPlan(node, planRules('oss01', [], [A, { ...B, rate: 99 }, C]), audit, 0)
    expect(applied.state).toBe('failed')
    expect(applied.detail).toContain(`${B.name}: error: set_param: setting `)
    expect(applied.detail).toContain('File exists')
    expect(applied.detail).toContain(`${B.name} has rate 20, not 99`)
    expect(applied.rules?.map((r) => r.name)).toEqual([A.name, C.name, B.name, 'default', 'default'])
    expect(records.at(-1)?.text).toBe(`failed: ${applied.detail}`)
  })

  it('without an answer is no failure when the read-back shows its effect', async () => {
    const flaky: NodeConnection = {
      ...node,
      exec: async (command) => {
        const answer = await node.exec(command)
        return command.includes(`start ${A.name}`) ? lost() : answer
      },
    }
    const applied = await applyPlan(flaky, planRules('oss01', [], [A, B]), audit, 0)
    expect(applied).toMatchObject({ state: 'applied', detail: `${B.name}, ${A.name}: the server did not answer` })
  })

  it('without an answer and without effect is a failure that names the rule', async () => {
    const flaky = failing((c) => c.includes(`start ${A.name}`), lost)
    const applied = await applyPlan(flaky, planRules('oss01', [], [A, B]), audit, 0)
    expect(applied.state).toBe('failed')
    expect(applied.detail).toBe(
      `${B.name}, ${A.name}: the server did not answer; ${A.name} is missing; ${B.name} is missing`,
    )
  })
})

describe('a server that dies midway', () => {
  it('leaves the end state unknown, never assumed', async () => {
    let sent = 0
    const dying = failing(() => ++sent > 1, lost)
    const applied = await applyPlan(dying, planRules('oss01', [], [A, B]), audit, 0)
    expect(applied).toMatchObject({ state: 'unknown', rules: undefined, rulesText: '' })
    expect(records.at(-1)?.text).toBe('unknown: the read-back was not answered')
  })

  it('is unknown too when the read-back is refused, in the words of the server', async () => {
    const fifo = 'lctl set_param ost.OSS.ost_io.nrs_policies=fifo'
    await node.exec(fifo)
    const applied = await applyPlan(node, planRules('oss01', [], [A]), audit, 0)
    expect(applied.state).toBe('unknown')
    expect(applied.detail).toContain('No such device')
  })
})

describe('the changes of one period', () => {
  const UNIT = 'sluice-lease-test-1'
  const timerFile = `/run/systemd/transient/${UNIT}.timer`
  const makeTimer = `systemd-run --on-active=60s --timer-property=AccuracySec=1s --unit=${UNIT} --collect lctl dl`
  const many = (n: number, rate: number): DesiredRule[] =>
    Array.from({ length: n }, (_, i) => ({
      name: `ab_${String(i).padStart(10, '0')}`,
      conditions: `jobid={${i}.x}`,
      rate,
    }))
  const rulesNow = async (): Promise<string[]> => {
    const applied = await applyPlan(node, planRules('oss01', [], []), audit, 0)
    return (applied.rules ?? []).filter((r) => r.name.startsWith('ab_')).map((r) => `${r.name} ${r.rate}`)
  }
  const sent = (): string[] => log.filter((l) => l.includes('set_param'))

  beforeEach(async () => {
    await node.exec(makeTimer)
    await applyPlan(node, planRules('oss01', [], [A, B]), audit, 0)
    log = []
  })

  /** Removes A, changes B and starts C. */
  const mixed = async () => {
    const { rules = [] } = await applyPlan(node, planRules('oss01', [], []), audit, 0)
    log = []
    return planRules('oss01', rules, [rule('b', 7), C])
  }

  it('are one line: removals, then what is executed only under the timer', async () => {
    const applied = await applyPlan(node, await mixed(), audit, 0, { timerFile })
    expect(applied).toMatchObject({ state: 'applied', detail: 'verified by read-back' })
    expect(sent()).toHaveLength(1)
    expect(sent()[0]).toMatch(
      /^lctl set_param \S+='reg stop ab_000000000a'; test -e \S+ \|\| systemctl is-active --quiet \S+ && lctl /,
    )
    expect(records.at(-2)?.text).toBe(sent()[0])
    expect(await rulesNow()).toEqual([`${C.name} 30`, `${B.name} 7`])
  })

  it('remove, but neither start nor change anything, once the timer is gone', async () => {
    const plan = await mixed()
    await node.exec(`systemctl stop ${UNIT}.timer`)
    const applied = await applyPlan(node, plan, audit, 0, { timerFile })
    expect(applied).toMatchObject({ state: 'failed', isUncovered: true })
    expect(applied.detail).toContain(`${B.name}, ${C.name}: not executed: the timer that would stop the rule is gone`)
    expect(await rulesNow()).toEqual([`${B.name} 20`])
  })

  it('remove, and do nothing else, after a stop', async () => {
    const plan = await mixed()
    const applied = await applyPlan(node, plan, audit, 0, { timerFile, may: () => 'everything was stopped' })
    expect(applied.detail).toContain(`${B.name}, ${C.name}: not sent, everything was stopped`)
    expect(sent()).toEqual([`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg stop ${A.name}'`])
    expect(await rulesNow()).toEqual([`${B.name} 20`])
  })

  it('are several lines if they are many, and a stop is obeyed before each', async () => {
    let lines = 0
    const may = (): string | undefined => (++lines > 2 ? 'everything was stopped' : undefined)
    const applied = await applyPlan(node, planRules('oss01', [], many(200, 5)), audit, 0, { timerFile, may })
    expect(applied.state).toBe('failed')
    expect(sent().map((l) => l.split(' reg start ').length + l.split("'reg start ").length - 2)).toEqual([64, 64])
    expect(applied.detail).toContain(' and 64 more: not sent, everything was stopped')
    expect(applied.rules?.filter((r) => r.queue === 'reg' && r.rate === 5)).toHaveLength(128)
  })

  it('do not keep each other from being made, and each fault names its rule', async () => {
    // A is started by another user between reading and writing, and B is gone.
    const plan = planRules('oss01', (await applyPlan(node, planRules('oss01', [], []), audit, 0)).rules ?? [], [
      { ...A, rate: 11 },
      { ...B, rate: 21 },
      C,
    ])
    await node.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg stop ${B.name}'`)
    await node.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start ${C.name} jobid={c.x} rate=3'`)
    const { detail, state } = await applyPlan(node, plan, audit, 0, { timerFile })
    expect(state).toBe('failed')
    expect(detail).toMatch(new RegExp(`${B.name}: error: set_param: .*No such file or directory`))
    expect(detail).toMatch(new RegExp(`${C.name}: error: set_param: .*File exists`))
    expect(detail).not.toContain(A.name)
    expect(await rulesNow()).toEqual(expect.arrayContaining([`${A.name} 11`, `${C.name} 3`]))
  })

  it('are sent one by one to a helper that takes one rule per call', async () => {
    const old: NodeConnection = {
      ...node,
      exec: async (command) => {
        if (command.split('=reg ').length + command.split("='reg ").length <= 3) return node.exec(command)
        log.push(command)
        return printed('', 'sluice-rule: expected start, change, stop, expire, end or list\n', 2)
      },
    }
    const applied = await applyPlan(old, await mixed(), audit, 0, { timerFile })
    expect(applied).toMatchObject({ state: 'applied', detail: 'verified by read-back' })
    expect(sent()).toHaveLength(4)
    expect(
      records
        .filter((r) => r.kind === 'intent')
        .at(-1)
        ?.text.split('\n'),
    ).toEqual(sent().slice(1))
  })

  it('are read back by the streaming reader where there is one, else by lctl', async () => {
    const asked: string[][] = []
    const answer = async (names: readonly string[]): Promise<Result<CounterReading>> => {
      asked.push([...names])
      const text = (await node.exec('lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule')) as { value: { stdout: string } }
      log.pop()
      const values = new Map([['ost.OSS.ost_io.nrs_tbf_rule', text.value.stdout]])
      return ok({ sequence: 1, uptimeMs: 0, tookMs: 0, stepMs: 10, cpuMs: 0, bytes: 0, values, absent: [] })
    }
    const streaming: NodeConnection = { ...node, counters: { read: answer } }
    expect(await applyPlan(streaming, await mixed(), audit, 0, { timerFile })).toMatchObject({ state: 'applied' })
    expect(asked).toEqual([['ost.OSS.ost_io.nrs_policies', 'ost.OSS.ost_io.nrs_tbf_rule']])
    expect(log.filter((l) => l.includes('get_param'))).toEqual([])
    const broken: NodeConnection = { ...node, counters: { read: async () => lost() } }
    expect(await applyPlan(broken, await mixed(), audit, 0, { timerFile })).toMatchObject({ state: 'applied' })
    expect(log.filter((l) => l.includes('get_param'))).toHaveLength(1)
  })
})
