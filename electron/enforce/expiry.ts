/**
 * Expiry timers on a server that stop rules of Sluice, by the mechanism of the server: commands that make, end and list
 * them, and the parser of the list.
 *
 * A timer is made before the rules it stops, and counts only once it is listed. It names rules and nothing else;
 * stopping a rule that is gone succeeds on a server, so a timer may fire late, early or twice without harm.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import type { NodeConnection, TimerKind } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { endShellTimer, LIST_SHELL_TIMERS, makeShellTimer, readShellTimers } from './expiry-shell.ts'
import { faultOf, isLctl, isUnit, NAME, PARAMETERS, type TimerSpec, type TimerStop } from './expiry-spec.ts'
import {
  endSystemdTimer,
  helperStops,
  LIST_SYSTEMD_TIMERS,
  makeSystemdTimer,
  readSystemdTimers,
  systemdTimerFile,
} from './expiry-systemd.ts'

/** A timer as a server lists it. */
export interface FoundTimer {
  readonly unit: string
  readonly stops: readonly TimerStop[]
  /** Seconds until it fires; undefined if unknown. */
  readonly leftS: number | undefined
  /** pid of a detached shell. */
  readonly pid?: number | undefined
  /** false: a process of another login, which proves nothing and cannot be ended. */
  readonly isOwn: boolean
  /** Path that exists as long as the timer waits; undefined if the server has none. */
  readonly file?: string | undefined
}

/** Root commands as called inside a detached shell, to which no later step can add a `sudo`. */
export interface RootCommands {
  /** Path of lctl, for example `/usr/sbin/lctl`. */
  readonly lctl: string
  readonly sudo: boolean
}
export const DIRECT_LCTL: RootCommands = { lctl: 'lctl', sudo: false }

const refuse = (why: string): Result<never> =>
  fail({
    code: 'TIMER_REFUSED',
    what: 'No expiry timer was made',
    why,
    unaffected: 'No rule was written.',
    next: 'Choose another name, or another time.',
  })

const noTimers = (): Result<never> =>
  fail({
    code: 'NO_TIMERS',
    what: 'No expiry timer can be made on this server',
    why: 'it has neither systemd-run, nor the helper, nor a shell that outlives its session',
    unaffected: 'No rule was written.',
    next: 'Allow systemd-run in sudoers, install the helper, or use a console timer: the rule then expires only while this console runs.',
  })

const commandOf = ({ lctl, sudo }: RootCommands): string => (sudo ? `sudo -n ${lctl}` : lctl)
const plainArguments = (s: TimerStop): string => `${s.parameter} ${s.queue} ${s.name}`

/**
 * Command that makes a timer. Failures: TIMER_REFUSED (a name, a time or a number out of bounds), NO_TIMERS.
 *
 * @param root  for the detached shell: how lctl is called when it fires.
 */
export function makeTimerCommand(kind: TimerKind, t: TimerSpec, root: RootCommands = DIRECT_LCTL): Result<string> {
  const fault = faultOf(t)
  if (fault !== undefined) return refuse(fault)
  if (!isLctl(root.lctl)) return refuse('the path of lctl is not valid')
  if (kind === 'systemd') return ok(makeSystemdTimer(t, root.lctl))
  if (kind === 'shell') return ok(makeShellTimer(t, commandOf(root)))
  if (kind === 'helper') return ok(`sluice-rule expire ${t.seconds} ${t.unit} ${t.stops.map(plainArguments).join(' ')}`)
  return noTimers()
}

/** File of a timer that is yet to be made, if its name determines it. */
export const fileOfTimer = (kind: TimerKind, unit: string): string | undefined =>
  kind === 'systemd' && isUnit(unit) ? systemdTimerFile(unit) : undefined

