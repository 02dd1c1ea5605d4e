/**
 * One server's part of a commit: its timers, each verified in the server's list before any rule is sent, its rules one
 * by one, and the read-back. On any failure the server is rolled back; the end state is read, never assumed.
 *
 * A command whose answer is lost may have been executed: the rules read back decide. One that is still pending at its
 * deadline may act later, so the end state is unknown then, whatever the rules are now.
 */
import { fail, type Result } from '#core/base/result.ts'
import { planRollback } from '#core/control/plan-rollback.ts'
import { compareHeads } from '#core/control/read-back.ts'
import { afterPlan } from '#core/control/simulate.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { planBaseDiff } from '#core/control/plan-base.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { within } from '../base/deadline.ts'
import type { Service } from '../base/service.ts'
import { readServer } from './read-server.ts'
import { sendCommand, type Answer } from './send-command.ts'
import { readTimers, verifyTimer } from './expiry.ts'
import {
  commandsOf,
  endingOf,
  makingOf,
  ruleCommandsOf,
  specOf,
  type EndState,
  type ServerChange,
  type ServerEnd,
} from './server-change.ts'
import type { SendingParts, ServerSender, ServerTask } from './server-task.ts'

/**
 * Stops of rules that a server accepted but does not list: they may be in force nevertheless.
 *
 * @param taken  number of rule commands that the server accepted, or may have accepted.
 */
