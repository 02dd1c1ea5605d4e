/** Clients of a data node at the cursor, and the footer's totals. */
import type { TokensFrame } from '#core/api/tokens.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { isAtLimit } from '#core/haechi/sim/idle-tokens.ts'
import type { ClientColumn } from '#core/haechi/sim/token-samples.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import { hasCrashed, idleShareOf, missedIn, type Place } from '../../../cluster/tokens/position.ts'

type Clients = TokensFrame['clients']
type Foot = Omit<TokensFrame['foot'], 'reserved' | 'admissible' | 'fluidFinish'>

/** Periods of a sparkline. */
const SPARK = 60
const WARN_AFTER = 1

interface One {
  readonly index: number
  readonly reservation: number
  readonly xi: number
  readonly held: number
  readonly completed: number
  readonly yielded: number
  readonly queued: number
  readonly inFlight: number
}

/** Consecutive completed periods, up to the cursor, in which a client missed its reservation. */
function streaks({ run, before }: Place): Map<number, number> {
  const streak = new Map<number, number>()
  const over = new Set<number>()
  for (let i = before.length - 1; i >= 0; i--) {
    const period = before[i]
    if (!period) break
    const missed = new Set(missedIn(run, period))
    for (const client of missed) if (!over.has(client)) streak.set(client, (streak.get(client) ?? 0) + 1)
    run.clients.forEach((_, client) => {
      if (!missed.has(client)) over.add(client)
    })
    if (over.size >= run.clients.length) break
  }
  return streak
}

function oneOf({ run, row, record }: Place, index: number): One {
  const at = (column: ClientColumn): number =>
    row === undefined ? 0 : run.node.samples.clientValue(row, index, column)
  const past = record?.monitor?.clients.find((c) => c.client === index)
  return {
    index,
    // Without tokens there is only the configured reservation, for comparison.
    reservation: past?.reservation ?? run.node.engine(index)?.reservation ?? run.clients[index]?.reservation ?? 0,
    xi: at('xi'),
    held: at('g'),
    completed: at('completed'),
    yielded: at('yielded'),
    queued: at('queued'),
    inFlight: at('inflight'),
  }
}

export function clientsOf(place: Place, jobColors: JobColors): Clients {
  const { run, before, record } = place
  const seconds = (place.endNs - place.startNs) / NS_PER_S
  const missed = streaks(place)
  const isPast = record !== undefined
  const isDry = place.row !== undefined && run.node.samples.nodeValue(place.row, 'pool') <= 0
  const shown = before.slice(-SPARK)
  const out: Clients = {
    key: [],
    name: [],
    jobId: [],
    colour: [],
    state: [],
    reservation: [],
    limit: [],
    left: [],
    held: [],
    usedReserved: [],
    usedPool: [],
    yielded: [],
    queued: [],
    inFlight: [],
    isThrottled: [],
    isStarved: [],
    missed: [],
    iops: [],
    spark: [],
    p99Us: [],
    level: [],
    why: [],
  }
  run.clients.forEach((scenario, index) => {
    const view = run.node.client(index)
    if (!view || !scenario) return
    const engine = run.node.engine(index)
    const c = oneOf(place, index)
    // The counts of a crashed client are those of its last period.
    const used = hasCrashed(run, index, place.startNs) ? 0 : c.completed + c.inFlight
    const usedReserved = Math.min(used, Math.max(0, c.reservation - c.xi - c.yielded))
    const usedPool = used - usedReserved
    const isThrottled = isPast ? isAtLimit(engine?.limit, used) : (engine?.isThrottled ?? false)
    const isStarved = engine !== null && c.queued > 0 && c.xi === 0 && c.held === 0 && !isThrottled && isDry
    const inARow = missed.get(index) ?? 0
    const state = view.state === 'left' ? 'gone' : view.state
    const verdict = verdictOf({ state, inARow, isThrottled, isStarved, alertAfter: run.node.setup.settings.alertAfter })
    const periods = shown.map((p) => (p.completed[index] ?? 0) / seconds)
    out.key.push(scenario.name)
    out.name.push(scenario.name)
    out.jobId.push(scenario.job)
    out.colour.push(jobColors.of(scenario.job))
    out.state.push(state)
    out.reservation.push(c.reservation)
    out.limit.push(engine?.limit ?? view.limit)
    out.left.push(c.xi)
    out.held.push(c.held)
    out.usedReserved.push(usedReserved)
    out.usedPool.push(usedPool)
    out.yielded.push(c.yielded)
    out.queued.push(scenario.workload.kind === 'backlogged' ? null : Math.round(c.queued))
    out.inFlight.push(c.inFlight)
    out.isThrottled.push(isThrottled)
    out.isStarved.push(isStarved)
    out.missed.push(inARow)
    out.iops.push(periods.at(-1) ?? null)
    out.spark.push(periods)
    out.p99Us.push(isPast || view.latency.count === 0 ? null : view.latency.p99)
    out.level.push(verdict.level)
    out.why.push(verdict.why)
  })
  return out
}

function verdictOf(of: {
  readonly state: Clients['state'][number]
  readonly inARow: number
  readonly isThrottled: boolean
  readonly isStarved: boolean
  readonly alertAfter: number
}): { readonly level: Clients['level'][number]; readonly why: string } {
  if (of.state === 'crashed') return { level: 'bad', why: 'crashed; its reservation decays' }
  if (of.state === 'gone') return { level: 'idle', why: 'has left' }
  if (of.inARow >= of.alertAfter) return { level: 'bad', why: `missed its reservation ${of.inARow} periods in a row` }
  if (of.inARow >= WARN_AFTER) {
    return {
      level: 'watch',
      why: `missed its reservation ${of.inARow} ${of.inARow === 1 ? 'period' : 'periods in a row'}`,
    }
  }
  if (of.isThrottled) return { level: 'ok', why: 'at its limit' }
  if (of.isStarved) return { level: 'ok', why: 'waits for pool tokens' }
  return { level: 'ok', why: '' }
}

export function footOf(place: Place): Foot {
  const { run } = place
  const counters = run.node.counters()
  let worst: Foot['worst'] = null
  for (const [client, periods] of streaks(place)) {
    if (periods <= (worst?.periods ?? 0)) continue
    worst = { client: run.clients[client]?.name ?? '', periods, alertAfter: run.node.setup.settings.alertAfter }
  }
  return {
    cpuEvents: counters.cpuEventsForControl + counters.cpuEventsForData,
    dataCpuEvents: counters.cpuEventsForData,
    dataIos: counters.dataIos,
    idleShare: idleShareOf(run, place.startNs, place.atNs),
    worst,
  }
}
