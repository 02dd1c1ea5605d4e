/**
 * `systemctl` of an emulated node: the system state, and the node's transient timers, each with the service that it starts; a
 * node has no other units. It answers as systemd 252, or as 257 if the node has that; a test compares it with recorded answers
 * of both.
 *
 * A pattern matches inactive units only with --all; the service of a waiting timer is inactive.
 */
import { NS_PER_S } from '../base/units.ts'
import { utc } from './calendar.ts'
import { done, exitWith, type ExecResult } from './exec.ts'
import { matchesGlob } from './shell/match-glob.ts'
import type { NodeClock } from './system-tools.ts'
import type { SystemdVersion, TransientTimer, TransientTimers } from './transient-timers.ts'

const US = 1000
const SPANS: readonly (readonly [string, number])[] = [
  ['d', 86_400e6],
  ['h', 3600e6],
  ['min', 60e6],
  ['s', 1e6],
  ['ms', 1e3],
  ['us', 1],
]

/** `Fri 2025-11-21 13:30:00 UTC`. */
export function timestamp(unixNs: bigint): string {
  const { weekday, date, time } = utc(Number(unixNs / 1_000_000_000n))
  return `${weekday} ${date} ${time} UTC`
}

/** Future time in the format of systemd's format_timestamp_relative. */
function remainingText(ns: number): string {
  const s = Math.floor(ns / NS_PER_S)
  const part = (unit: number, name: string): string => `${Math.floor(s / unit)}${name}`
  const rest = (unit: number, sub: number, name: string): string => `${Math.floor((s % unit) / sub)}${name}`
  if (s >= 2 * 86_400) return `${part(86_400, ' days')} left`
  if (s >= 25 * 3600) return `1 day ${rest(86_400, 3600, 'h')} left`
  if (s >= 6 * 3600) return `${part(3600, 'h')} left`
  if (s >= 3600) return `${part(3600, 'h')} ${rest(3600, 60, 'min')} left`
  if (s >= 300) return `${part(60, 'min')} left`
  if (s >= 60) return `${part(60, 'min')} ${rest(60, 1, 's')} left`
  if (s >= 1) return `${s}s left`
  return `${Math.floor(ns / 1e6)}ms left`
}

/** Time span in the format of systemd's format_timespan, to the microsecond: `1h 30min 2.500000s`. */
export function span(us: number): string {
  if (us === 0) return '0'
  const parts: string[] = []
  let rest = us
  for (const [name, size] of SPANS) {
    const digits = Math.log10(size)
    if (size < 60e6 && Number.isInteger(digits) && digits > 0 && rest >= size && rest % size !== 0) {
      parts.push(`${Math.floor(rest / size)}.${String(rest % size).padStart(digits, '0')}${name}`)
      return parts.join(' ')
    }
    if (rest >= size) parts.push(`${Math.floor(rest / size)}${name}`)
    rest %= size
  }
  return parts.join(' ')
}

const unitOf = (name: string): string => (/\.[a-z]+$/.test(name) ? name : `${name}.service`)

/** Columns as wide as their widest cell; no padding after the last one. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((r) => (r[i] ?? '').length))) ?? []
  const last = widths.length - 1
  return rows.map((r) => `${r.map((c, i) => (i === last ? c : c.padEnd(widths[i] ?? 0))).join(' ')}\n`).join('')
}

interface Options {
  readonly verb: string
  readonly names: readonly string[]
  readonly hasLegend: boolean
  readonly isAll: boolean
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** `--value` of `show`: prints values without names. */
  readonly isValue: boolean
  readonly properties: readonly string[] | undefined
  readonly types: readonly string[] | undefined
}

const PLAIN = new Set(['--plain', '--full', '-l', '--no-pager', '--no-ask-password'])

