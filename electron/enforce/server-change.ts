/** What one server gets in a commit, how it ends, and the literal commands of both. */
import type { EditPlan } from '#core/control/edit-plan.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { TimerKind } from '../base/connection.ts'
import type { Service } from '../base/service.ts'
import { underTimer } from '../base/under-timer.ts'
import { endTimerCommand, fileOfTimer, makeTimerCommand } from './expiry.ts'
import { stopOf, type TimerSpec } from './expiry-spec.ts'

/** A timer that stops one rule: on the server, or in the console where a server can keep none. */
export interface ExpiryTimer {
  readonly unit: string
  readonly rule: string
  /** Value written to nrs_tbf_rule when it fires. */
  readonly value: string
  readonly seconds: number
}

/** What one server gets. */
export interface ServerChange {
  readonly plan: EditPlan
  /** The server as the plan found it. */
  readonly found: ServerRules
  readonly timers: readonly ExpiryTimer[]
  /** Timers of rules that the change stops, or gives another one. */
  readonly endTimers: readonly string[]
  /** How the server keeps timers; with `none` the console stops the rules, as long as it runs. */
  readonly keeps: TimerKind
}

/**
 * done: read back equal. rolled back: nothing of the change is left. failed: something is, and is named. unknown: it could
 * not be read, or something that was sent may still act. not sent: the server got nothing.
 */
export type EndState = 'done' | 'failed' | 'rolled back' | 'unknown' | 'not sent'
export interface ServerEnd {
  readonly host: string
  readonly state: EndState
  /** For people: what the server answered, or that the read-back is equal. */
  readonly detail: string
  /** Units that will stop what was set. */
  readonly timer?: string
  /** Time that it took, without the watch, ms. */
  readonly tookMs?: number
}

/** A timer as its server is told; undefined for a value that is no stop of a rule. */
export function specOf(service: Service, { unit, value, seconds }: ExpiryTimer): TimerSpec | undefined {
  const stop = stopOf(service.rules, value)
  return stop && { unit, seconds, stops: [stop] }
}

/** The command that makes a timer; undefined where the server keeps none, or the timer is out of bounds. */
export function makingOf(service: Service, timer: ExpiryTimer, keeps: TimerKind): string | undefined {
  const spec = specOf(service, timer)
  const made = spec && makeTimerCommand(keeps, spec)
  return made?.ok ? made.value : undefined
}

/** The command that takes a timer away; undefined where the server keeps none. */
export function endingOf(unit: string, keeps: TimerKind): string | undefined {
  const ended = endTimerCommand(keeps, unit)
  return ended.ok ? ended.value : undefined
}

/** The literal commands that write the rules, each start under its timer where the server can tell whether that waits. */
export const ruleCommandsOf = (service: Service, { plan, timers, keeps }: ServerChange): string[] =>
  plan.commands.map(({ verb, rule, value }) => {
    const command = setParamCommand(service.rules, value)
    const timer = verb === 'start' ? timers.find((t) => t.rule === rule) : undefined
    const file = timer && fileOfTimer(keeps, timer.unit)
    return file === undefined ? command : underTimer(file, command)
  })

/** The literal commands of one server, in the order in which they are sent. */
export const commandsOf = (service: Service, change: ServerChange): string[] => [
  ...change.timers.flatMap((t) => makingOf(service, t, change.keeps) ?? []),
  ...ruleCommandsOf(service, change),
  ...change.endTimers.flatMap((unit) => endingOf(unit, change.keeps) ?? []),
]

/** The literal commands that undo a change, in order. */
export const inverseOf = (service: Service, { plan, timers, keeps }: ServerChange): string[] => [
  ...plan.inverse.map(({ value }) => setParamCommand(service.rules, value)),
  ...timers.flatMap((t) => endingOf(t.unit, keeps) ?? []),
]
