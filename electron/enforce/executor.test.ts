import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import type { DesiredRule } from '#core/control/desired-rule.ts'
import { planRules } from '#core/control/plan.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import type { NodeConnection } from '../base/connection.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { Audit, type AuditRecord } from '../base/audit.ts'
import { applyPlan } from './executor.ts'
import { lost } from '#tests/kits/electron/answers.ts'

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

  it('is on record, command by command, before the first one is sent; and so is what came of it', async () => {
    const plan = planRules('oss01', [], [A, B])
    await applyPlan(node, plan, audit, 1000)
    expect(log.map((l) => l.split(' ').slice(0, 2).join(' '))).toEqual([
      'audit intent',
      'lctl set_param',
      'lctl set_param',
      'lctl get_param',
      'audit outcome',
    ])
    expect(records[0]?.text.split('\n')).toEqual(log.slice(1, 3))
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
    expect(applied).toMatchObject({ state: 'applied', detail: `${A.name}: the server did not answer` })
  })

  it('without an answer and without effect is a failure that names the rule', async () => {
    const flaky = failing((c) => c.includes(`start ${A.name}`), lost)
    const applied = await applyPlan(flaky, planRules('oss01', [], [A, B]), audit, 0)
    expect(applied.state).toBe('failed')
    expect(applied.detail).toBe(`${A.name}: the server did not answer; ${A.name} is missing`)
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