function parseOptions(args: readonly string[]): Options | string {
  const names: string[] = []
  let hasLegend = true
  let isAll = false
  let isJson = false
  let isQuiet = false
  let isValue = false
  let properties: string[] | undefined
  let types: string[] | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (!arg.startsWith('-')) names.push(arg)
    else if (PLAIN.has(arg)) continue
    else if (arg === '--all' || arg === '-a') isAll = true
    else if (arg === '--no-legend' || arg === '--legend=false') hasLegend = false
    else if (arg === '--output=json' || arg === '--output=json-pretty') isJson = true
    else if (arg === '--quiet' || arg === '-q') isQuiet = true
    else if (arg === '--value') isValue = true
    else {
      const [, key, inline] = /^(--property|--type|-p|-t)(?:=(.*))?$/.exec(arg) ?? []
      const value = inline ?? args[++i]
      if (key === undefined) return `unrecognized option '${arg.split('=', 1)[0] ?? ''}'`
      if (value === undefined) return `option '${key}' requires an argument`
      if (key === '--property' || key === '-p') properties = [...(properties ?? []), ...value.split(',')]
      else types = value.split(',')
    }
  }
  const [verb = 'list-units', ...rest] = names
  return { verb, names: rest, hasLegend, isAll, isJson, isQuiet, isValue, properties, types }
}

export class Systemctl {
  readonly #timers: TransientTimers
  readonly #clock: NodeClock
  readonly #version: SystemdVersion

  constructor(timers: TransientTimers, clock: NodeClock, version: SystemdVersion) {
    this.#timers = timers
    this.#clock = clock
    this.#version = version
  }

  /** @param isRoot  only root may stop a unit. */
  run(args: readonly string[], isRoot: boolean): ExecResult {
    const o = parseOptions(args)
    if (typeof o === 'string') return exitWith(1, `systemctl: ${o}\n`)
    switch (o.verb) {
      case 'is-system-running':
        return done(o.isQuiet ? '' : 'running\n')
      case 'list-timers':
        return this.#listTimers(o)
      case 'list-units':
        return this.#listUnits(o)
      case 'show':
        return this.#show(o)
      case 'is-active':
        return this.#isActive(o)
      case 'stop':
      case 'reset-failed':
        return this.#change(o, isRoot)
      default:
        return exitWith(1, `Unknown command verb ${this.#version === 252 ? o.verb : `'${o.verb}'`}.\n`)
    }
  }

