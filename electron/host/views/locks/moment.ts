/**
 * Which resource and which moment the locks view shows when nobody chose: what an operator can read while time goes on.
 *
 * Both are functions of the instant alone, so that a window that comes later, or goes back, sees the same. The choice stands
 * still by construction: time is cut into stretches of 5 s. The peak of the last two whole stretches is shown until a longer
 * queue is seen in the stretch under way, and of equal peaks the first; so the picture changes when something worse comes, and
 * else at most every 5 s. The resource is chosen at the border of a stretch, from the 10 s before. So a convoy that comes with
 * every checkpoint is on screen between checkpoints, too.
 */
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, ResourceCounts, TraceReader } from '#core/seqdlm/trace/trace.ts'

const STRETCH_NS = 5 * NS_PER_S
/** What is looked back on at a border. */
const BACK_NS = 2 * STRETCH_NS
const BIN_NS = 50 * NS_PER_MS
/** Finer bins that a peak is looked for in. */
const FINER = 50
/** Part of a moment that comes after its peak: a queue is understood when one sees it dissolve. */
const AFTER = 0.4
/** Lengths that a moment may have which is as long as its queue needs; of them the first that the queue fits into. */
const FITTING_NS = [20, 60, 200, 1000].map((ms) => ms * NS_PER_MS)
/** Where none fits, there is always a queue: as much of it as can be read. */
const ALWAYS_NS = 60 * NS_PER_MS
/** Part of such a moment before its peak, and share of the peak that is left of the queue at both its ends. */
const FITTING = { before: 0.3, left: 1 / 8 } as const
/** Resources with most conflicts whose queues are compared. */
const RIVALS = 8

/** Choices that are kept, the newest. */
const KEPT = 256
/**
 * What was chosen at borders of stretches. It would be found again the same, only with more work; and it stays when the trace
 * begins to forget the steps it was found from.
 */
const chosen = new WeakMap<TraceReader, Map<string, unknown>>()

function once<T>(trace: TraceReader, key: string, choose: () => T): T {
  const kept = chosen.get(trace) ?? new Map<string, unknown>()
  chosen.set(trace, kept)
  if (kept.has(key)) return kept.get(key) as T
  const choice = choose()
  kept.set(key, choice)
  for (const first of kept.keys()) {
    if (kept.size <= KEPT) break
    kept.delete(first)
  }
  return choice
}

interface Peak {
  /** Longest queue, and the end of the first bin that has it. */
  readonly waiting: number
  readonly endNs: number
}

/** Peak of [fromNs, toNs], cut into bins of which the first ones are looked at; of equals the first. Unknown bins are none. */
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

/** The later one only when it is worse. */
const worse = (later: Peak, earlier: Peak): Peak => (later.waiting > earlier.waiting ? later : earlier)

/**
 * End of the moment of `spanNs` that holds the longest queue of the last 10 to 15 s, ns; at or before `atNs`.
 *
 * Where nothing waited it is the last request of the last whole stretches.
 */
export function foundMoment(trace: TraceReader, resource: ResourceId, atNs: number, spanNs: number): number {
  const afterNs = Math.round(AFTER * spanNs)
  if (atNs <= afterNs) return atNs
  return Math.min(atNs, peakInSight(trace, resource, atNs - afterNs, spanNs).endNs + afterNs)
}

/**
 * The moment that shows the longest queue from where it grows to where it has dissolved, ns.
 *
 * Its length is found from what came after the peak, so a peak is looked for no later than the longest such moment allows.
 */
