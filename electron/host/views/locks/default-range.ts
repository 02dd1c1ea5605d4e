/**
 * Default resource and range of the locks view: stable enough to be read while time advances.
 *
 * Both depend on the instant alone, so that a window that opens later, or goes back, shows the same. Time is divided
 * into windows of 5 s. The peak of the last two complete windows is shown until the current window has a longer queue,
 * and of equal peaks the first; so the view changes when something worse happens, and otherwise at most every 5 s. The
 * resource is chosen at window borders, from the preceding 10 s. A convoy that comes with every checkpoint therefore
 * remains visible between checkpoints.
 */
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, ResourceCounts, TraceReader } from '#core/seqdlm/trace/trace.ts'

const RANGE_NS = 5 * NS_PER_S
/** Range examined at a window border. */
const BACK_NS = 2 * RANGE_NS
const BIN_NS = 50 * NS_PER_MS
/** Factor of bin refinement when a peak is located. */
const FINER = 50
/** Share of a range that follows its peak, so that the queue is seen to drain. */
const AFTER = 0.4
/** Candidate lengths of a range that must show a whole queue; the first that fits is used. */
const FITTING_NS = [20, 60, 200, 1000].map((ms) => ms * NS_PER_MS)
/** If none fits, a queue always exists: a readable part of it is shown. */
const ALWAYS_NS = 60 * NS_PER_MS
/** Share of such a range before its peak, and share of the peak that may remain queued at both ends. */
const FITTING = { before: 0.3, left: 1 / 8 } as const
/** Most contended resources whose queues are compared. */
const RIVALS = 8

/** Most cached choices, the newest. */
const CACHED_MAX = 256
/**
 * Choices at window borders. They could be recomputed at a cost; caching also preserves them when the trace drops the
 * steps they are based on.
 */
const chosen = new WeakMap<TraceReader, Map<string, unknown>>()

function once<T>(trace: TraceReader, key: string, choose: () => T): T {
  const cached = chosen.get(trace) ?? new Map<string, unknown>()
  chosen.set(trace, cached)
  if (cached.has(key)) return cached.get(key) as T
  const choice = choose()
  cached.set(key, choice)
  for (const first of cached.keys()) {
    if (cached.size <= CACHED_MAX) break
    cached.delete(first)
  }
  return choice
}

interface Peak {
  /** Longest queue, and the end of the first bin that has it. */
  readonly waiting: number
  readonly endNs: number
}

/**
 * Peak of [fromNs, toNs), divided into bins of which the first ones are examined; of equal peaks the first. Unknown
 * bins are ignored.
 */
function peakOf(
  trace: TraceReader,
  resource: ResourceId,
  fromNs: number,
  toNs: number,
  bins: number,
  looked = bins,
): Peak {
  let peak: Peak = { waiting: 0, endNs: toNs }
  if (looked < 1) return peak
  const width = (toNs - fromNs) / bins
  trace.queue(resource, fromNs, toNs, bins).forEach((waiting, i) => {
    if (i < looked && waiting > peak.waiting) peak = { waiting, endNs: Math.round(fromNs + (i + 1) * width) }
  })
  return peak
}

/** The later one only if it is worse. */
const worse = (later: Peak, earlier: Peak): Peak => (later.waiting > earlier.waiting ? later : earlier)

/**
 * End of the range of `spanNs` that contains the longest queue of the last 10 to 15 s, ns; at or before `atNs`.
 *
 * If nothing waited it is the last request of the last complete windows.
 */
export function longestQueueEnd(trace: TraceReader, resource: ResourceId, atNs: number, spanNs: number): number {
  const afterNs = Math.round(AFTER * spanNs)
  if (atNs <= afterNs) return atNs
  return Math.min(atNs, peakInSight(trace, resource, atNs - afterNs, spanNs).endNs + afterNs)
}

/**
 * Range that shows the longest queue from growing to drained, ns.
 *
 * Its length depends on what follows the peak, so peaks are searched no later than the longest such range allows.
 */
export function fittingRange(
  trace: TraceReader,
  resource: ResourceId,
  atNs: number,
): { readonly endNs: number; readonly spanNs: number } {
  const shortestNs = FITTING_NS[0] as number
  const longestNs = FITTING_NS.at(-1) as number
  const seenNs = atNs - Math.round((1 - FITTING.before) * longestNs)
  if (seenNs <= 0) return { endNs: longestQueueEnd(trace, resource, atNs, ALWAYS_NS), spanNs: ALWAYS_NS }
  const peak = peakInSight(trace, resource, seenNs, shortestNs)
  const endOf = (spanNs: number): number => Math.min(atNs, peak.endNs + Math.round((1 - FITTING.before) * spanNs))
  const most = Math.floor(peak.waiting * FITTING.left)
  const isBelow = (ns: number): boolean => ns < 0 || (trace.queue(resource, ns, ns, 1)[0] ?? NaN) <= most
  const fits = (spanNs: number): boolean => isBelow(endOf(spanNs)) && isBelow(endOf(spanNs) - spanNs)
  const spanNs = peak.waiting === 0 ? shortestNs : (FITTING_NS.find(fits) ?? ALWAYS_NS)
  return { endNs: endOf(spanNs), spanNs }
}

