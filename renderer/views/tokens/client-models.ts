/** Display models of the clients of a data node, for cards and rows: counts, bars, states. */
import type { Level } from '#core/api/parts.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import { niceMax } from '../../charts/scale.ts'
import type { TokensSort } from '../../stores/tokens.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, plural } from '../../format/units.ts'
import { comparedValue, type Compared } from '../compared.ts'

type Clients = TokensFrame['clients']
type ClientState = Clients['state'][number]

export interface ClientBadge {
  readonly text: string
  readonly level: Level
  /** True for a missed reservation, which has a diamond, as in the ruler of periods. */
  readonly isMissed: boolean
}
export interface ClientModel {
  /** Key of the client. */
  readonly id: string
  readonly name: string
  readonly jobId: string
  readonly job: string
  readonly colour: number
  readonly state: ClientState
  readonly reservation: number
  readonly limit: number | null
  /** null: not recorded. */
  readonly left: number | null
  readonly held: number | null
  readonly usedReserved: number
  readonly usedPool: number
  readonly used: number
  readonly yielded: number
  /** Infinity if it always has another request; null: not recorded. */
  readonly queued: number | null
  readonly inFlight: number | null
  readonly missed: number
  readonly iops: number | null
  /** Set while two instants are compared: IOPS at A. */
  readonly iopsAtA?: number | null | undefined
  readonly p99Us: number | null
  readonly level: Level
  readonly why: string
  /** States other than "active", the worst first. */
  readonly badges: readonly ClientBadge[]
  /** States as a sentence, for the title and screen readers. */
  readonly statesText: string
}

const stateLevels: Readonly<Record<ClientState, Level>> = {
  active: 'ok',
  joining: 'idle',
  leaving: 'idle',
  gone: 'idle',
  crashed: 'bad',
}
const stateHints: Readonly<Record<ClientState, string>> = {
  active: 'active',
  joining: 'joining: its reservation applies from the next period on; until then it uses the pool only',
  leaving: 'leaving: its unused tokens are yielded, its reservation ends with the period',
  gone: 'gone',
  crashed: 'crashed: its reports stopped, its tokens decay to the other clients',
}

function badgesOf(clients: Clients, i: number, alertAfter: number): ClientBadge[] {
  const badge = (text: string, level: Level, isMissed = false): ClientBadge => ({ text, level, isMissed })
  const state = clients.state[i] ?? 'active'
  const missed = clients.missed[i] ?? 0
  return [
    ...(state === 'active' ? [] : [badge(state, stateLevels[state])]),
    ...(missed > 0 ? [badge(`missed ${plural(missed, 'period')}`, missed >= alertAfter ? 'bad' : 'watch', true)] : []),
    ...(clients.isStarved[i] ? [badge('starved', 'watch')] : []),
    ...(clients.isThrottled[i] ? [badge('throttled', 'idle')] : []),
    ...(clients.reservation[i] === 0 && state === 'active' ? [badge('best effort', 'idle')] : []),
  ]
}

function statesText(clients: Clients, i: number, badges: readonly ClientBadge[]): string {
  const hints: Readonly<Record<string, string>> = {
    starved: 'starved: waiting for a token, none is available',
    throttled: 'throttled: at its limit until the next period',
    'best effort': 'best effort: no reservation, uses the pool only',
  }
  const state = clients.state[i] ?? 'active'
  const states = badges.map(({ text }) => (text === state ? stateHints[state] : (hints[text] ?? text)))
  const why = plainText(clients.why[i] ?? '')
  return [...(states.length > 0 ? states : [stateHints[state]]), ...(why === '' ? [] : [why])].join('. ')
}

