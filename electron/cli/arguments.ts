/** Arguments that several commands take. */
import { existsSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { CONTROL_MAX_MS, CONTROL_MS, controlMs } from '#core/api/clusters.ts'
import { EXPIRY_MAX_S } from '#core/api/rule-edits.ts'
import { demoScenario } from '../files/resources.ts'

/** Path of a scenario named on the command line; `demo` is the built-in one. */
export const scenarioFile = (name: string): string => (name === 'demo' && !existsSync(name) ? demoScenario() : name)

export const seconds = (text: string): number => {
  const n = Number(text)
  if (!(n > 0 && n <= 1e6)) throw new InvalidArgumentError('Seconds above 0 and up to 1000000.')
  return n
}

/** Control period of a server, ms. */
export const controlPeriod = (text: string): number => {
  const parsed = controlMs.safeParse(/^\d{1,5}$/.test(text) ? Number(text) : undefined)
  if (!parsed.success) throw new InvalidArgumentError(`Whole milliseconds from ${CONTROL_MS} to ${CONTROL_MAX_MS}.`)
  return parsed.data
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Lifetime of a rule in seconds, from text such as `30m`, `90s` or `2h`; 5 s to one week. */
export const expiry = (text: string): number => {
  const [, number = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)([smhd])$/.exec(text) ?? []
  const n = Math.round(Number(number) * (UNITS[unit] ?? NaN))
  if (number === '' || !(n >= 5 && n <= EXPIRY_MAX_S)) {
    throw new InvalidArgumentError('A number and s, m, h or d: from 5s to 7d.')
  }
  return n
}

/** Seconds that the canary server is watched. */
export const canary = (text: string): number => {
  const n = Number(text)
  if (text.trim() === '' || !(n >= 0 && n <= 600)) throw new InvalidArgumentError('Seconds, 0 to 600.')
  return n
}