/** Command that ends a timer; exit 5 if it does not exist. Failures: those of making one. */
export function endTimerCommand(kind: TimerKind, unit: string): Result<string> {
  if (!isUnit(unit)) return refuse('its name is not a Sluice timer name')
  if (kind === 'systemd') return ok(endSystemdTimer(unit))
  if (kind === 'shell') return ok(endShellTimer(unit))
  return kind === 'helper' ? ok(`sluice-rule end ${unit}`) : noTimers()
}

/** Command that lists Sluice's timers. It changes nothing. Failures: NO_TIMERS. */
export function listTimersCommand(kind: TimerKind): Result<string> {
  if (kind === 'systemd') return ok(LIST_SYSTEMD_TIMERS)
  if (kind === 'shell') return ok(LIST_SHELL_TIMERS)
  return kind === 'helper' ? ok('sluice-rule list') : noTimers()
}

const UPTIME = /^(\d+(?:\.\d+)?) \d+(?:\.\d+)?$/m

/** Parses `PARAMETER QUEUE NAME ...`; undefined for anything else. */
function parseStops(text: string): TimerStop[] | undefined {
  const parts = text.split(' ')
  const stops: TimerStop[] = []
  for (let i = 0; i < parts.length; i += 3) {
    const [parameter = '', queue = '', name = ''] = parts.slice(i, i + 3)
    if (!PARAMETERS.has(parameter) || !/^(?:reg|hp|both)$/.test(queue) || !NAME.test(name)) return undefined
    stops.push({ parameter, queue: queue as QueueChoice, name })
  }
  return stops
}

