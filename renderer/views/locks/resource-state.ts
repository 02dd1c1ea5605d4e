/** State of a resource at a time: holders, waiters and what they wait for, facts and explanation. */
import { modeAt, NEAR_MS, phaseAt, type Life, type LockMode } from './lock-lifetimes.ts'

export interface ResourceState {
  /** Unreleased locks, in order of grant. */
  readonly holders: readonly Held[]
  /** Oldest first. */
  readonly waiters: readonly Waiting[]
}
export interface Held {
  readonly life: Life
  readonly mode: LockMode
  readonly isCanceling: boolean
  /** Number of requests that it blocks. */
  readonly blocks: number
}
export interface Waiting {
  readonly life: Life
  readonly waitedMs: number
  /** Ids of holders that it waits for. */
  readonly forHolders: readonly number[]
  /** Ids of older requests that it must not overtake. */
  readonly forWaiters: readonly number[]
}

/** @param t  ms from the start of the range. */
export function resourceStateAt(lives: readonly Life[], t: number): ResourceState {
  const phases = new Map(lives.map((life) => [life.id, phaseAt(life, t)]))
  const modes = new Map(lives.map((life) => [life.id, modeAt(life, t)]))
  const blocks = new Map<number, number>()
  const waiters = lives
    .filter((life) => phases.get(life.id) === 'waiting')
    .sort((a, b) => a.requested - b.requested || a.id - b.id)
    .map((life): Waiting => {
      const blocking = life.behind.filter(({ id, until }) => {
        const phase = phases.get(id)
        if (phase === undefined || phase === 'gone' || phase === 'future') return false
        // Table II: of CANCELING locks only NBW does not block; BW and PW block until their downgrade.
        return phase !== 'canceling' || until === 'release' || modes.get(id) !== 'NBW'
      })
      const forHolders = blocking.filter(({ id }) => phases.get(id) !== 'waiting').map(({ id }) => id)
      for (const id of forHolders) blocks.set(id, (blocks.get(id) ?? 0) + 1)
      const forWaiters = blocking.filter(({ id }) => phases.get(id) === 'waiting').map(({ id }) => id)
      return { life, waitedMs: Math.max(0, t - life.requested), forHolders, forWaiters }
    })
  const holders = lives
    .filter(({ id }) => phases.get(id) === 'granted' || phases.get(id) === 'canceling')
    .sort((a, b) => (a.granted ?? 0) - (b.granted ?? 0) || a.id - b.id)
    .map((life) => ({
      life,
      mode: modeAt(life, t),
      isCanceling: phases.get(life.id) === 'canceling',
      blocks: blocks.get(life.id) ?? 0,
    }))
  return { holders, waiters }
}

export interface Facts {
  /** Oldest request; null: no waiters. */
  readonly longest: { readonly name: string; readonly mode: LockMode; readonly ms: number } | null
  /** Text of what the oldest request waits for. */
  readonly waitsFor: string
  /** Smallest SN of data that may still arrive; null without an unreleased write lock. */
  readonly minSn: number | null
  /** Bytes written under CANCELING locks whose data are not all on the server. */
  readonly dirtyBytes: number
  /** Number of write locks whose data are being flushed. */
  readonly flushing: number
}

export function factsOf({ holders, waiters }: ResourceState, t: number): Facts {
  const oldest = waiters[0]
  const behind = new Set(oldest?.forHolders)
  const canceling = holders.filter((h) => behind.has(h.life.id) && h.isCanceling).length
  const granted = behind.size - canceling
  const parts = [...(canceling > 0 ? [`${canceling} canceling`] : []), ...(granted > 0 ? [`${granted} granted`] : [])]
  const locks = parts.length > 0 ? `${parts.join(', ')} lock${behind.size === 1 ? '' : 's'}` : ''
  const sns = holders.filter((h) => h.life.mode !== 'PR').map((h) => h.life.minSn ?? h.life.sn)
  const dirty = holders.filter((h) => h.isCanceling && (h.life.dataAt === null || h.life.dataAt > t + NEAR_MS))
  const unsent = ({ life }: Held): number => (life.dataAt === null ? life.dirtyBytes : life.bytes)
  return {
    longest: oldest ? { name: oldest.life.name, mode: oldest.life.requestedMode, ms: oldest.waitedMs } : null,
    waitsFor: oldest ? locks || 'processing at the lock server' : 'nothing',
    minSn: sns.reduce<number | null>((least, sn) => (sn === null ? least : Math.min(least ?? sn, sn)), null),
    dirtyBytes: dirty.reduce((sum, held) => sum + unsent(held), 0),
    flushing: dirty.filter((held) => unsent(held) > 0).length,
  }
}

export interface RangeCounts {
  readonly grants: number
  readonly early: number
  readonly revocations: number
  readonly upgrades: number
  readonly downgrades: number
}

