/**
 * Obstacles of a request, derived from the lives around it: spec/seqdlm 4 applied over time instead of at an event.
 *
 * A request with locks of its own client that it can merge with wants the mode and range of all of them, so its
 * obstacles change when one of them is revoked; and its own lock, once it cannot be merged, is an obstacle like a
 * foreign one (A18).
 */
import { isCompatible, join, type LockMode } from '../modes.ts'
import type { DlmPolicy } from '../policy.ts'
import { overlaps, union, type LockRange } from '../ranges.ts'
import type { LifeRecord } from './life.ts'
import type { Obstacle } from './trace.ts'

/** Policy options that tracing needs. */
export type TracedPolicy = Pick<DlmPolicy, 'earlyGrant' | 'upgrade' | 'downgrade'>

export interface FoundObstacle {
  readonly life: LifeRecord
  readonly until: Obstacle['until']
  /** Event that removed it; Infinity while it is an obstacle. */
  readonly clearedSeq: number
  /** Mode in which it last was an obstacle. */
  readonly mode: LockMode
}

/** Range of events with the grant a request would get, or with the state of a lock. */
interface EventRange {
  readonly from: number
  readonly to: number
  readonly mode: LockMode
}

interface Wanted extends EventRange {
  readonly range: LockRange
  readonly merged: readonly LifeRecord[]
}

interface Lock extends EventRange {
  readonly isCanceling: boolean
}

const seqBy = (ns: number, seq: number, to: number): number => (ns <= to ? seq : Infinity)
const grantedBy = (l: LifeRecord, to: number): number => seqBy(l.grantedNs, l.grantedSeq, to)
const endedBy = (l: LifeRecord, to: number): number => seqBy(l.endedNs, l.endedSeq, to)

/** Maximum obstacles reported for one life. */
export const MOST_BEHIND = 64

/**
 * Returns the lives that were obstacles of a request, as known at `to` (ns), in order of their requests.
 *
 * @param around  lives of its resource, at least those that had not ended at its request.
 */
export function findObstacles(
  w: LifeRecord,
  to: number,
  around: readonly LifeRecord[],
  policy: TracedPolicy,
): FoundObstacle[] {
  if (!w.hasWaited) return []
  const end = Math.min(grantedBy(w, to), endedBy(w, to))
  const wanted = wantedOver(w, end, to, around, policy)
  const canBePassed = policy.earlyGrant && wanted.every(({ mode }) => mode === 'NBW' || mode === 'BW')
  const found: FoundObstacle[] = []
  for (const l of around) {
    if (l === w || l.askedNs > to || l.endedSeq < w.id || isPassed(l, w, canBePassed)) continue
    const one = against(w, l, end, to, wanted, policy)
    if (one !== null) found.push(one)
  }
  return found
}

/** Ids of obstacles: at most `MOST_BEHIND`, current ones before past ones. */
export function obstacles(found: readonly FoundObstacle[]): Obstacle[] {
  const some =
    found.length <= MOST_BEHIND
      ? found
      : [...found].sort((a, b) => b.clearedSeq - a.clearedSeq || a.life.id - b.life.id).slice(0, MOST_BEHIND)
  return some.map(({ life, until }) => ({ life: life.id, until })).sort((a, b) => a.life - b.life)
}

/** An NBW that was already CANCELING: the most frequent case, and no obstacle to requests that can pass it. */
const isPassed = (l: LifeRecord, w: LifeRecord, canBePassed: boolean): boolean =>
  canBePassed && l.mode === 'NBW' && l.cancelingSeq < w.id && !l.isDowngraded

