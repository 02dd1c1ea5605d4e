/** Settings of metadata control: defaults, checks of a change, and their store for live clusters. */
import { METADATA_RATE_MAX, metadataSettings, SLOTS_MAX, type MetadataSettings } from '#core/api/padll.ts'
import { shortHash } from '#core/base/hash.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { PADLL_ALGORITHMS } from '#core/controllers/settings.ts'
import { parsePolicies } from '#core/padll/rules/policy-schedule.ts'
import { isScope, type Scope } from '#core/padll/vocabulary.ts'
import type { History } from '../../history/history.ts'
import type { ClusterSource } from '../../base/connection.ts'
import type { MetadataChange } from './state.ts'

/** Default: no limits, no writes. Source: epsilon 0.25, cycles of a second: spec/padll 5, 6 rows 4 and 10. */
export const DEFAULT_METADATA_SETTINGS: MetadataSettings = {
  algorithm: 'psfa',
  epsilon: 0.25,
  slots: null,
  limits: [],
  policies: '',
  startedMs: null,
  intervalMs: 1_000,
}

/** Code and rule of each field, for the refusal of a value out of range. */
const RULES: Readonly<Partial<Record<string, readonly [code: string, what: string]>>> = {
  algorithm: ['BAD_ALGORITHM', `The algorithm must be one of ${PADLL_ALGORITHMS.join(', ')}`],
  epsilon: ['BAD_EPSILON', 'Epsilon must be between 0 and 1'],
  slots: ['BAD_SLOTS', `Slots must be 1 to ${SLOTS_MAX} jobs`],
  scope: ['BAD_LIMIT', 'A limit must name an operation or class of PADLL'],
  rate: ['BAD_LIMIT', `A limit must be 1 to ${METADATA_RATE_MAX} op/s`],
}

/** Checks the bounds of settings; fails with the first value out of range. */
function checked(settings: Readonly<Record<keyof MetadataSettings, unknown>>): Result<MetadataSettings> {
  const read = metadataSettings.safeParse(settings)
  if (read.success) return withoutFaults(read.data)
  const path = read.error.issues[0]?.path ?? []
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], settings)
  return outOfRange(String(path.at(-1)), got)
}

function outOfRange(field: string, got: unknown): Result<never> {
  const [code, what] = RULES[field] ?? ['BAD_SETTINGS', 'The settings cannot be used']
  return fail({ code, what, why: `got ${String(got).slice(0, 80)}`, unaffected: 'The settings stay as they are.' })
}

function withoutFaults(settings: MetadataSettings): Result<MetadataSettings> {
  const fault = parsePolicies(settings.policies).faults.find((f) => f.severity === 'error')
  if (!fault) return ok(settings)
  return fail({
    code: 'BAD_POLICIES',
    what: 'The policies were rejected',
    why: `line ${fault.line}, column ${fault.column}: ${fault.message}`,
    unaffected: 'The policies in force stay.',
    next: 'Correct the text and apply it again.',
  })
}

/**
 * Settings after a change, or its refusal; new policies begin at second 0 now.
 *
 * Failures: BAD_ALGORITHM, BAD_EPSILON, BAD_SLOTS, BAD_LIMIT: out of range, named in `what`; BAD_POLICIES: fault in the
 * text, `why` with line and column.
 */
export function changedSettings(
  settings: MetadataSettings,
  { limit, policies: text, ...fields }: MetadataChange,
  nowMs: number,
): Result<MetadataSettings> {
  const named = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const scope = limit?.scope
  if (scope !== undefined && !isScope(scope)) return outOfRange('scope', scope)
  const limits = limit && scope ? limitsWith(settings.limits, scope, limit.rate) : settings.limits
  if (text === undefined) return checked({ ...settings, ...named, limits })
  const policies = text.trim() === '' ? '' : text
  const startedMs = policies === '' ? null : policies === settings.policies ? settings.startedMs : nowMs
  return checked({ ...settings, ...named, limits, policies, startedMs })
}

/** Limits with one of them set or, with null, removed, in the order in which they were first set. */
function limitsWith(limits: MetadataSettings['limits'], scope: Scope, rate: number | null): MetadataSettings['limits'] {
  if (rate === null) return limits.filter((l) => l.scope !== scope)
  const at = limits.findIndex((l) => l.scope === scope)
  return at < 0 ? [...limits, { scope, rate }] : limits.with(at, { scope, rate })
}

/** Text of a change for the audit; empty if it changes nothing. Policies are files, represented by their hash. */
export function choiceOf({ limit, policies, ...more }: MetadataChange): string {
  const named = [
    ...Object.entries(more).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${String(value)}`])),
    ...(limit === undefined ? [] : [`limit.${limit.scope}=${limit.rate ?? 'none'}`]),
    ...(policies === undefined ? [] : [policies === '' ? 'policies=none' : `policies=${shortHash(policies)}`]),
  ]
  return named.length === 0 ? '' : `metadata ${named.join(' ')}`
}

/** System limits as input of the controller. */
export const limitMap = ({ limits }: MetadataSettings): ReadonlyMap<Scope, number> =>
  new Map(limits.map(({ scope, rate }) => [scope, rate]))

/**
 * Stored settings of a live cluster, which survive a restart of the console; an emulated one begins with its
 * scenario's.
 */
export class MetadataSettingsStore {
  readonly #source: ClusterSource
  readonly #history: History

  constructor(source: ClusterSource, history: History) {
    this.#source = source
    this.#history = history
  }

  load(): MetadataSettings | undefined {
    if (this.#source.kind !== 'LIVE') return undefined
    const row = this.#history.controllerState(...this.#key)
    return row ? readSettings(row.state) : undefined
  }

  keep(settings: MetadataSettings): void {
    if (this.#source.kind !== 'LIVE') return
    const atMs = this.#source.toUnixMs(this.#source.nowNs())
    this.#history.keepControllerState(...this.#key, atMs, JSON.stringify(settings))
  }

  /** Key beside the ledgers of the cluster's targets: those are dropped with their controller, settings are not. */
  get #key(): [cluster: string, target: string] {
    return [`${this.#source.cluster}\u0000metadata`, 'settings']
  }
}

/** Parses settings from an untrusted text; undefined if it holds none. */
function readSettings(text: string): MetadataSettings | undefined {
  try {
    const plain: unknown = JSON.parse(text)
    const read = checked({ ...DEFAULT_METADATA_SETTINGS, ...(plain as object) })
    if (!read.ok) return undefined
    const { policies, startedMs } = read.value
    return { ...read.value, startedMs: policies === '' ? null : (startedMs ?? 0) }
  } catch {
    return undefined
  }
}
