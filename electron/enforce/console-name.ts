/**
 * Names of timer units that identify the console that made them, so that another console can show whose they are:
 * `sluice-lease-USER--HOST-SESSION-N` for a lease, `sluice-stop-…` and `sluice-take-…` for the timer that covers rules
 * while they are removed by a stop or a take-over.
 */
import { randomBytes } from 'node:crypto'

/** Purpose of a unit. */
export type UnitPurpose = 'lease' | 'stop' | 'take'

export interface ConsoleUnit {
  readonly purpose: UnitPurpose
  /** `user@host` as far as the grammar of units allows; empty if the name has none. */
  readonly console: string
  /** Distinguishes one start of a console from the next. */
  readonly session: string
}

/** The 63 characters of a unit name must also hold the purpose, the session and a number. */
const USER_MOST = 10
const HOST_MOST = 16

/** Letters, digits, `_` and single dashes; anything else becomes `_`. */
const part = (text: string, most: number): string =>
  text
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/-{2,}/g, '-')
    .slice(0, most)
    .replace(/^[-_]+|[-_]+$/g, '') || 'unknown'

/** Part of a unit name that identifies a console. @param user  `user@host`, as in the audit. */
export function consoleTag(user: string): string {
  const at = user.lastIndexOf('@')
  const name = user.slice(0, Math.max(0, at))
  const host = user.slice(at + 1).split('.')[0] ?? ''
  return `${part(name, USER_MOST)}--${part(host, HOST_MOST)}`
}

/** Session id that distinguishes the timers of one start of a console from those of another. */
export const newSession = (user: string): string => `${consoleTag(user)}-${randomBytes(3).toString('hex')}`

const UNIT =
  /^sluice-(lease|stop|take)-(?:([A-Za-z0-9_](?:-?[A-Za-z0-9_])*)--([A-Za-z0-9_](?:-?[A-Za-z0-9_])*)-([0-9a-f]{6})|([A-Za-z0-9]+))(?:-md)?-\d+$/

/** Parses the name of a unit; undefined for the timer of a rule. */
export function consoleUnit(unit: string): ConsoleUnit | undefined {
  const [, purpose, user, host, hash, older = ''] = UNIT.exec(unit) ?? []
  if (purpose === undefined) return undefined
  return {
    purpose: purpose as UnitPurpose,
    console: user === undefined ? '' : `${user}@${host ?? ''}`,
    session: hash ?? older,
  }
}

/** Name of a console for display. */
export const consoleName = (unit: string): string => {
  const known = consoleUnit(unit)
  return known === undefined || known.console === '' ? 'another console' : known.console
}

/** True for a unit made by the console of a session, `USER--HOST-HEX` or its last part. */
export const isOfSession = (unit: string, session: string): boolean =>
  consoleUnit(unit)?.session === (session.split('-').at(-1) ?? '')
