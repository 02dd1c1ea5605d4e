/** Figures of the token plane, counted once when a period of a data node is over: missed reservations, pool, capacity, silent clients. */
import { amount, amountOf, named } from '#core/alerts/format.ts'
import type { LevelFigures, Levels, ReservationFigures } from '#core/alerts/figures.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { DataNode, DataNodeRun } from '#core/haechi/data-node.ts'
import { profiledTokens } from '#core/haechi/settings.ts'
import type { ClientColumn } from '#core/haechi/sim/token-samples.ts'
import type { ClusterSource } from '../../base/connection.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { missedIn, rowsOf } from '../../cluster/tokens/position.ts'

type Period = DataNodeRun['node']['periods']['items'][number]

interface Streak {
  periods: number
  sinceNs: number
}

/** Consecutive periods in which something was true of a client. */
class Streaks {
  readonly #of = new Map<number, Streak>()

  add(clients: ReadonlySet<number>, period: Period): void {
    for (const client of [...this.#of.keys()]) if (!clients.has(client)) this.#of.delete(client)
    for (const client of clients) {
      const s = this.#of.get(client)
      if (s) s.periods++
      else this.#of.set(client, { periods: 1, sinceNs: period.startNs })
    }
  }

  get(client: number): Streak | undefined {
    return this.#of.get(client)
  }
}

interface Seen {
  readonly run: DataNodeRun
  /** End of the newest period that was counted, on the run's clock. */
  endNs: number
  readonly missed: Streaks
  readonly silent: Streaks
  reservations: readonly ReservationFigures[]
  levels: TokenLevels
}

type TokenKind = 'pool-empty' | 'pool-idle' | 'capacity' | 'token-client'
type TokenLevels = Readonly<Record<TokenKind, readonly LevelFigures[]>>
const NO_LEVELS: TokenLevels = { 'pool-empty': [], 'pool-idle': [], capacity: [], 'token-client': [] }

/** Samples of a period that are examined for waiting clients. */
const ROWS = 50

export class TokenFacts {
  readonly #source: Pick<ClusterSource, 'nowNs' | 'toUnixMs'>
  readonly #nodes: readonly DataNode[]
  readonly #seen = new Map<string, Seen>()

  constructor({ source, dataNodes }: Pick<ClusterMonitor, 'source' | 'dataNodes'>) {
    this.#source = source
    this.#nodes = dataNodes
  }

  /** Figures of every client with a reservation, and levels of every node; undefined without data nodes. */
  take(): { readonly reservations: readonly ReservationFigures[]; readonly levels: Levels } | undefined {
    if (this.#nodes.length === 0) return undefined
    const atNs = this.#source.nowNs()
    const seen = this.#nodes.flatMap((node) => {
      const run = node.run(atNs)
      return run ? [this.#of(node.name, run)] : []
    })
    const all = (kind: TokenKind): LevelFigures[] => seen.flatMap((s) => s.levels[kind])
    return {
      reservations: seen.flatMap((s) => s.reservations),
      levels: {
        'pool-empty': all('pool-empty'),
        'pool-idle': all('pool-idle'),
        capacity: all('capacity'),
        'token-client': all('token-client'),
      },
    }
  }

  #of(node: string, run: DataNodeRun): Seen {
    let seen = this.#seen.get(node)
    // A new run starts with new reservations.
    if (seen?.run !== run) {
      const empty = { reservations: [], levels: NO_LEVELS }
      seen = { run, endNs: 0, missed: new Streaks(), silent: new Streaks(), ...empty }
      this.#seen.set(node, seen)
    }
    const fresh = newPeriods(run, seen.endNs)
    const last = fresh.at(-1)
    if (!last) return seen
    for (const period of fresh) {
      seen.missed.add(new Set(missedIn(run, period)), period)
      seen.silent.add(silentIn(run, period), period)
    }
    seen.endNs = last.endNs
    seen.reservations = this.#reservations(node, seen, last)
    seen.levels = last.monitor ? this.#levels(node, seen, last) : NO_LEVELS
    return seen
  }

  #reservations(node: string, { run, missed }: Seen, last: Period): ReservationFigures[] {
    return (last.monitor?.clients ?? []).map(({ client, reservation }) => {
      const s = missed.get(client)
      return {
        node,
        client: nameOf(run, client),
        job: run.clients[client]?.job ?? '',
        reservation,
        missed: s?.periods ?? 0,
        completed: last.completed[client] ?? 0,
        sinceMs: this.#unixMs(run, s?.sinceNs ?? last.endNs),
      }
    })
  }