export function fittingMoment(
  trace: TraceReader,
  resource: ResourceId,
  atNs: number,
): { readonly endNs: number; readonly spanNs: number } {
  const [shortestNs, longestNs] = [FITTING_NS[0] as number, FITTING_NS.at(-1) as number]
  const seenNs = atNs - Math.round((1 - FITTING.before) * longestNs)
  if (seenNs <= 0) return { endNs: foundMoment(trace, resource, atNs, ALWAYS_NS), spanNs: ALWAYS_NS }
  const peak = peakInSight(trace, resource, seenNs, shortestNs)
  const endOf = (spanNs: number): number => Math.min(atNs, peak.endNs + Math.round((1 - FITTING.before) * spanNs))
  const most = Math.floor(peak.waiting * FITTING.left)
  const isBelow = (ns: number): boolean => ns < 0 || (trace.queue(resource, ns, ns, 1)[0] ?? NaN) <= most
  const fits = (spanNs: number): boolean => isBelow(endOf(spanNs)) && isBelow(endOf(spanNs) - spanNs)
  const spanNs = peak.waiting === 0 ? shortestNs : (FITTING_NS.find(fits) ?? ALWAYS_NS)
  return { endNs: endOf(spanNs), spanNs }
}

/** The peak that a moment of `spanNs` is to hold; where nothing waited, what is shown instead of one. */
function peakInSight(trace: TraceReader, resource: ResourceId, seenNs: number, spanNs: number): Peak {
  const afterNs = Math.round(AFTER * spanNs)
  const borderNs = Math.floor(seenNs / STRETCH_NS) * STRETCH_NS
  const startNs = Math.max(0, borderNs - BACK_NS)
  const whole = once(trace, `peak ${resource} ${borderNs}`, () =>
    peakOf(trace, resource, startNs, borderNs, (borderNs - startNs) / BIN_NS),
  )
  const bins = Math.floor((seenNs - borderNs) / BIN_NS)
  // What happens at the very end is of the last bin now and of the next one later: the last one is not looked at.
  const present = peakOf(trace, resource, borderNs, borderNs + bins * BIN_NS, bins, bins - 1)
  let peak = worse(present, whole)
  // Under very much load the trace does not reach back so far: better a lesser queue than one of which nothing is known.
  const isGone = (p: Peak): boolean => Math.max(0, p.endNs + afterNs - spanNs) < trace.keptSince
  if (isGone(peak)) {
    const keptNs = Math.ceil((trace.keptSince + spanNs) / BIN_NS) * BIN_NS
    const left = Math.floor((seenNs - keptNs) / BIN_NS)
    const kept = peakOf(trace, resource, keptNs, keptNs + left * BIN_NS, left)
    if (kept.waiting > 0) peak = kept
  }
  if (peak.waiting === 0) return { waiting: 0, endNs: quietMoment(trace, resource, { startNs, borderNs, seenNs }) }
  for (let width = BIN_NS; width > spanNs / 4 && width > FINER; width /= FINER) {
    const within = peakOf(trace, resource, peak.endNs - width, peak.endNs, FINER)
    if (within.waiting > 0) peak = within
  }
  return peak
}

function quietMoment(
  trace: TraceReader,
  resource: ResourceId,
  { startNs, borderNs, seenNs }: { startNs: number; borderNs: number; seenNs: number },
): number {
  // Before the first border a picture that moves once a second can still be read.
  if (borderNs === 0) return Math.max(Math.floor(seenNs / NS_PER_S) * NS_PER_S, Math.min(seenNs, NS_PER_S))
  const last = trace.lives(resource, startNs, borderNs, 1).lives.at(-1)
  return last && last.askedNs >= startNs ? Math.min(last.askedNs, borderNs) : borderNs
}

/** The resource that was named, by key or by name; the one with the longest queue of the most contended ones for none. */
export function chosenResource(world: LockWorld, atNs: number, selected: string): ResourceId | undefined {
  const named = selected === '' ? undefined : resourceOf(world, selected)
  return named ?? mostContended(world.trace, atNs)
}

function resourceOf(world: LockWorld, selected: string): ResourceId | undefined {
  const key = /^\d{1,15}$/.test(selected) ? Number(selected) : undefined
  return key !== undefined && world.describe(key) ? key : world.find(selected)
}

function mostContended(trace: TraceReader, atNs: number): ResourceId | undefined {
  const stepNs = atNs >= STRETCH_NS ? STRETCH_NS : NS_PER_S
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
