/** What an operator sets of metadata control: the defaults, what of it is refused, and where it outlives the console. */
import { shortHash } from '#core/base/hash.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { ALGORITHMS } from '#core/padll/algorithms/algorithm.ts'
import { parsePolicies } from '#core/padll/rules/policy-schedule.ts'
import { isScope, type Scope } from '#core/padll/vocabulary.ts'
import type { History } from '../../history/history.ts'
import type { ClusterSource } from '../../base/connection.ts'
import type { MetadataChange, MetadataSettings } from './state.ts'

/** Nothing is limited and nothing is written. Source: epsilon 0.25, cycles of a second: spec/padll 5, 6 rows 4 and 10. */
export const DEFAULT_METADATA_SETTINGS: MetadataSettings = {
  algorithm: 'psfa',
  epsilon: 0.25,
  slots: null,
  limits: [],
  policies: '',
  startedMs: null,
  intervalMs: 1_000,
}

export const METADATA_RATE_MAX = 1e9
const SLOTS_MAX = 10_000

/**
 * The settings with a change, or why it is refused; new policies begin at second 0 now.
 *
 * Failures: BAD_ALGORITHM, BAD_EPSILON, BAD_SLOTS, BAD_LIMIT: out of range, which `what` names; BAD_POLICIES: the text has a
 * fault, `why` with line and column.
 */
export function changedSettings(
  settings: MetadataSettings,
  change: MetadataChange,
  nowMs: number,
): Result<MetadataSettings> {
  const next = { ...settings, ...pick(change) }
  if (!ALGORITHMS.includes(next.algorithm)) {
    return refuse('BAD_ALGORITHM', `The algorithm is one of ${ALGORITHMS.join(', ')}`, next.algorithm)
  }
  if (!(next.epsilon >= 0 && next.epsilon <= 1)) return refuse('BAD_EPSILON', 'Epsilon is a part, 0 to 1', next.epsilon)
  if (next.slots !== null && !(Number.isInteger(next.slots) && next.slots >= 1 && next.slots <= SLOTS_MAX)) {
    return refuse('BAD_SLOTS', `Slots are 1 to ${SLOTS_MAX} jobs`, next.slots)
  }
  const limits = change.limit ? limitsWith(settings.limits, change.limit) : ok(settings.limits)
  if (!limits.ok) return limits
  if (change.policies === undefined) return ok({ ...next, limits: limits.value })
  const policies = change.policies.trim() === '' ? '' : change.policies
  const fault = parsePolicies(policies).faults.find((f) => f.severity === 'error')
  if (fault) {
    return fail({
      code: 'BAD_POLICIES',
      what: 'The policies were not taken',
      why: `line ${fault.line}, column ${fault.column}: ${fault.message}`,
      unaffected: 'The policies in force stay.',
      next: 'Correct the text and apply it again.',
    })
  }
  const startedMs = policies === '' ? null : policies === settings.policies ? settings.startedMs : nowMs
  return ok({ ...next, limits: limits.value, policies, startedMs })
}

const pick = ({ algorithm, epsilon, slots }: MetadataChange): Partial<MetadataSettings> => ({
  ...(algorithm === undefined ? {} : { algorithm }),
  ...(epsilon === undefined ? {} : { epsilon }),
  ...(slots === undefined ? {} : { slots }),
})

function limitsWith(
  limits: MetadataSettings['limits'],
  { scope, rate }: { readonly scope: string; readonly rate: number | null },
): Result<MetadataSettings['limits']> {
  if (!isScope(scope)) return refuse('BAD_LIMIT', 'A limit is of an operation or a class of PADLL', scope)
  const others = limits.filter((l) => l.scope !== scope)
  if (rate === null) return ok(others)
  if (!(rate >= 1 && rate <= METADATA_RATE_MAX)) {
    return refuse('BAD_LIMIT', `A limit is 1 to ${METADATA_RATE_MAX} op/s`, rate)
  }
  const at = limits.findIndex((l) => l.scope === scope)
  return ok(at < 0 ? [...limits, { scope, rate }] : limits.with(at, { scope, rate }))
}

const refuse = (code: string, what: string, got: unknown): { readonly ok: false; readonly error: Failure } =>
  fail({ code, what, why: `got ${String(got).slice(0, 80)}`, unaffected: 'The settings stay as they are.' })

/** A change as it is put on record; empty where it names nothing. Policies are files: their hash stands for them. */
export function choiceOf({ limit, policies, ...more }: MetadataChange): string {
  const named = [
    ...Object.entries(more).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${String(value)}`])),
    ...(limit === undefined ? [] : [`limit.${limit.scope}=${limit.rate ?? 'none'}`]),
    ...(policies === undefined ? [] : [policies === '' ? 'policies=none' : `policies=${shortHash(policies)}`]),
  ]
  return named.length === 0 ? '' : `metadata ${named.join(' ')}`
}

/** System limits as the controller takes them. */
export const limitMap = ({ limits }: MetadataSettings): ReadonlyMap<Scope, number> =>
  new Map(limits.map(({ scope, rate }) => [scope, rate]))

/** The settings of a live cluster outlive the console; an emulated one begins with its scenario's. */
export class KeptMetadataSettings {
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

  /** Beside the ledgers of the cluster's targets: those are forgotten with their controller, these are not. */
  get #key(): [cluster: string, target: string] {
    return [`${this.#source.cluster}\u0000metadata`, 'settings']
  }
}

/** Settings out of a text that may come from anywhere; undefined where it holds none. */
function readSettings(text: string): MetadataSettings | undefined {
  let plain: Partial<Record<keyof MetadataSettings, unknown>>
  try {
    plain = JSON.parse(text) as typeof plain
  } catch {
    return undefined
  }
  const { algorithm, epsilon, slots, limits, policies, startedMs } = plain
  const change = { algorithm, epsilon, slots, policies } as MetadataChange
  let read = changedSettings(DEFAULT_METADATA_SETTINGS, change, 0)
  for (const limit of Array.isArray(limits) ? (limits as MetadataChange['limit'][]) : []) {
    if (read.ok && limit) read = changedSettings(read.value, { limit }, 0)
  }
  if (!read.ok) return undefined
  const hasStart = typeof startedMs === 'number' && Number.isFinite(startedMs)
  return { ...read.value, startedMs: read.value.policies === '' ? null : hasStart ? startedMs : 0 }
}
