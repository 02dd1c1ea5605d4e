/** Change of one server in a commit, its end state, and the literal commands of both. */
import type { EditPlan } from '#core/control/edit-plan.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { TimerKind } from '../base/connection.ts'
import type { Service } from '../base/service.ts'
import { whileTimerExists } from '../base/while-timer-exists.ts'
import { endTimerCommand, fileOfTimer, makeTimerCommand } from './expiry.ts'
import { stopOf, type TimerSpec } from './expiry-spec.ts'

/** Timer that stops one rule: on the server, or in the console if the server can keep none. */
export interface ExpiryTimer {
  readonly unit: string
  readonly rule: string
  /** Value written to nrs_tbf_rule when it fires. */
  readonly value: string
  readonly seconds: number
}

/** Change of one server. */
export interface ServerChange {
  readonly plan: EditPlan
  /** Rules of the server when the change was planned. */
  readonly found: ServerRules
  readonly timers: readonly ExpiryTimer[]
  /** Timers of rules that the change stops, or gives another timer. */
  readonly endTimers: readonly string[]
  /** Timer mechanism of the server; with `none` the console stops the rules, as long as it runs. */
  readonly keeps: TimerKind
}

/**
 * done: verified by read-back. rolled back: nothing of the change is left. failed: something is left, and is named. unknown:
 * the rules could not be read, or a command may still act. not sent: the server got nothing.
 */
export type EndState = 'done' | 'failed' | 'rolled back' | 'unknown' | 'not sent'
export interface ServerEnd {
  readonly host: string
  readonly state: EndState
  /** Text for display: the server's error messages, or that the read-back is equal. */
  readonly detail: string
  /** Units that will stop the new rules. */
  readonly timer?: string
  /** Duration without the watch, ms. */
  readonly tookMs?: number
}

/** Specification of a timer for its server; undefined for a value that does not stop a rule. */
export function specOf(service: Service, { unit, value, seconds }: ExpiryTimer): TimerSpec | undefined {
  const stop = stopOf(service.rules, value)
  return stop && { unit, seconds, stops: [stop] }
}

/** Command that makes a timer; undefined if the server keeps none, or the timer is out of bounds. */
export function makingOf(service: Service, timer: ExpiryTimer, keeps: TimerKind): string | undefined {
  const spec = specOf(service, timer)
  const made = spec && makeTimerCommand(keeps, spec)
  return made?.ok ? made.value : undefined
}

/** Command that ends a timer; undefined if the server keeps none. */
export function endingOf(unit: string, keeps: TimerKind): string | undefined {
  const ended = endTimerCommand(keeps, unit)
  return ended.ok ? ended.value : undefined
}

/** Literal commands that write the rules; each start runs only while its timer exists, if the server can check that. */
export const ruleCommandsOf = (service: Service, { plan, timers, keeps }: ServerChange): string[] =>
  plan.commands.map(({ verb, rule, value }) => {
    const command = setParamCommand(service.rules, value)
    const timer = verb === 'start' ? timers.find((t) => t.rule === rule) : undefined
    const file = timer && fileOfTimer(keeps, timer.unit)
    return file === undefined ? command : whileTimerExists(file, command)
  })

/** Literal commands of one server, in the order in which they are sent. */
export const commandsOf = (service: Service, change: ServerChange): string[] => [
  ...change.timers.flatMap((t) => makingOf(service, t, change.keeps) ?? []),
  ...ruleCommandsOf(service, change),
  ...change.endTimers.flatMap((unit) => endingOf(unit, change.keeps) ?? []),
]

/**
 * Literal commands that undo a change, in order. The timer of a rule that the change did not start stays: without it the
 * rule would never expire.
 */
export const inverseOf = (service: Service, { plan, timers, keeps }: ServerChange): string[] => [
  ...plan.inverse.map(({ value }) => setParamCommand(service.rules, value)),
  ...timers
    .filter((t) => plan.commands.some(({ verb, rule }) => verb === 'start' && rule === t.rule))
    .flatMap((t) => endingOf(t.unit, keeps) ?? []),
]