const STOP_VALUE = /=["'\\]*(?:(reg|hp) )?stop ([A-Za-z0-9_]{1,15})(?![A-Za-z0-9_])/y

/**
 * Rules that a command line stops, however its words are quoted. Linear in its length, as a server may print anything.
 */
function stopsOfCommand(text: string): TimerStop[] {
  const found: { readonly at: number; readonly stop: TimerStop }[] = []
  for (const parameter of PARAMETERS) {
    for (let at = text.indexOf(parameter); at >= 0; at = text.indexOf(parameter, at + parameter.length)) {
      STOP_VALUE.lastIndex = at + parameter.length
      const [, queue = 'both', name] = STOP_VALUE.exec(text) ?? []
      const isWholeName = at === 0 || !/[A-Za-z0-9_.]/.test(text[at - 1] ?? '')
      if (name !== undefined && isWholeName) found.push({ at, stop: { parameter, queue: queue as QueueChoice, name } })
    }
  }
  return found.sort((a, b) => a.at - b.at).map((f) => f.stop)
}

const HELPER_LINE = /^timer (\S+) (\d+) (.*)$/

/** Parses the output of `listTimersCommand`. Other lines are skipped; two of the same name count once. */
export function parseTimers(kind: TimerKind, stdout: string): FoundTimer[] {
  const up = UPTIME.exec(stdout)?.[1]
  const remaining = (at: number | undefined): number | undefined =>
    at === undefined || up === undefined ? undefined : Math.max(0, at - Number(up))
  const found = new Map<string, FoundTimer>()
  const add = (t: FoundTimer): void => {
    // A timer of another login must not hide Sluice's own.
    if (isUnit(t.unit) && (t.isOwn || !found.has(t.unit)) && !found.get(t.unit)?.isOwn) found.set(t.unit, t)
  }
  if (kind === 'systemd' || kind === 'helper') {
    for (const { unit, at, command } of readSystemdTimers(stdout)) {
      const parts = helperStops(command)
      const stops = parts === undefined ? stopsOfCommand(command) : (parseStops(parts) ?? [])
      add({ unit, stops, leftS: remaining(at), isOwn: true, file: systemdTimerFile(unit) })
    }
  }
  if (kind === 'shell') {
    for (const { pid, isOwn, unit, at, rest } of readShellTimers(stdout)) {
      const stops = parseStops(rest)
      if (stops) add({ unit, stops, leftS: remaining(at), pid, isOwn, file: `/proc/${pid}` })
    }
  } else if (kind === 'helper') {
    // Server without systemd: the helper keeps the time itself.
    for (const line of stdout.split('\n')) {
      const m = HELPER_LINE.exec(line)
      const stops = m && parseStops(m[3] ?? '')
      if (m && stops) add({ unit: m[1] ?? '', stops, leftS: remaining(Number(m[2])), isOwn: true })
    }
  }
  return [...found.values()]
}

const keyOf = (s: TimerStop): string => `${s.parameter} ${s.queue} ${s.name}`

/** True if a listed timer stops everything in `wanted`; a stop of both queues covers either. */
export function covers(found: Pick<FoundTimer, 'stops'>, wanted: readonly TimerStop[]): boolean {
  const there = new Set(found.stops.map(keyOf))
  return wanted.every((s) => there.has(keyOf(s)) || there.has(keyOf({ ...s, queue: 'both' })))
}

/** Deadline after which a server counts as unresponsive, wall ms. */
export const ANSWER_MS = 30_000
/** Longest list of timers that is parsed, bytes: a hundred timers of a thousand rules. */
const LIST_MOST = 8 << 20

/** Timers of a server. */
export interface TimerList {
  readonly timers: readonly FoundTimer[]
  /** Uptime of the server, s: a reboot removes its timers and its rules. */
  readonly upS: number
}

/**
 * Reads Sluice's timers on a server. Failures: NO_TIMERS, TIMERS_UNREADABLE.
 *
 * An empty list is accepted only if the answer is complete, ending with the server's uptime.
 */
export async function readTimers(node: NodeConnection, answerMs = ANSWER_MS): Promise<Result<FoundTimer[]>> {
  const read = await readTimerList(node, answerMs)
  return read.ok ? ok([...read.value.timers]) : read
}

/** Same as readTimers, with the server's uptime. */
export async function readTimerList(node: NodeConnection, answerMs = ANSWER_MS): Promise<Result<TimerList>> {
  const kind = node.timers ?? 'systemd'
  const command = listTimersCommand(kind)
  if (!command.ok) return command
  const ran = await within(node.exec(command.value), answerMs)
  const r = ran.ok ? ran.value : undefined
  const isLong = r !== undefined && r.stdout.length > LIST_MOST
  const up = r?.code === 0 && !isLong ? UPTIME.exec(r.stdout)?.[1] : undefined
  if (r && up !== undefined) return ok({ timers: parseTimers(kind, r.stdout), upS: Number(up) })
  const message = r?.stderr.trim().split('\n').at(-1) ?? ''
  return fail({
    code: 'TIMERS_UNREADABLE',
    what: `The expiry timers of ${node.host} could not be read`,
    why: isLong ? `it printed ${r.stdout.length} bytes` : r ? message : 'the server did not answer',
    unaffected: 'Existing timers still fire.',
    next: 'Read them again when the server answers.',
  })
}

/**
 * Checks that a timer that was just made is listed, stops what it must and fires in time. Failures: those of reading;
 * TIMER_MISSING.
 */
export async function verifyTimer(node: NodeConnection, t: TimerSpec): Promise<Result<FoundTimer>> {
  const missing = (why: string): Result<never> =>
    fail({
      code: 'TIMER_MISSING',
      what: `The expiry timer on ${node.host} does not match the request`,
      why,
      unaffected: 'No rule was written.',
      next: 'Check the timers of the server.',
    } satisfies Failure)
  const read = await readTimers(node)
  if (!read.ok) return read
  const found = read.value.find((f) => f.unit === t.unit)
  if (!found?.isOwn) return missing(`${t.unit} is not in its list of timers`)
  if (!covers(found, t.stops)) return missing(`${t.unit} does not stop every rule`)
  if (found.leftS !== undefined && found.leftS > t.seconds + 1) return missing(`${t.unit} fires too late`)
  return ok(found)
}
