/**
 * One server's part of a policy change: step by step, waiting between steps until a policy is stopped. Releases that
 * lose queued RPCs for good must never get the next step too early, so a wait that times out ends the commit of the
 * server.
 */
import { planPolicyRollback, type PolicyPlan, type PolicyStep } from '#core/control/policy-plan.ts'
import { planBaseDiff } from '#core/control/plan-base.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import { primaryPolicy, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Service } from '../base/service.ts'
import { sendCommand, type Answer } from './send-command.ts'
import { readServer, type ServerNow } from './read-server.ts'
import type { EndState, ServerEnd } from './server-change.ts'
import type { SendingParts, ServerSender, ServerTask } from './server-task.ts'

export interface PolicyServer {
  readonly plan: PolicyPlan
  readonly found: ServerRules
  /** Policies when the change was planned. */
  readonly policies: readonly PolicyStatus[]
  /** Rules that are restarted with the policy. */
  readonly restored: readonly RuleLine[]
  /** Longest wait for a policy to stop, wall ms. */
  readonly waitMs: number
}

const POLL_MS = 250
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** lctl errors of a policy that is starting or stopping. */
const isBusy = (why: string): boolean => /Resource temporarily unavailable|Try again|error 11\b/.test(why)

const writesOf = (steps: readonly PolicyStep[], service: Service): string[] =>
  steps.flatMap((s) =>
    s.kind === 'write'
      ? [setParamCommand(s.parameter === 'nrs_policies' ? service.policies : service.rules, s.value)]
      : [],
  )

/** Steps as shown: commands, and the waits between them. */
export const policyLines = (steps: readonly PolicyStep[], service: Service): string[] =>
  steps.map((s) =>
    s.kind === 'write'
      ? (writesOf([s], service)[0] as string)
      : `# wait until ${s.policy} is stopped on ${s.queues.join(' and ')}`,
  )

class PolicyCommit implements ServerSender {
  readonly #service: Service
  readonly #server: PolicyServer
  readonly #parts: SendingParts
  #open = 0

  constructor(service: Service, server: PolicyServer, parts: SendingParts) {
    this.#service = service
    this.#server = server
    this.#parts = parts
  }

  #end(state: EndState, detail: string): ServerEnd {
    return { host: this.#server.plan.server, state, detail }
  }