export function clientModels({ clients, foot }: TokensFrame): ClientModel[] {
  const alertAfter = foot.worst?.alertAfter ?? Infinity
  return clients.key.map((id, i) => {
    const at = (values: readonly number[]): number => values[i] ?? 0
    const badges = badgesOf(clients, i, alertAfter)
    const jobId = clients.jobId[i] ?? ''
    return {
      id,
      jobId,
      job: plainText(jobId),
      name: plainText(clients.name[i] ?? '') || '\u2013',
      colour: at(clients.colour),
      state: clients.state[i] ?? 'active',
      reservation: at(clients.reservation),
      limit: clients.limit[i] ?? null,
      left: clients.left[i] ?? null,
      held: clients.held[i] ?? null,
      yielded: at(clients.yielded),
      usedReserved: at(clients.usedReserved),
      usedPool: at(clients.usedPool),
      used: at(clients.usedReserved) + at(clients.usedPool),
      // Without any other request count it was not recorded.
      queued: clients.queued[i] ?? (clients.inFlight[i] == null ? null : Infinity),
      inFlight: clients.inFlight[i] ?? null,
      missed: at(clients.missed),
      iops: clients.iops[i] ?? null,
      iopsAtA: clients.against && (clients.against[i] ?? null),
      p99Us: clients.p99Us[i] ?? null,
      level: clients.level[i] ?? 'unknown',
      why: plainText(clients.why[i] ?? ''),
      badges,
      statesText: statesText(clients, i, badges),
    }
  })
}

/** IOPS at A and B; undefined: not compared. */
export const comparedIops = ({ iopsAtA, iops }: ClientModel): Compared | undefined =>
  iopsAtA === undefined ? undefined : comparedValue(iopsAtA, iops, formatNumber, 1)

/** Limits beyond this multiple of the largest need are not in the scale: they would flatten the bars. */
const FAR = 2

/** Right end of the scale of all bars, tokens; at least 1. */
export function barTop(models: readonly ClientModel[]): number {
  const needed = models.reduce((m, f) => Math.max(m, f.reservation, f.used), 0)
  const limits = models.reduce((m, { limit }) => {
    const counts = limit !== null && (needed === 0 || limit <= FAR * needed)
    return counts ? Math.max(m, limit) : m
  }, 0)
  const most = Math.max(needed, limits)
  // A little room, so that a mark at the end is visible.
  return most > 0 ? Math.min(niceMax(most * 1.03), most * 1.12) : 1
}

export interface ClientBar {
  /** Shares of the bar, 0..1, from its left end. */
  readonly reserved: number
  readonly pool: number
  /** Places of R and L; null if there is none, or it is beyond the scale. */
  readonly reservation: number | null
  readonly limit: number | null
}

export function clientBar(model: ClientModel, top: number): ClientBar {
  const share = (tokens: number): number => Math.max(0, Math.min(1, tokens / top))
  return {
    reserved: share(model.usedReserved),
    pool: Math.min(share(model.usedPool), 1 - share(model.usedReserved)),
    reservation: model.reservation > 0 && model.reservation <= top ? share(model.reservation) : null,
    limit: model.limit !== null && model.limit <= top ? share(model.limit) : null,
  }
}

/** Sorts c2 before c10. Shared: making a collator for each pair would take longer than the sort. */
const collator = new Intl.Collator('en', { numeric: true })
const byName = (a: ClientModel, b: ClientModel): number =>
  collator.compare(a.name, b.name) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Sorts clients. Those that were not measured are last in both directions; equal ones are in order of names. */
export function sortClients(models: readonly ClientModel[], sort: TokensSort, descending: boolean): ClientModel[] {
  const sign = descending ? -1 : 1
  if (sort === 'name') return [...models].sort((a, b) => sign * byName(a, b))
  return [...models].sort((a, b) => {
    const x = a[sort]
    const y = b[sort]
    if (x === null || y === null) return x === y ? byName(a, b) : x === null ? 1 : -1
    return sign * (x - y) || byName(a, b)
  })
}

/** Describes a card as text. */
export function describeClient(model: ClientModel): string {
  const n = (value: number | null): string => formatNumber(value)
  return [
    `${model.name}: ${n(model.used)} tokens used this period, ${n(model.usedReserved)} from its reservation, ${n(model.usedPool)} from the pool`,
    model.reservation > 0 ? `reservation ${n(model.reservation)}, ${n(model.left)} left` : 'no reservation',
    model.limit === null ? 'no limit' : `limit ${n(model.limit)}`,
    `${n(model.held)} held from the pool, ${n(model.yielded)} yielded`,
    model.statesText,
  ].join('. ')
}
