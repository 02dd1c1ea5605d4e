/** Layout of lanes: one per client, taller if a client has several locks at once. */
import { plainText } from '../../format/plain-text.ts'
import type { Life } from './lock-lifetimes.ts'
import { resourceStateAt } from './resource-state.ts'

export interface Lane {
  readonly client: number
  readonly name: string
  readonly jobId: string
  readonly top: number
  readonly height: number
  /** Rows of bars in the lane. */
  readonly rows: number
  /** Locks granted before the range and still granted after it: cached for reuse, without events in it. */
  readonly cached: readonly Life[]
}
export interface Bar {
  readonly life: Life
  readonly lane: number
  /** Row in the lane, from the top. */
  readonly row: number
}
export interface LaneLayout {
  readonly lanes: readonly Lane[]
  readonly bars: readonly Bar[]
  /** Labels of requests that wait at the end of the range, by lock id; with the reason for the oldest. */
  readonly waits: ReadonlyMap<number, string>
  readonly height: number
}

/** Maximum rows of a lane; further simultaneous locks share the last row. */
const ROWS_MAX = 8
const TALLEST = 40
const LOWEST = 22
/** Height of a further row, px. */
const ROW_PX = 15
/** Minimum height of a row in a lane with many, px. */
const ROW_LEAST_PX = 11

/** True if the lock has no event inside the range. */
export const isCachedThroughout = (life: Life, spanMs: number): boolean =>
  life.granted !== null &&
  life.granted < 0 &&
  (life.canceling === null || life.canceling > spanMs) &&
  (life.ended === null || life.ended > spanMs)

/**
 * @param spanMs  lives outside [0, span] have no bar.
 * @param heightPx  height to fill with lanes as long as they do not become too low.
 */
export function layLanes(
  lives: readonly Life[],
  clients: readonly { number: number; name: string; jobId: string }[],
  spanMs: number,
  heightPx: number,
): LaneLayout {
  const bars: Bar[] = []
  const rowsOf = new Map<number, number>()
  const order = [...clients].sort((a, b) => a.number - b.number)
  const laneOf = new Map(order.map(({ number }, i) => [number, i]))
  const ends = new Map<number, number[]>()
  const cached = new Map<number, Life[]>()
  const inside = lives.filter((life) => life.requested <= spanMs && (life.ended === null || life.ended >= 0))
  for (const life of [...inside].sort((a, b) => a.requested - b.requested || a.id - b.id)) {
    const lane = laneOf.get(life.client)
    if (lane === undefined) continue
    if (isCachedThroughout(life, spanMs)) {
      cached.set(lane, [...(cached.get(lane) ?? []), life])
      continue
    }
    const taken = ends.get(lane) ?? []
    ends.set(lane, taken)
    let row = taken.findIndex((end) => end <= life.requested)
    if (row < 0) row = Math.min(taken.length, ROWS_MAX - 1)
    taken[row] = Math.max(taken[row] ?? -Infinity, life.ended ?? Infinity)
    rowsOf.set(lane, Math.max(rowsOf.get(lane) ?? 1, row + 1))
    bars.push({ life, lane, row })
  }
  const further = [...rowsOf.values()].reduce((sum, rows) => sum + rows - 1, 0)
  const extraPx = Math.floor((heightPx - order.length * LOWEST) / Math.max(1, further))
  const rowPx = Math.max(ROW_LEAST_PX, Math.min(ROW_PX, extraPx))
  const base = order.length === 0 ? TALLEST : Math.floor((heightPx - further * rowPx) / order.length)
  const height = Math.max(LOWEST, Math.min(TALLEST, base))
  let top = 0
  const lanes = order.map(({ number, name, jobId }, i) => {
    const rows = rowsOf.get(i) ?? 1
    const lane = {
      client: number,
      name,
      jobId,
      top,
      rows,
      height: height + (rows - 1) * rowPx,
      cached: cached.get(i) ?? [],
    }
    top += lane.height
    return lane
  })
  return { lanes, bars, waits: waitsAt(lives, spanMs), height: top }
}

/** Labels of waiting requests: a reason only for the oldest, because a sentence on every lane would not be read. */
function waitsAt(lives: readonly Life[], spanMs: number): Map<number, string> {
  const { waiters } = resourceStateAt(lives, spanMs)
  const waits = new Map(waiters.map(({ life }) => [life.id, life.requestedMode as string]))
  const oldest = waiters[0]
  if (!oldest) return waits
  const behind = oldest.life.behind.filter(({ id }) => oldest.forHolders.includes(id))
  const isForRelease = behind.some(({ until }) => until === 'release')
  const what = behind.length === 0 ? 'the lock server' : isForRelease ? 'every release' : 'CANCELING, not for the flush'
  waits.set(oldest.life.id, `${oldest.life.requestedMode} waits for ${what}`)
  for (const { id, requestedMode, ending } of lives)
    if (ending !== '') waits.set(id, `${requestedMode} ${plainText(ending)}`)
  return waits
}

/** Top and height of a bar, px. */
export function barBox(lane: Lane, row: number): { y: number; height: number } {
  const inner = lane.height - (lane.rows > 1 ? 10 : 0)
  const slot = inner / lane.rows
  const height = lane.rows > 1 ? Math.max(8, slot - 3) : Math.max(12, Math.min(22, lane.height - 14))
  const y = lane.rows > 1 ? lane.top + 6 + row * slot : lane.top + (lane.height - height) / 2 + 0.5
  return { y: Math.round(y), height: Math.round(height) }
}