  #levels(node: string, { run, silent }: Seen, last: Period): TokenLevels {
    return {
      ...wasteLevels(node, wasteIn(run, last)),
      capacity: [capacityLoss(node, run, last)],
      'token-client': (last.monitor?.clients ?? []).flatMap(({ client, reservation }) => {
        const s = silent.get(client)
        if (!s) return []
        const name = nameOf(run, client)
        const text = (): string =>
          `${named(name)} on ${named(node)} has sent no report for ${amount(s.periods)} periods; it holds a reservation of ${amount(reservation)} I/O`
        const sinceMs = this.#unixMs(run, s.sinceNs)
        return [{ subject: `${node} ${name}`, where: name, value: s.periods, sinceMs, text }]
      }),
    }
  }

  #unixMs(run: DataNodeRun, ns: number): number {
    return this.#source.toUnixMs(0) + (run.fromNs + ns) / NS_PER_MS
  }
}

const nameOf = (run: DataNodeRun, client: number): string => run.clients[client]?.name ?? String(client)

/** Completed periods that ended after an instant, oldest first. */
function newPeriods(run: DataNodeRun, afterNs: number): Period[] {
  const { items } = run.node.periods
  let first = items.length
  while (first > 0 && (items[first - 1]?.endNs ?? 0) > afterNs) first--
  return items.slice(first)
}

/** Clients with a reservation that send no reports, as the monitor knows it now. */
const silentIn = ({ node }: DataNodeRun, { monitor }: Period): Set<number> =>
  new Set(
    (monitor?.clients ?? []).filter((c) => c.reservation > 0 && node.monitor?.isSilent(c.client)).map((c) => c.client),
  )

interface Waste {
  /** Tokens of the period that no client used, as a share of all in percent; NaN if its samples are no longer kept. */
  readonly unused: number
  /** `tokens`: most of the time a client that waits has no token and the pool is empty; `node`: it has, or finds some. */
  readonly lacks: 'tokens' | 'node' | undefined
  /** A client that waits. */
  readonly client: string
}

/** Last part of a period that is examined, and the part of its samples in which a client must wait for the period to count. */
const LAST_PART = 0.25
const WAITING_LEAST = 0.5

/** Tokens of a period that no client used, and what clients that still wait at its end lack. Clients at their limit do not count. */
function wasteIn(run: DataNodeRun, period: Period): Waste {
  const { samples, setup } = run.node
  const omega = period.monitor?.omega ?? NaN
  const clients = (period.monitor?.clients ?? []).map(({ client }) => client)
  const fromNs = period.endNs - LAST_PART * (period.endNs - period.startNs)
  const rows = rowsOf(samples, setup.samples.everyNs, fromNs, period.endNs, ROWS)
  let withTokens = 0
  let withoutTokens = 0
  let waiting: number | undefined
  for (const row of rows) {
    const of = (client: number, column: ClientColumn): number => samples.clientValue(row, client, column)
    const found = clients.filter(
      (c) => of(c, 'queued') > 0 && of(c, 'completed') + of(c, 'inflight') < (run.node.engine(c)?.limit ?? Infinity),
    )
    if (found.length === 0) continue
    const starved = samples.nodeValue(row, 'pool') > 0 ? undefined : found.find((c) => of(c, 'xi') + of(c, 'g') <= 0)
    waiting = starved ?? waiting ?? found[0]
    if (starved === undefined) withTokens++
    else withoutTokens++
  }
  const isWaiting = withTokens + withoutTokens >= WAITING_LEAST * rows.length
  return {
    unused: rows.length === 0 ? NaN : Math.max(0, 100 * (1 - period.total / omega)),
    lacks: !isWaiting || waiting === undefined ? undefined : withoutTokens > withTokens ? 'tokens' : 'node',
    client: waiting === undefined ? '' : nameOf(run, waiting),
  }
}

function wasteLevels(node: string, { unused, lacks, client }: Waste): Pick<TokenLevels, 'pool-empty' | 'pool-idle'> {
  const level = (of: Waste['lacks'], why: string): LevelFigures => ({
    subject: node,
    where: node,
    value: lacks === of || Number.isNaN(unused) ? unused : 0,
    text: () =>
      `${named(node)}: ${amount(Math.round(unused))} % of the tokens are not used while ${named(client)} ${why}`,
  })
  return {
    'pool-empty': [level('tokens', 'waits for tokens and the pool is empty')],
    'pool-idle': [level('node', 'has tokens and waiting requests')],
  }
}

/** Estimated capacity below the profiled one. */
function capacityLoss(node: string, run: DataNodeRun, { monitor }: Period): LevelFigures {
  const { profile, settings } = run.node.setup
  const profiled = profiledTokens(profile, settings.periodNs)
  const estimated = monitor?.nextOmega ?? NaN
  return {
    subject: node,
    where: node,
    value: Math.max(0, 100 * (1 - estimated / profiled)),
    text: () => `${named(node)}: estimated capacity is ${amountOf(estimated, profiled)} profiled I/O per period`,
  }
}
