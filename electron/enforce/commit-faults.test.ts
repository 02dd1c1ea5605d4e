import { describe, expect, it } from 'vitest'
import type { NodeConnection } from '../base/connection.ts'
import { smallScenario } from '../../tests/node/emulated-cluster.ts'
import { asOtherUser, review, ruleService, stage, activeRules } from '../../tests/node/rule-service.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const HOSTS = ['oss01', 'oss02', 'oss03'] as const

/** Three nearly idle servers. */
function three(): Scenario {
  const s = smallScenario([{ id: '1.hog.u1', processes: 1, stop_s: 1 }], { period_ms: 1000 })
  const [a] = s.oss
  if (!a) throw new Error('no server')
  const third = { ...a, name: 'oss03', osts: a.osts.map((t) => ({ ...t, name: 'small-OST0003' })) }
  return { ...s, oss: [...s.oss, third] }
}

/** Fault of one command. lost after: it was executed, and the answer was lost. */
type Fault = 'refused' | 'lost before' | 'lost after' | 'stalled' | 'dead before' | 'dead after' | 'rebooted after'
const FAULTS: readonly Fault[] = [
  'refused',
  'lost before',
  'lost after',
  'stalled',
  'dead before',
  'dead after',
  'rebooted after',
]

/** Server whose n-th command of a commit fails; only commands of a commit are counted. */
function faulty(host: string, at: number, fault: Fault, isOn: () => boolean, timersOf: () => Iterable<string>) {
  let n = 0
  let isDead = false
  const seen: string[] = []
  const around = (node: NodeConnection): NodeConnection => ({
    ...node,
    exec: async (command) => {
      if (node.host !== host || !isOn()) return node.exec(command)
      if (isDead) return lost()
      seen.push(command)
      if (n++ !== at) return node.exec(command)
      if (fault === 'refused') return printed('', 'error: set_param: Invalid argument\n', 22)
      if (fault === 'stalled') return new Promise(() => undefined)
      isDead = fault.startsWith('dead')
      if (fault.endsWith('after')) await node.exec(command)
      if (fault === 'rebooted after') {
        await node.exec("lctl set_param ost.OSS.ost_io.nrs_policies='fifo'")
        for (const unit of [...timersOf()]) await node.exec(`systemctl stop ${unit}.timer`)
      }
      return lost()
    },
  })
  return { around, seen }
}

const WAS = ['night_batch jobid={9.*} 77', 'default * 10000']
/** Leftovers of the change below on a server. */
const traces = (list: readonly string[]): string[] => list.filter((l) => !WAS.includes(l))
const AFTER = ['cap jobid={1.hog.u1} 20', 'wide jobid={3.*} 30', 'night_batch jobid={9.*} 50', 'default * 10000']

async function run(host: string, at: number, fault: Fault) {
  let isOn = false
  const timersOf = (): Iterable<string> => c.source.emulator.node(host)?.timers.keys() ?? []
  const { around, seen } = faulty(host, at, fault, () => isOn, timersOf)
  const { c, service } = await ruleService({ around }, three(), { sending: { pausesMs: [1], answerMs: 25 } })
  for (const h of HOSTS) asOtherUser(c, h, 'start night_batch jobid={9.*} rate=77')
  await c.run(4)
  stage(service, 'start wide jobid={3.*} rate=30', 600)
  stage(service, 'start cap jobid={1.hog.u1} rate=20', 600)
  stage(service, 'change night_batch rate=50')
  const r = review(service)
  isOn = true
  const done = await service.commit('ost_io', r?.planId ?? '', r?.typed ?? '')
  isOn = false
  return { c, done, seen }
}

/** Commands of one server in a commit without faults: read, timers with their lists, rules, read-back. */
const COMMANDS = 14

describe('a fault at any command of a commit', () => {
  it.each(HOSTS.flatMap((h) => FAULTS.map((f) => [f, h] as const)))(
    '%s on %s ends in a state that is the truth',
    async (fault, host) => {
      let hits = 0
      for (let at = 0; at < COMMANDS; at++) {
        const { c, done, seen } = await run(host, at, fault)
        // No command left to fail.
        if (seen.length <= at) break
        hits++
        const nodes = done.ok ? done.value.nodes : []
        const where = `${fault} at ${at} (${seen[at] ?? ''}): ${JSON.stringify(done.ok ? nodes : done.error.code)}`
        for (const h of HOSTS) {
          const end = nodes.find((n) => n.host === h)
          const list = activeRules(c, h)
          const timers = c.source.emulator.node(h)?.timers.size ?? 0
          if (end === undefined || end.state === 'not sent') {
            expect([list, timers], where).toEqual([fault === 'rebooted after' && list.length === 0 ? [] : WAS, 0])
          } else if (end.state === 'done') {
            expect(list, where).toEqual(AFTER)
            expect(timers, where).toBe(2)
          } else if (end.state === 'rolled back') {
            // A server that was reset has no rules of Sluice either.
            expect(traces(list), where).toEqual([])
            expect(timers, where).toBe(0)
          } else if (end.state === 'failed') {
            expect(traces(list).length + timers + (list.length === 0 ? 1 : 0), where).toBeGreaterThan(0)
          } else {
            expect(
              ['dead before', 'dead after', 'stalled', 'lost before', 'lost after', 'rebooted after'],
              where,
            ).toContain(fault)
            // Rules that remain without being known are stopped by their timers: timers are made before rules.
            if (list.some((l) => /^(?:cap|wide) /.test(l))) expect(timers, where).toBe(2)
          }
          if (h !== host && end?.state !== 'not sent' && end !== undefined) expect(end.state, where).toBe('done')
        }
      }
      expect(hits).toBeGreaterThan(5)
    },
  )
})