function against(
  w: LifeRecord,
  l: LifeRecord,
  end: number,
  to: number,
  wanted: readonly Wanted[],
  policy: TracedPolicy,
): FoundObstacle | null {
  let cleared = -1
  let mode = l.askedMode
  let isLock = false
  let isCanceling = false
  const granted = grantedBy(l, to)
  const ended = endedBy(l, to)
  const isEarlier = l.id < w.id && l.client !== w.client && granted > w.id
  if (isEarlier && !isCompatible(w.askedMode, l.askedMode, 'GRANTED') && overlaps(w.required, l.required)) {
    cleared = Math.min(granted, ended, end)
  }
  for (const want of granted < end ? wanted : []) {
    if (want.merged.includes(l) || !overlaps(l.range, want.range)) continue
    for (const lock of lockOver(l, to)) {
      const last = Math.min(lock.to, want.to)
      if (last <= Math.max(lock.from, want.from) || last < cleared || isGrantable(want.mode, lock, policy)) continue
      cleared = last
      isLock = true
      ;({ mode, isCanceling } = lock)
    }
  }
  if (cleared < 0) return null
  if (cleared < end) {
    if (ended <= cleared) return { life: l, until: 'release', clearedSeq: cleared, mode }
    // Neither ended nor CANCELING: the request itself wanted less from then on, and did not wait for a step of this
    // one.
    const canceling = seqBy(l.cancelingNs, l.cancelingSeq, to)
    return canceling <= cleared ? { life: l, until: 'canceling', clearedSeq: cleared, mode } : null
  }
  const requested = wanted.at(-1)?.mode ?? w.askedMode
  const until = isLock && isCanceling ? 'release' : expected(requested, isLock ? mode : l.askedMode, policy)
  return { life: l, until, clearedSeq: Infinity, mode }
}

/** Step that lets a request pass: a write lock that becomes NBW when it is canceled is passed while CANCELING. */
function expected(requested: LockMode, mode: LockMode, { earlyGrant, downgrade }: TracedPolicy): Obstacle['until'] {
  const canPass = earlyGrant && (requested === 'NBW' || requested === 'BW')
  return canPass && (mode === 'NBW' || (downgrade && mode !== 'PR')) ? 'canceling' : 'release'
}

const isGrantable = (requested: LockMode, { mode, isCanceling }: Lock, { earlyGrant }: TracedPolicy): boolean =>
  isCompatible(requested, mode, isCanceling && earlyGrant ? 'CANCELING' : 'GRANTED')

/** States of a lock, from its grant to its end. */
function lockOver(l: LifeRecord, to: number): Lock[] {
  const end = endedBy(l, to)
  const steps: { seq: number; mode: LockMode; isCanceling: boolean }[] = [
    { seq: grantedBy(l, to), mode: l.mode, isCanceling: l.isEarlyRevocation },
  ]
  const canceling = seqBy(l.cancelingNs, l.cancelingSeq, to)
  if (canceling < Infinity) steps.push({ seq: canceling, mode: l.mode, isCanceling: true })
  for (const d of l.downgrades) if (d.ns <= to) steps.push({ seq: d.seq, mode: d.mode, isCanceling: true })
  return steps.map(({ seq, mode, isCanceling }, i) => ({ from: seq, to: steps[i + 1]?.seq ?? end, mode, isCanceling }))
}

/** Event from which a lock of the request's own client could no longer be merged with it; 0 if it never could. */
function mergeableTo(w: LifeRecord, l: LifeRecord, to: number, { upgrade }: TracedPolicy): number {
  if (l === w || l.client !== w.client || grantedBy(l, to) === Infinity || !overlaps(l.range, w.required)) return 0
  const joint = join(l.mode, w.askedMode)
  if (!upgrade && joint !== l.mode && joint !== w.askedMode) return 0
  return Math.min(seqBy(l.revokedNs, l.revokedSeq, to), seqBy(l.cancelingNs, l.cancelingSeq, to), endedBy(l, to))
}

/** Grants that a request would get, from its arrival to `end`. */
function wantedOver(
  w: LifeRecord,
  end: number,
  to: number,
  around: readonly LifeRecord[],
  policy: TracedPolicy,
): Wanted[] {
  const plain: Wanted = { from: w.id, to: end, mode: w.askedMode, range: w.required, merged: [] }
  const mergeable = around.filter(
    (l) => mergeableTo(w, l, to, policy) > Math.max(w.id, l.grantedSeq) && l.grantedSeq < end,
  )
  if (mergeable.length === 0) return [plain]
  const borders = mergeable.flatMap((l) => [l.grantedSeq, mergeableTo(w, l, to, policy)])
  const edges = [...new Set([w.id, ...borders.filter((s) => s > w.id && s < end), end])].sort((a, b) => a - b)
  return edges.slice(0, -1).map((from, i) => {
    const there = mergeable.filter((l) => l.grantedSeq <= from && mergeableTo(w, l, to, policy) > from)
    return {
      from,
      to: edges[i + 1] as number,
      merged: there,
      mode: there.reduce<LockMode>((m, l) => join(l.mode, m), w.askedMode),
      range: there.reduce<LockRange>((r, l) => union(r, l.range), w.required),
    }
  })
}
