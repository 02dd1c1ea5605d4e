/**
 * `systemd-run --on-active=`: commands that a node runs once, later, as root. Output as of systemd 252 or 257; a timer fires
 * exactly on time, regardless of its AccuracySec.
 */
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import { exitWith, type ExecResult } from './exec.ts'

const UNITS: Readonly<Record<string, number>> = {
  ms: NS_PER_MS,
  s: NS_PER_S,
  sec: NS_PER_S,
  m: 60 * NS_PER_S,
  min: 60 * NS_PER_S,
  h: 3600 * NS_PER_S,
  hr: 3600 * NS_PER_S,
  d: 86_400 * NS_PER_S,
}

/** `90`, `90s`, `5m`, `1h 30min` in ns; undefined for anything else. */
function parseSpan(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * NS_PER_S
  if (!/^(?:\d{1,9}(?:ms|s|sec|m|min|h|hr|d) ?)+$/.test(text)) return undefined
  let ns = 0
  for (const [, n, unit] of text.matchAll(/(\d+)([a-z]+)/g)) ns += Number(n) * (UNITS[unit ?? ''] ?? NaN)
  return ns
}

/** Releases of systemd whose output differs: those of Debian 12 and 13. */
export type SystemdVersion = 252 | 257

/** Quotes a word of a command line as systemd 257 does. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replace(/["\\$`]/g, '\\$&')}"`

/** Default description of a unit in systemd. */
const described = (argv: readonly string[], version: SystemdVersion): string =>
  version === 252 ? argv.join(' ') : `[systemd-run] ${argv.map(quoted).join(' ')}`

export interface TransientTimer {
  /** Name without `.timer`. */
  readonly unit: string
  /** Expiry, virtual ns. */
  readonly at: number
  readonly description: string
  /** Command to run, the program by its path. */
  readonly argv: readonly string[]
}

/** Options without a value that have no effect here. */
const FLAGS = new Set(['--collect', '-G', '--no-block', '--no-ask-password'])

interface Order {
  unit: string
  span: string | undefined
  description: string | undefined
  isQuiet: boolean
  command: readonly string[]
}

/** @returns the parsed options, or the error message of systemd-run. */
function parseOptions(args: readonly string[]): Order | string {
  const order: Order = { unit: '', span: undefined, description: undefined, isQuiet: false, command: [] }
  let i = 0
  for (; i < args.length && (args[i] as string).startsWith('-'); i++) {
    const arg = args[i] as string
    if (arg === '--') {
      i++
      break
    }
    if (FLAGS.has(arg)) continue
    if (arg === '--quiet' || arg === '-q') {
      order.isQuiet = true
      continue
    }
    const [, key = arg, inline] = /^(--[a-z-]+)=(.*)$/s.exec(arg) ?? []
    if (!['--on-active', '--unit', '--description', '--timer-property'].includes(key)) {
      return key.startsWith('--') ? `unrecognized option '${key}'` : `invalid option -- '${key.slice(1, 2)}'`
    }
    const value = inline ?? args[++i]
    if (value === undefined) return `option '${key}' requires an argument`
    if (key === '--on-active') order.span = value
    else if (key === '--unit') order.unit = value.replace(/\.timer$/, '')
    else if (key === '--description') order.description = value
    else if (!/^AccuracySec=\d{1,9}(?:us|ms|s|m|min|h)?$/.test(value)) return `unknown assignment: ${value}`
  }
  return { ...order, command: args.slice(i) }
}

export class TransientTimers {
  readonly #sim: Simulation
  readonly #run: (argv: readonly string[]) => void
  /** Path of a program on root's PATH. */
  readonly #pathOf: (name: string) => string | undefined
  /** Timers by unit; each start creates a new object. */
  readonly #timers = new Map<string, TransientTimer>()
  readonly #version: SystemdVersion

  constructor(
    sim: Simulation,
    run: (argv: readonly string[]) => void,
    pathOf: (name: string) => string | undefined,
    version: SystemdVersion,
  ) {
    this.#sim = sim
    this.#version = version
    this.#run = run
    this.#pathOf = pathOf
  }

  /** Pending timers: expiry (virtual ns) by name. */
  get pending(): ReadonlyMap<string, number> {
    return new Map([...this.#timers].map(([unit, { at }]) => [unit, at]))
  }

  /** Pending timers, the next one first. */
  get all(): readonly TransientTimer[] {
    return [...this.#timers.values()].sort((a, b) => a.at - b.at)
  }

  find(unit: string): TransientTimer | undefined {
    return this.#timers.get(unit)
  }

  /** `systemd-run --unit=U --on-active=SPAN [--quiet] [--collect] ... [--] COMMAND ...`. */
  start(args: readonly string[]): ExecResult {
    const order = parseOptions(args)
    if (typeof order === 'string') return exitWith(1, `systemd-run: ${order}\n`)
    const { unit, command } = order
    const [name, ...commandArgs] = command
    if (order.span === undefined || unit === '') {
      return exitWith(1, 'systemd-run: without --on-active= and --unit= nothing is run on this emulated node\n')
    }
    if (name === undefined) return exitWith(1, 'Command line to execute required.\n')
    const span = parseSpan(order.span)
    if (span === undefined) return exitWith(1, `Failed to parse OnActiveSec=${order.span}: Invalid argument\n`)
    if (!/^[\w:.@\\-]{1,200}$/.test(unit)) return exitWith(1, 'Failed to mangle unit name: Invalid argument\n')
    const path = this.#pathOf(name)
    if (path === undefined) return exitWith(1, `Failed to find executable ${name}: No such file or directory\n`)
    if (this.#timers.has(unit)) {
      return exitWith(
        1,
        `Failed to start transient timer unit: Unit ${unit}.timer was already loaded or has a fragment file.\n`,
      )
    }
    const argv = [path, ...commandArgs]
    const description = order.description ?? described(argv, this.#version)
    const timer: TransientTimer = { unit, at: this.#sim.now + span, description, argv }
    this.#timers.set(unit, timer)
    this.#sim.at(timer.at, () => {
      // A unit that was stopped, and possibly started again, is another timer.
      if (this.#timers.get(unit) !== timer) return
      this.#timers.delete(unit)
      this.#run(argv)
    })
    const message = `Running timer as unit: ${unit}.timer\nWill run service as unit: ${unit}.service\n`
    return exitWith(0, order.isQuiet ? '' : message)
  }

  /** True if a path is the unit file of a pending timer; systemd keeps the file until the timer is stopped or has fired. */
  hasFile(path: string): boolean {
    const [, unit] = /^\/run\/systemd\/transient\/([^/]+)\.timer$/.exec(path) ?? []
    return unit !== undefined && this.#timers.has(unit)
  }

  /** Stops and removes a timer; false if it does not exist. */
  stop(unit: string): boolean {
    return this.#timers.delete(unit)
  }
}