function unseenStops({ plan }: ServerChange, taken: number, now: ServerRules): string[] {
  const isIn = (rules: readonly RuleLine[], name: string, queue: QueueChoice): boolean =>
    rules.some((r) => r.name === name && (queue === 'both' || queue === r.queue))
  return plan.commands
    .slice(0, taken)
    .filter((c) => c.verb === 'start' && !isIn(plan.before, c.rule, c.queue) && !isIn(now.rules, c.rule, c.queue))
    .map((c) => `${c.queue === 'both' ? '' : `${c.queue} `}stop ${c.rule}`)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export class ServerCommit implements ServerSender {
  readonly change: ServerChange
  readonly #service: Service
  readonly #parts: SendingParts
  readonly #values: readonly string[]
  readonly #commands: readonly string[]
  /** Rule commands that the server accepted, or may have accepted. */
  #taken = 0
  /** Commands that were still pending at their deadline. */
  readonly #open = new Map<string, Promise<unknown>>()
  #sent = false
  readonly #beganMs = performance.now()
  /** Set at the first read-back: from then on the first server is only watched. */
  #readBackMs: number | undefined

  constructor(service: Service, change: ServerChange, parts: SendingParts) {
    this.#service = service
    this.change = change
    this.#parts = parts
    this.#values = change.plan.commands.map((c) => c.value)
    this.#commands = ruleCommandsOf(service, change)
  }

  #end(state: EndState, detail: string): ServerEnd {
    const { plan, timers, keeps } = this.change
    const host = plan.server
    if (!this.#sent) return { host, state, detail }
    const tookMs = (this.#readBackMs ?? performance.now()) - this.#beganMs
    const hasTimers = state === 'done' || state === 'unknown' || state === 'failed'
    const timer = hasTimers && keeps !== 'none' ? timers.map((t) => t.unit).join(', ') : ''
    return { host, state, detail, tookMs, ...(timer === '' ? {} : { timer }) }
  }

  /** Reads the rules, retrying if there is no answer. */
  async #read(): Promise<ServerRules | undefined> {
    for (const ms of [0, ...this.#parts.pausesMs]) {
      if (ms > 0) await pause(ms)
      const read = await readServer(this.#parts.node, this.#service, this.change.found, this.#parts.answerMs)
      if (read) return read
    }
    return undefined
  }

  async #send(command: string): Promise<Answer> {
    const answer = await sendCommand(this.#parts.node, command, this.#parts.answerMs)
    if (answer.kind === 'late') {
      this.#open.set(command, answer.pending)
      void answer.pending.finally(() => this.#open.delete(command))
    }
    return answer
  }

  /** Checks that the server is unchanged since the plan was made; returns its end state if it is not. */
  async unmoved(): Promise<ServerEnd | undefined> {
    this.#parts.step('reading', 0)
    const now = await this.#read()
    if (!now) return this.#end('not sent', 'its rules could not be read before sending')
    const moved = planBaseDiff(this.change.found, now)
    return moved.length === 0 ? undefined : this.#end('not sent', `it changed since the review: ${moved.join('; ')}`)
  }

  /** Sends everything and reads it back; undefined if equal to the plan, else the end state after the rollback. */
  async send(): Promise<ServerEnd | undefined> {
    const noTimer = await this.#makeTimers()
    if (noTimer !== undefined) return this.rollBack(noTimer)
    const { step } = this.#parts
    for (const [i, command] of this.#commands.entries()) {
      const stopped = this.#parts.stop()
      if (stopped !== undefined) return this.rollBack(stopped)
      step('sending', i)
      this.#sent = true
      this.#taken = i + 1
      const answer = await this.#send(command)
      if (answer.kind === 'done') continue
      if (answer.kind === 'refused') {
        this.#taken = i
        return this.rollBack(answer.why)
      }
      const lost = await this.#judgeLost(i, answer.why)
      if (lost) return lost
    }
    return this.readBack()
  }

  /** Reads the rules and compares them with the plan; undefined if they are equal. */
  async readBack(): Promise<ServerEnd | undefined> {
    const { plan } = this.change
    this.#parts.step('reading back', this.#values.length)
    const after = await this.#read()
    this.#readBackMs ??= performance.now()
    if (!after) return this.#end('unknown', `the rules could not be read back${this.#timersStay()}`)
    const { differences } = compareHeads(plan.expected, plan.touched, after)
    if (differences.length === 0 && this.#open.size === 0) return undefined
    const gone = planBaseDiff(this.change.found, after, true)
    return this.rollBack(`read-back differs: ${[...gone, ...differences].join('; ')}`)
  }

  /** Completes the change: ends timers that are no longer needed. */
  async settle(): Promise<ServerEnd> {
    const remaining: string[] = []
    // A timer that is gone has already fired, and its rule is stopped.
    for (const unit of this.change.endTimers) if (!(await this.#endTimer(unit))) remaining.push(unit)
    const more =
      remaining.length === 0 ? '' : `; still pending, and stops its rule when it fires: ${remaining.join(', ')}`
    return this.#end('done', `verified by read-back${more}`)
  }

  /** Makes the timers. Returns undefined if every timer is in the server's list, the reason otherwise. */
  async #makeTimers(): Promise<string | undefined> {
    const { timers, keeps } = this.change
    // The operator accepted that the console keeps the time.
    if (keeps === 'none') return undefined
    for (const timer of timers) {
      const stopped = this.#parts.stop()
      if (stopped !== undefined) return stopped
      this.#parts.step('timer', 0)
      const command = makingOf(this.#service, timer, keeps)
      const spec = specOf(this.#service, timer)
      if (command === undefined || !spec) return `no timer can stop ${timer.rule}, so no rule was sent`
      this.#sent = true
      const answer = await this.#send(command)
      if (answer.kind === 'refused') return `no timer, so no rule: ${answer.why}`
      const found = await this.#withRetries(() => verifyTimer(this.#parts.node, spec))
      if (!found.ok) return `no timer, so no rule: ${found.error.why ?? found.error.what}`
    }
    return undefined
  }

  /** Retries while the server's timers cannot be read. */
  async #withRetries<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
    const once = async (): Promise<Result<T>> => {
      const result = await within(act(), this.#parts.answerMs)
      if (result.ok || result.error.code !== 'ANSWER_LATE') return result
      return fail({ code: 'TIMERS_UNREADABLE', what: 'the timers could not be read in time' })
    }
    let result = await once()
    for (const ms of this.#parts.pausesMs) {
      if (result.ok || result.error.code !== 'TIMERS_UNREADABLE') break
      await pause(ms)
      result = await once()
    }
    return result
  }

  /** Ends a timer; false while it may still exist. */
  async #endTimer(unit: string): Promise<boolean> {
    const command = endingOf(unit, this.change.keeps)
    if (command === undefined) return true
    const answer = await this.#send(command)
    if (answer.kind === 'done') return true
    const listed = await this.#withRetries(() => readTimers(this.#parts.node))
    return listed.ok && !listed.value.some((t) => t.unit === unit)
  }

  /** After a command without an answer, reads whether it was executed. */
  async #judgeLost(i: number, why: string): Promise<ServerEnd | undefined> {
    const { plan, found } = this.change
    const value = this.#values[i] as string
    const now = await this.#read()
    if (!now) return this.#end('unknown', `${value}: ${why}, and the rules cannot be read${this.#timersStay()}`)
    const expected = afterPlan(found, this.#values.slice(0, i + 1))
    const { differences } = compareHeads(expected, plan.touched, now)
    if (differences.length === 0 && this.#open.size === 0) return undefined
    return this.rollBack(`${value}: ${why}`)
  }

  #timersStay(): string {
    const { timers, keeps } = this.change
    if (timers.length === 0 || keeps === 'none') return ''
    return `; ${timers.map((t) => t.unit).join(', ')} will stop the remaining rules`
  }

  /** Rolls the server back to its rules before the change, from any state. */
  async rollBack(reason: string): Promise<ServerEnd> {
    const { plan, found, timers } = this.change
    const end = (state: EndState, more: string): ServerEnd => this.#end(state, `${reason}${more}`)
    this.#parts.step('rolling back', this.#taken)
    this.#readBackMs = undefined
    const now = await this.#read()
    if (!now) return end('unknown', `; the rules could not be read to roll back${this.#timersStay()}`)
    const isStopped = this.#parts.removesOnly()
    const planned = planRollback(now, plan.before, plan.touched).commands.filter((c) => !isStopped || c.verb === 'stop')
    const back = planned.map((c) => c.value)
    const stops = unseenStops(this.change, this.#taken, now)
    const commands = [...back, ...stops].map((v) => setParamCommand(this.#service.rules, v))
    const units = this.#sent ? timers.map((t) => t.unit) : []
    const ends = units.flatMap((u) => endingOf(u, this.change.keeps) ?? [])
    const isWork = commands.length + ends.length > 0
    const isRemoval = planned.every((c) => c.verb === 'stop')
    if (isRemoval && isWork) this.#parts.note([...commands, ...ends])
    else if (isWork && !this.#parts.record([...commands, ...ends])) {
      return end('failed', `; not rolled back, because it could not be recorded${this.#timersStay()}`)
    }
    for (const command of commands) await this.#send(command)
    return this.#afterRollBack(units, reason, found, plan.before)
  }

  async #afterRollBack(
    units: readonly string[],
    reason: string,
    found: ServerRules,
    before: readonly RuleLine[],
  ): Promise<ServerEnd> {
    const end = (state: EndState, more: string): ServerEnd => this.#end(state, `${reason}${more}`)
    const after = await this.#read()
    if (!after) return end('unknown', `; rolled back, but the rules could not be read${this.#timersStay()}`)
    const differences = compareHeads(before, this.change.plan.touched, after).differences
    const gone = planBaseDiff(found, after, true)
    // The remaining rules are stopped by their timers.
    if (differences.length > 0)
      return end('failed', `; left after the rollback: ${[...gone, ...differences].join('; ')}`)
    if (this.#open.size > 0) {
      const open = [...this.#open.keys()].join('; ')
      return end(
        'unknown',
        `; rolled back, but this is still in progress and may act later: ${open}${this.#timersStay()}`,
      )
    }
    const pending: string[] = []
    for (const unit of units) if (!(await this.#endTimer(unit))) pending.push(unit)
    if (pending.length === 0) return end('rolled back', '')
    return end('failed', `; no rule is left, but a timer may be: ${pending.join(', ')}`)
  }
}

/** Task that changes the rules of one server. */
export const ruleTask = (service: Service, change: ServerChange): ServerTask => ({
  host: change.plan.server,
  commands: commandsOf(service, change),
  of: change.plan.commands.length,
  begin: (parts) => new ServerCommit(service, change, parts),
})
