/** Specification of a timer: the rules it stops, and when. Nothing out of these bounds becomes a command. */
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { SERVICES } from '../base/service.ts'

/** Rule that a timer stops. */
export interface TimerStop {
  /** Parameter that the rule is written to. */
  readonly parameter: string
  readonly queue: QueueChoice
  readonly name: string
}

export interface TimerSpec {
  /** `sluice-` and a unique suffix. */
  readonly unit: string
  readonly seconds: number
  readonly stops: readonly TimerStop[]
}

/** A week. More than a day needs a second confirmation, which is checked elsewhere. */
export const SECONDS_MOST = 604_800
const UNIT = /^sluice-[A-Za-z0-9][A-Za-z0-9_-]{0,55}$/
export const NAME = /^[A-Za-z0-9_]{1,15}$/
/** `lctl`, or its path. */
const LCTL = /^(?:(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*)*\/)?lctl$/
/** Upper bound of rules that one timer can name within the 120 KiB of a command. */
const STOPS_MOST = 1_000
export const PARAMETERS: ReadonlySet<string> = new Set(Object.values(SERVICES).map((s) => s.rules))

export const isLctl = (path: string): boolean => LCTL.test(path)
export const isUnit = (text: string): boolean => UNIT.test(text)

/** Value that stops a rule. */
export const stopValue = (s: Pick<TimerStop, 'queue' | 'name'>): string =>
  s.queue === 'both' ? `stop ${s.name}` : `${s.queue} stop ${s.name}`

/** Parses a stop from the value that is written to a parameter; undefined for any other value. */
export function stopOf(parameter: string, value: string): TimerStop | undefined {
  const m = /^(?:(reg|hp) )?stop (\S+)$/.exec(value)
  return m ? { parameter, queue: (m[1] ?? 'both') as QueueChoice, name: m[2] ?? '' } : undefined
}

/** Reason why a timer is not valid; undefined if it is. */
export function faultOf({ unit, seconds, stops }: TimerSpec): string | undefined {
  if (!isUnit(unit)) return 'its name is not a Sluice timer name'
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > SECONDS_MOST) return `it may take 1 to ${SECONDS_MOST} s`
  if (stops.length === 0) return 'it would stop nothing'
  if (stops.length > STOPS_MOST) return `it would stop more than ${STOPS_MOST} rules`
  const bad = stops.find((s) => !PARAMETERS.has(s.parameter) || !NAME.test(s.name) || s.name === 'default')
  return bad && 'it would stop a rule that is not valid'
}