  /** Timers whose unit matches a pattern; all if there are no patterns. */
  #chosen({ names, types }: Options): readonly TransientTimer[] {
    if (types && !types.includes('timer')) return []
    return this.#timers.all.filter(
      (t) => names.length === 0 || names.some((n) => matchesGlob(n, `${t.unit}.timer`) || n === t.unit),
    )
  }

  #unixNs(t: TransientTimer): bigint {
    return this.#clock.unixNs() + BigInt(t.at - this.#clock.nowNs())
  }

  #listTimers(o: Options): ExecResult {
    const chosen = this.#chosen(o)
    if (o.isJson) {
      const rows = chosen.map((t) => ({
        next: Number(this.#unixNs(t) / 1000n),
        left: Math.floor((this.#clock.upNs() + t.at - this.#clock.nowNs()) / US),
        last: 0,
        passed: 0,
        unit: `${t.unit}.timer`,
        activates: `${t.unit}.service`,
      }))
      return done(`${JSON.stringify(rows)}\n`)
    }
    const rows = chosen.map((t) => {
      const span = remainingText(t.at - this.#clock.nowNs())
      const shown = this.#version === 252 ? span : span.replace(/ left$/, '')
      return [timestamp(this.#unixNs(t)), shown, '-', '-', `${t.unit}.timer`, `${t.unit}.service`]
    })
    if (!o.hasLegend) return done(table(rows))
    const head = ['NEXT', 'LEFT', 'LAST', 'PASSED', 'UNIT', 'ACTIVATES']
    const all = rows.length > 0 ? table([head, ...rows]) : ''
    return done(`${all}${rows.length > 0 ? '\n' : ''}${rows.length} timers listed.\n`)
  }

  #listUnits(o: Options): ExecResult {
    const { names, types, isAll } = o
    const isRequested = (unit: string): boolean => names.length === 0 || names.some((n) => matchesGlob(n, unit))
    const of = (kind: 'service' | 'timer'): string[][] =>
      this.#timers.all
        .filter((t) => (types?.includes(kind) ?? true) && isRequested(`${t.unit}.${kind}`))
        .map((t) => {
          const state = kind === 'timer' ? ['active', 'waiting'] : ['inactive', 'dead']
          return [`${t.unit}.${kind}`, 'loaded', ...state, t.description.replace(/[\x00-\x1f\x7f]/g, ' ')]
        })
    // Services first: systemctl sorts units by type.
    const rows = [...(isAll ? of('service') : []), ...of('timer')]
    if (o.isJson) {
      const objects = rows.map(([unit, load, active, sub, description]) => ({ unit, load, active, sub, description }))
      return done(`${JSON.stringify(objects)}\n`)
    }
    if (!o.hasLegend) return done(table(rows))
    const all = rows.length > 0 ? table([['UNIT', 'LOAD', 'ACTIVE', 'SUB', 'DESCRIPTION'], ...rows]) : ''
    return done(`${all}${rows.length > 0 ? '\n' : ''}${rows.length} loaded units listed.\n`)
  }

  /** Properties of a loaded unit: a timer, or the service that it will start. */
  #properties(t: TransientTimer, kind: 'timer' | 'service'): Readonly<Record<string, string>> {
    const names = { Id: `${t.unit}.${kind}`, Names: `${t.unit}.${kind}`, Description: t.description, Transient: 'yes' }
    if (kind === 'timer') {
      const nextUs = Math.floor((this.#clock.upNs() + t.at - this.#clock.nowNs()) / US)
      const state = { LoadState: 'loaded', ActiveState: 'active', SubState: 'waiting' }
      return { Unit: `${t.unit}.service`, NextElapseUSecMonotonic: span(nextUs), ...names, ...state }
    }
    const never = 'start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0'
    const exec = `{ path=${t.argv[0] ?? ''} ; argv[]=${t.argv.join(' ')} ; ignore_errors=no ; ${never} }`
    return { ExecStart: exec, ...names, LoadState: 'loaded', ActiveState: 'inactive', SubState: 'dead' }
  }

  #show(o: Options): ExecResult {
    const units = o.names.flatMap((name): Readonly<Record<string, string>>[] => {
      const unit = unitOf(name)
      const isPattern = /[*?[]/.test(name)
      const kinds = isPattern && !o.isAll ? (['timer'] as const) : (['timer', 'service'] as const)
      const found = this.#timers.all.flatMap((t) =>
        kinds.filter((kind) => matchesGlob(unit, `${t.unit}.${kind}`)).map((kind) => this.#properties(t, kind)),
      )
      if (found.length > 0 || isPattern) return found
      const state = { LoadState: 'not-found', ActiveState: 'inactive', SubState: 'dead' }
      return [{ Id: unit, Names: unit, Description: unit, ...state }]
    })
    const blocks = units.map((all) =>
      Object.entries(all)
        .filter(([key]) => o.properties?.includes(key) ?? true)
        .map(([key, value]) => `${o.isValue ? '' : `${key}=`}${value}\n`)
        .join(''),
    )
    return done(blocks.join('\n'))
  }

  #isActive({ names, isQuiet }: Options): ExecResult {
    const isLoaded = (n: string): boolean => this.#timers.find(n.replace(/\.(?:timer|service)$/, '')) !== undefined
    const isActive = (n: string): boolean => n.endsWith('.timer') && isLoaded(n)
    const states = names.map((n) => (isActive(n) ? 'active\n' : 'inactive\n')).join('')
    const isNoUnit = this.#version !== 252 && !names.some(isLoaded)
    return exitWith(names.some(isActive) ? 0 : isNoUnit ? 4 : 3, '', isQuiet ? '' : states)
  }

  #change({ verb, names }: Options, isRoot: boolean): ExecResult {
    if (names.length === 0) return verb === 'stop' ? exitWith(1, 'Too few arguments.\n') : done()
    let stderr = ''
    let code = 0
    for (const name of names) {
      const unit = unitOf(name)
      const isPattern = /[*?[]/.test(name)
      const found = this.#timers.all.filter((t) => matchesGlob(name, `${t.unit}.timer`))
      if (found.length === 0 && !isPattern) {
        const what = verb === 'stop' ? `stop ${unit}` : `reset failed state of unit ${unit}`
        stderr += `Failed to ${what}: Unit ${unit} not loaded.\n`
        code = verb === 'stop' ? 5 : 1
      } else if (found.length > 0 && !isRoot) {
        stderr += `Failed to ${verb} ${unit}: Access denied\n`
        if (verb === 'stop') stderr += `See system logs and 'systemctl status ${unit}' for details.\n`
        code = verb === 'stop' ? 4 : 1
      } else if (verb === 'stop') for (const t of found) this.#timers.stop(t.unit)
    }
    return exitWith(code, stderr)
  }
}
