/** Rule service on an emulated cluster for tests, with common steps of an operator. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Failure, Result } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '#electron/base/connection.ts'
import type { RuleServiceOptions } from '#electron/host/rules/sending.ts'
import { RuleService } from '#electron/host/rules/rule-service.ts'
import { formOfValue } from '#electron/host/rules/draft.ts'
import { stagedFrame } from '#electron/host/views/rules/staged.ts'
import { emulatedCluster, smallScenario, type Emulated, type Setup } from './emulated-cluster.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

export const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
const ON: ServiceName = 'ost_io'

/** Wrapper around the connection to a node. */
export type Around = (node: NodeConnection) => NodeConnection

/** Two servers with nearly no activity. */
export const quiet = (): Scenario => smallScenario([{ id: '1.hog.u1', processes: 1, stop_s: 4 }], { period_ms: 500 })

/** Retries silent servers at once, and watches the canary only where a test requests it. */
export const QUICK: RuleServiceOptions = { canaryS: 0, sending: { pausesMs: [1, 1], answerMs: 200 } }

/** Refusal of a locked cluster. */
export const LOCKED: Failure = {
  code: 'LOCKED',
  what: 'The cluster is locked',
  why: 'it was locked',
  next: 'Unlock it.',
}

/** Creates one three seconds into a run without a controller. */
export async function ruleService(setup: Setup = {}, scenario: Scenario = quiet(), options: RuleServiceOptions = {}) {
  const c = emulatedCluster(scenario, { controller: 'none', mode: 'enforce', ...setup })
  await c.run(3)
  return { c, service: new RuleService(c.monitor, { ...QUICK, ...options }) }
}

/** Stages a value of nrs_tbf_rule; returns its id. */
export function stage(d: RuleService, value: string, expiresS: number | null = null): string {
  const staged = d.stage(ON, formOfValue(value), { expiresS, reason: 'ticket 7' })
  if (!staged.ok) throw new Error(`${staged.error.code}: ${staged.error.why}`)
  return staged.value
}

export const review = (d: RuleService) => stagedFrame(d, { service: ON }, 1).review

export function commit(d: RuleService): ReturnType<RuleService['commit']> {
  const r = review(d)
  return d.commit(ON, r?.planId ?? '', r?.typed ?? '')
}

/** Stages values and commits them; they must be done everywhere. */
export async function send(d: RuleService, ...values: readonly (string | readonly [string, number])[]): Promise<void> {
  for (const v of values) {
    if (typeof v === 'string') stage(d, v)
    else stage(d, ...v)
  }
  const done = await commit(d)
  if (!done.ok || done.value.nodes.some((n) => n.state !== 'done')) throw new Error(JSON.stringify(done))
}

/** End states of a commit as `oss01 done`; the code of its refusal otherwise. */
export const ends = (r: Result<{ nodes: { host: string; state: string }[] }>): string[] =>
  r.ok ? r.value.nodes.map((n) => `${n.host} ${n.state}`) : [r.error.code]

/** Rules in force on a server, in order: `hog_cap jobid={1.hog.u1} 20`. */
export const activeRules = (c: Emulated, host = 'oss01', queue: 'reg' | 'hp' = 'reg'): string[] =>
  parseNrsTbfRule(c.rules(host))
    .rules.filter((r) => r.queue === queue && r.cpt === 0)
    .map((r) => `${r.name} ${r.conditions} ${r.rate}`)

/** Runs a command on a server as another user would. */
export const asOtherUser = (c: Emulated, host: string, value: string): void =>
  void c.source.emulator.node(host)?.exec(`lctl set_param ${RULES}='${value}'`)

/** Wraps a server so that it refuses some commands, or does not answer them. */
export const failing =
  (host: string, at: RegExp, how: 'refuse' | 'silent', isOn: () => boolean = () => true): Around =>
  (node) => ({
    ...node,
    exec: async (command) => {
      if (node.host !== host || !at.test(command) || !isOn()) return node.exec(command)
      if (how === 'silent') return lost()
      return printed('', 'error: set_param: Invalid argument\n', 22)
    },
  })