/** Counts of events inside the range. */
export function countsOf(lives: readonly Life[], spanMs: number): RangeCounts {
  const isInside = (t: number | null): boolean => t !== null && t >= 0 && t <= spanMs
  const granted = lives.filter((life) => isInside(life.granted))
  return {
    grants: granted.length,
    early: granted.filter((life) => life.isEarlyGrant).length,
    revocations: granted.filter((life) => life.isEarlyRevocation).length,
    upgrades: granted.filter((life) => life.mode !== life.requestedMode).length,
    downgrades: lives.filter((life) => isInside(life.downgradedAt)).length,
  }
}

/** Explains the state in a sentence, by the oldest request and what it waits for. */
export function explain({ holders, waiters }: ResourceState): { level: 'info' | 'ok' | 'watch'; text: string } {
  const oldest = waiters[0]
  if (!oldest) {
    if (holders.length === 0) return { level: 'info', text: 'No locks held or requested.' }
    const pale = holders.filter((h) => h.isCanceling).length
    const flush = pale > 0 ? ` ${pale === 1 ? 'One of them is' : `${pale} of them are`} canceling.` : ''
    const many = holders.length === 1 ? 'One lock is' : `${holders.length} locks are`
    return { level: 'ok', text: `No contention: ${many} held and no request waits.${flush}` }
  }
  const blockers = holders.filter((h) => oldest.forHolders.includes(h.life.id))
  const { requestedMode } = oldest.life
  if (requestedMode === 'PW')
    return {
      level: 'info',
      text: 'PW also reads: it waits for every release, including the flush. Early grant does not apply to it.',
    }
  if (requestedMode === 'PR')
    return blockers.some((b) => b.isCanceling)
      ? {
          level: 'info',
          text: 'A reader conflicts with every write lock, canceling or not: it waits for every flush. Writers do not.',
        }
      : { level: 'info', text: 'A reader waits for the writers before it, and for their data to be on the server.' }
  if (blockers.some((b) => b.mode === 'PR'))
    return {
      level: 'info',
      text: 'A writer waits until every reader has released its lock, so that cached reads cannot become stale.',
    }
  if (blockers.some((b) => b.isCanceling))
    return {
      level: 'info',
      text: 'Early grant applies only to CANCELING NBW locks: a BW or PW lock blocks until its downgrade or release.',
    }
  return {
    level: 'info',
    text: 'A writer waits until the conflicting lock is CANCELING, not for its flush: sequence numbers order late data.',
  }
}

/** Times of all events inside [0, span], ascending. */
export function stepsOf(lives: readonly Life[], spanMs: number): number[] {
  const found = new Set<number>()
  for (const life of lives)
    for (const at of [life.requested, life.granted, life.canceling, life.downgradedAt, life.dataAt, life.ended])
      if (at !== null && at >= 0 && at <= spanMs) found.add(at)
  return [...found].sort((a, b) => a - b)
}

/** Event time before or after `t`; the start or end of the range if there is none. */
export function nextStep(steps: readonly number[], t: number, by: 1 | -1, spanMs: number): number {
  if (by > 0) return steps.find((at) => at > t + 2 * NEAR_MS) ?? spanMs
  return steps.findLast((at) => at < t - 2 * NEAR_MS) ?? 0
}

export interface QueueStep {
  readonly at: number
  readonly waiting: number
}

/** Number of waiters as steps, from 0 on. */
export function queueSteps(lives: readonly Life[], spanMs: number): QueueStep[] {
  const changes = new Map<number, number>([[0, 0]])
  const add = (at: number, by: number): void => {
    const place = Math.max(0, at)
    if (place <= spanMs) changes.set(place, (changes.get(place) ?? 0) + by)
  }
  for (const life of lives) {
    const until = life.granted ?? life.ended
    if (until !== null && until < 0) continue
    add(life.requested, 1)
    if (until !== null) add(until, -1)
  }
  let waiting = 0
  return [...changes].sort(([a], [b]) => a - b).map(([at, by]) => ({ at, waiting: (waiting += by) }))
}

/** Number of locks held (granted and not ended) at each of the ascending times `at`. */
export function heldAt(lives: readonly Life[], at: readonly number[]): number[] {
  const granted = lives.filter((life) => life.granted !== null)
  const begins = granted.map((life) => life.granted ?? 0).sort((a, b) => a - b)
  const ends = granted.flatMap((life) => life.ended ?? []).sort((a, b) => a - b)
  let begun = 0
  let ended = 0
  return at.map((t) => {
    while (begun < begins.length && (begins[begun] ?? 0) <= t) begun++
    while (ended < ends.length && (ends[ended] ?? 0) <= t) ended++
    return begun - ended
  })
}

/** Initial cursor of a range: middle of its first longest queue; the middle of the range without a queue. */
export function peakOf(steps: readonly QueueStep[], spanMs: number): number {
  const top = steps.reduce((most, step) => (step.waiting > most.waiting ? step : most), { at: spanMs / 2, waiting: 0 })
  const until = steps.find((step) => step.at > top.at)?.at ?? spanMs
  return top.waiting === 0 ? spanMs / 2 : (top.at + until) / 2
}