/** Peak that a range of `spanNs` should contain; if nothing waited, a replacement. */
function peakInSight(trace: TraceReader, resource: ResourceId, seenNs: number, spanNs: number): Peak {
  const afterNs = Math.round(AFTER * spanNs)
  const borderNs = Math.floor(seenNs / RANGE_NS) * RANGE_NS
  const startNs = Math.max(0, borderNs - BACK_NS)
  const whole = once(trace, `peak ${resource} ${borderNs}`, () =>
    peakOf(trace, resource, startNs, borderNs, (borderNs - startNs) / BIN_NS),
  )
  const bins = Math.floor((seenNs - borderNs) / BIN_NS)
  // Steps at the very end move from the last bin to the next one later: the last bin is not examined.
  const present = peakOf(trace, resource, borderNs, borderNs + bins * BIN_NS, bins, bins - 1)
  let peak = worse(present, whole)
  // Under very high load the trace does not reach back that far: a smaller queue is preferred to one without data.
  const isGone = (p: Peak): boolean => Math.max(0, p.endNs + afterNs - spanNs) < trace.keptSince
  if (isGone(peak)) {
    const oldestNs = Math.ceil((trace.keptSince + spanNs) / BIN_NS) * BIN_NS
    const bins = Math.floor((seenNs - oldestNs) / BIN_NS)
    const storedPeak = peakOf(trace, resource, oldestNs, oldestNs + bins * BIN_NS, bins)
    if (storedPeak.waiting > 0) peak = storedPeak
  }
  if (peak.waiting === 0) return { waiting: 0, endNs: quietRange(trace, resource, { startNs, borderNs, seenNs }) }
  for (let width = BIN_NS; width > spanNs / 4 && width > FINER; width /= FINER) {
    const within = peakOf(trace, resource, peak.endNs - width, peak.endNs, FINER)
    if (within.waiting > 0) peak = within
  }
  return peak
}

function quietRange(
  trace: TraceReader,
  resource: ResourceId,
  { startNs, borderNs, seenNs }: { startNs: number; borderNs: number; seenNs: number },
): number {
  // Before the first border the range moves once a second, which is still readable.
  if (borderNs === 0) return Math.max(Math.floor(seenNs / NS_PER_S) * NS_PER_S, Math.min(seenNs, NS_PER_S))
  const last = trace.lives(resource, startNs, borderNs, 1).lives.at(-1)
  return last && last.askedNs >= startNs ? Math.min(last.askedNs, borderNs) : borderNs
}

/** Resource by key or name; without a match the one with the longest queue among the most contended. */
export function chosenResource(world: LockWorld, atNs: number, selected: string): ResourceId | undefined {
  const named = selected === '' ? undefined : resourceOf(world, selected)
  return named ?? mostContended(world.trace, atNs)
}

function resourceOf(world: LockWorld, selected: string): ResourceId | undefined {
  const key = /^\d{1,15}$/.test(selected) ? Number(selected) : undefined
  return key !== undefined && world.describe(key) ? key : world.find(selected)
}

function mostContended(trace: TraceReader, atNs: number): ResourceId | undefined {
  const stepNs = atNs >= RANGE_NS ? RANGE_NS : NS_PER_S
  const borderNs = Math.floor(atNs / stepNs) * stepNs || atNs
  const best = once(trace, `resource ${borderNs}`, () => contended(trace, borderNs))
  return best ?? trace.resources(atNs, NS_PER_S)[0]?.resource
}

function contended(trace: TraceReader, borderNs: number): ResourceId | undefined {
  const spanNs = Math.min(BACK_NS, borderNs)
  const rivals = [...trace.resources(borderNs, spanNs)].sort(byConflicts).slice(0, RIVALS)
  let best: { resource: ResourceId; waiting: number } | undefined
  for (const { resource } of rivals) {
    const { waiting } = peakOf(trace, resource, borderNs - spanNs, borderNs, Math.ceil(spanNs / BIN_NS))
    if (!best || waiting > best.waiting) best = { resource, waiting }
  }
  return best?.resource
}

const byConflicts = (a: ResourceCounts, b: ResourceCounts): number =>
  b.conflicts - a.conflicts || b.asked - a.asked || a.resource - b.resource