  async #read(): Promise<ServerNow | undefined> {
    for (const ms of [0, ...this.#parts.pausesMs]) {
      if (ms > 0) await pause(ms)
      const { node, answerMs } = this.#parts
      const read = await readServer(node, this.#service, this.#server.found, answerMs, 'may be hidden')
      if (read) return read
    }
    return undefined
  }

  async #send(command: string): Promise<Answer> {
    const answer = await sendCommand(this.#parts.node, command, this.#parts.answerMs)
    if (answer.kind === 'late') {
      this.#open++
      void answer.pending.finally(() => this.#open--)
    }
    return answer
  }

  async unmoved(): Promise<ServerEnd | undefined> {
    this.#parts.step('reading', 0)
    const now = await this.#read()
    if (!now) return this.#end('not sent', 'its policies could not be read before sending')
    const moved = planBaseDiff(this.#server.found, now)
    return moved.length === 0 ? undefined : this.#end('not sent', `it changed since the review: ${moved.join('; ')}`)
  }

  async send(): Promise<ServerEnd | undefined> {
    const wrong = await this.#carryOut(this.#server.plan.steps, 'sending')
    return wrong === undefined ? this.readBack() : this.rollBack(wrong)
  }

  /** Executes the steps; returns why it ended before the last of them. */
  async #carryOut(steps: readonly PolicyStep[], as: 'sending' | 'rolling back'): Promise<string | undefined> {
    for (const [i, step] of steps.entries()) {
      const stopped = as === 'sending' ? this.#parts.stop() : undefined
      if (stopped !== undefined) return stopped
      if (step.kind === 'wait') {
        const why = await this.#wait(step, i, as)
        if (why !== undefined) return why
        continue
      }
      this.#parts.step(as, i)
      const [command = ''] = writesOf([step], this.#service)
      const why = await this.#write(command, step.parameter === 'nrs_policies' ? step.value : undefined)
      if (why !== undefined) return why
    }
    return undefined
  }

  /** Sends one command; if its answer is lost, the policies read back decide. @param policy  value of nrs_policies. */
  async #write(command: string, policy: string | undefined): Promise<string | undefined> {
    const until = performance.now() + this.#server.waitMs
    for (;;) {
      const answer = await this.#send(command)
      if (answer.kind === 'done') return undefined
      // Right after fifo a server may answer so for a short time (measured B9); nothing was done then.
      if (answer.kind === 'refused' && isBusy(answer.why) && performance.now() < until) {
        await pause(POLL_MS)
        continue
      }
      if (answer.kind === 'refused') return answer.why
      const now = policy === undefined || this.#open > 0 ? undefined : await this.#read()
      if (now && policy !== undefined && runs(now.policies, policy)) return undefined
      return `${command}: ${answer.why}`
    }
  }

  async #wait(
    step: PolicyStep & { readonly kind: 'wait' },
    at: number,
    as: 'sending' | 'rolling back',
  ): Promise<string | undefined> {
    const until = performance.now() + this.#server.waitMs
    let queued: number | undefined
    for (;;) {
      const now = await this.#read()
      if (!now) return `the policies could not be read while ${step.policy} stops`
      const remaining = now.policies.filter(
        (p) => p.name === step.policy && p.state !== 'stopped' && step.queues.includes(p.queue),
      )
      if (remaining.length === 0) return undefined
      queued = remaining.reduce((n, p) => n + p.queued, 0)
      this.#parts.step('waiting for', at, `${step.policy} is ${remaining[0]?.state ?? ''}, ${queued} RPCs in it`)
      const stopped = as === 'sending' ? this.#parts.stop() : undefined
      if (stopped !== undefined) return `${stopped} while ${step.policy} was stopping`
      if (performance.now() > until) return `${step.policy} did not stop in time, ${queued} RPCs are in it`
      await pause(POLL_MS)
    }
  }

  async readBack(): Promise<ServerEnd | undefined> {
    this.#parts.step('reading back', this.#server.plan.steps.length)
    const now = await this.#read()
    if (!now) return this.#end('unknown', 'the policies could not be read back')
    const isThere = this.#server.plan.wanted.every(({ queue, policy: to }) => {
      const p = primaryPolicy(now.policies, queue)
      return p?.name === to.name && (to.name !== 'tbf' || p.arg === to.arg)
    })
    if (!isThere || this.#open > 0) return this.rollBack('read-back differs: another policy runs')
    const absent = this.#server.restored.filter(
      (r) => !now.rules.some((n) => n.queue === r.queue && n.name === r.name && n.rate === r.rate),
    )
    if (absent.length === 0) return undefined
    return this.rollBack(`read-back differs: ${absent.map((r) => r.name).join(', ')} did not come back`)
  }

  settle(): Promise<ServerEnd> {
    return Promise.resolve(this.#end('done', 'verified by read-back'))
  }

  /** Rolls back as far as the policies allow: never to a new type while the old one is stopping. */
  async rollBack(reason: string): Promise<ServerEnd> {
    const { plan, found } = this.#server
    this.#parts.step('rolling back', 0)
    const now = await this.#read()
    if (!now) return this.#end('unknown', `${reason}; the policies could not be read to roll back`)
    if (planBaseDiff(found, now).length === 0) {
      return this.#open === 0
        ? this.#end('rolled back', reason)
        : this.#end('unknown', `${reason}; a command is still in progress and may act later`)
    }
    const back = planPolicyRollback(found, now.policies, this.#server.policies, plan.queues)
    if (!this.#parts.record(policyLines(back, this.#service))) {
      return this.#end('failed', `${reason}; not rolled back, because it could not be recorded`)
    }
    const wrong = await this.#carryOut(back, 'rolling back')
    const after = await this.#read()
    if (!after) return this.#end('unknown', `${reason}; rolled back, but the policies could not be read`)
    const differences = planBaseDiff(found, after)
    if (differences.length > 0)
      return this.#end('failed', `${reason}; ${wrong ?? 'rolled back'}; ${differences.join('; ')}`)
    return this.#end(this.#open === 0 ? 'rolled back' : 'unknown', reason)
  }
}

/** True if the value written to nrs_policies is what runs. */
function runs(policies: readonly PolicyStatus[], value: string): boolean {
  const [name, ...rest] = value.split(' ')
  const queue = rest[0] === 'reg' || rest[0] === 'hp' ? rest.shift() : undefined
  return (['reg', 'hp'] as const)
    .filter((q) => (queue === undefined || q === queue) && policies.some((p) => p.queue === q))
    .every((q) => {
      const p = primaryPolicy(policies, q)
      return p?.name === name && (name !== 'tbf' || p?.arg === rest.join(' '))
    })
}

/** Task that changes the policy of one server. */
export const policyTask = (service: Service, server: PolicyServer): ServerTask => ({
  host: server.plan.server,
  commands: policyLines(server.plan.steps, service),
  of: server.plan.steps.length,
  begin: (parts) => new PolicyCommit(service, server, parts),
})
