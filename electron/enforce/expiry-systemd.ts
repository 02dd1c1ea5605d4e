/**
 * Expiry timer of a server with systemd: a transient timer of the manager, which outlives everything but a reboot, and
 * a reboot removes the rules, too.
 *
 * AccuracySec: without it a timer may fire a minute late. --collect: a failed stop must not leave a unit behind; it
 * needs systemd 236 (2017), older ones use the detached shell. Neither `$` nor `%` may occur, since systemd expands
 * both.
 */
import { setParamCommand, shellQuote } from '#core/lustre/lctl.ts'
import { stopValue, type TimerSpec } from './expiry-spec.ts'

/** First release that supports --collect. */
export const SYSTEMD_LEAST = 236

export function makeSystemdTimer({ unit, seconds, stops }: TimerSpec, lctl: string): string {
  const commands = stops.map((s) => lctl + setParamCommand(s.parameter, stopValue(s)).slice('lctl'.length))
  const [only] = commands
  const run = commands.length === 1 ? only : `sh -c ${shellQuote(commands.join('; '))}`
  return `systemd-run --on-active=${seconds}s --timer-property=AccuracySec=1s --unit=${unit} --collect ${run}`
}

/**
 * File that systemd (230 and later) keeps for a transient timer: it is removed when the timer is stopped or has fired.
 */
export const systemdTimerFile = (unit: string): string => `/run/systemd/transient/${unit}.timer`

export const endSystemdTimer = (unit: string): string => `systemctl stop ${unit}.timer`

/**
 * `show` prints properties, in the same form since systemd 209; `list-timers` is for people and differs between
 * releases. --all: the service of a waiting timer is inactive, and for patterns systemctl omits inactive units.
 */
export const LIST_SYSTEMD_TIMERS =
  "systemctl show --all --property=Id,ActiveState,SubState,NextElapseUSecMonotonic,ExecStart 'sluice-*.timer' 'sluice-*.service'; " +
  'cat /proc/uptime'

const SPAN_S: Readonly<Record<string, number>> = {
  y: 31_557_600,
  year: 31_557_600,
  years: 31_557_600,
  month: 2_629_800,
  months: 2_629_800,
  w: 604_800,
  week: 604_800,
  weeks: 604_800,
  d: 86_400,
  day: 86_400,
  days: 86_400,
  h: 3600,
  hr: 3600,
  min: 60,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
}

/** Parses a timespan as systemd prints it, `1d 2h 3min 4.5s`, in seconds; undefined for `infinity` and invalid text. */
export function spanSeconds(text: string): number | undefined {
  let sum = 0
  const parts = text.trim().split(/\s+/)
  for (const part of parts) {
    const m = /^(\d+(?:\.\d+)?)([a-zµ]+)?$/.exec(part)
    const unit = SPAN_S[m?.[2] ?? 's']
    if (!m || unit === undefined) return undefined
    sum += Number(m[1]) * unit
  }
  return sum
}

/**
 * Arguments of a timer made by the helper on a server: `PARAMETER QUEUE NAME ...`; undefined for any other command
 * line.
 */
export function helperStops(command: string): string | undefined {
  const at = command.indexOf(HELPER_CALL)
  const end = command.indexOf(' ;', at)
  return at < 0 ? undefined : command.slice(at + HELPER_CALL.length, end < 0 ? undefined : end)
}
const HELPER_CALL = '/sluice-rule fire '

/** Parses waiting timers: unit, uptime at which each fires, and the command line it runs as systemd prints it. */
export function readSystemdTimers(
  stdout: string,
): { readonly unit: string; readonly at: number | undefined; readonly command: string }[] {
  const waiting = new Map<string, number | undefined>()
  const commands = new Map<string, string>()
  for (const block of stdout.split('\n\n')) {
    const at = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(block)?.[1]
    const [, unit, kind] = /^(.*)\.(timer|service)$/.exec(at('Id') ?? '') ?? []
    if (unit === undefined) continue
    if (kind === 'service') commands.set(unit, at('ExecStart') ?? '')
    else if (at('ActiveState') === 'active' && at('SubState') !== 'elapsed') {
      waiting.set(unit, spanSeconds(at('NextElapseUSecMonotonic') ?? ''))
    }
  }
  return [...waiting].map(([unit, at]) => ({ unit, at, command: commands.get(unit) ?? '' }))
}
