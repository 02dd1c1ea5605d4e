/**
 * Counts of one resource, or of all, over time: a row of running totals, and a copy of it at the end of every 250 ms
 * with activity. The counts of a range are the difference of two rows.
 */
import { LOCK_MODES } from '../modes.ts'
import * as step from './step-log.ts'

/** Width of a bucket, ns; it includes its end and excludes its beginning. */
export const BUCKET_NS = 250_000_000

/** Waiting requests of a convoy: with fewer, two or three clients simply take turns. */
export const CONVOY_WAITING = 4

export const WAITING = 0
export const HELD = 1
/** Time since when the queue is not empty; NaN if it is empty. */
export const BUSY_SINCE = 2
/** Longest queue in the bucket. */
export const LONGEST = 3
export const REQUESTED = 4
export const CONFLICTS = 5
export const REVOCATIONS = 6
export const GRANTS = 7
export const EARLY_GRANTS = 8
export const EARLY_REVOCATIONS = 9
export const CONVERSIONS = 10
export const RELEASES = 11
/** Time from a revocation to the release, sum in ns, and number. */
export const CANCEL_NS = 12
export const CANCELS = 13
/** Write grants to another client than the previous write grant. */
export const OWNER_CHANGES = 14
/** Those of them that had to wait for the previous client. */
export const HANDOVERS = 15
/** Counts by mode, in the order of `LOCK_MODES`. Copies of a resource's row end before these. */
export const HELD_BY_MODE = 16
export const WAITING_BY_MODE = 20
export const GRANTS_BY_MODE = 24
export const WIDTH = 28
export const RESOURCE_WIDTH = 16

/** Flags of a step: it had waited; for a grant, its kind. */
export const HAD_WAITED = 1
export const IS_EARLY_GRANT = 2
export const IS_EARLY_REVOCATION = 4
export const IS_OWNER_CHANGE = 8
export const IS_CONVERTED = 16
/** It was revoked; the value is the time since. */
export const WAS_REVOKED = 2
/** It was held (for a lost one). */
export const WAS_HELD = 2

export const modeNumber = (mode: string): number => (mode === 'PR' ? 0 : mode === 'NBW' ? 1 : mode === 'BW' ? 2 : 3)

/** Applies a step to a row. */
export function follow(row: Float64Array, at: number, code: number, modes: number, flags: number, value: number): void {
  const mode = modes & 3
  switch (code) {
    case step.REQUESTED:
      row[REQUESTED]!++
      return
    case step.WAITING:
      row[CONFLICTS]!++
      if (row[WAITING]!++ === 0) row[BUSY_SINCE] = at
      row[WAITING_BY_MODE + mode]!++
      if (row[WAITING]! > row[LONGEST]!) row[LONGEST] = row[WAITING]!
      return
    case step.GRANTED:
      if (flags & HAD_WAITED) stopWaiting(row, modes >> 2)
      row[HELD]!++
      row[HELD_BY_MODE + mode]!++
      row[GRANTS]!++
      row[GRANTS_BY_MODE + mode]!++
      if (flags & IS_EARLY_GRANT) row[EARLY_GRANTS]!++
      if (flags & IS_EARLY_REVOCATION) row[EARLY_REVOCATIONS]!++
      if (flags & IS_CONVERTED) row[CONVERSIONS]!++
      if (flags & IS_OWNER_CHANGE) row[OWNER_CHANGES]!++
      if (flags & IS_OWNER_CHANGE && flags & HAD_WAITED) row[HANDOVERS]!++
      return
    case step.REVOKED:
      row[REVOCATIONS]!++
      return
    case step.DOWNGRADED:
      row[CONVERSIONS]!++
      row[HELD_BY_MODE + mode]!--
      row[HELD_BY_MODE + (modes >> 2)]!++
      return
    case step.RELEASED:
      row[RELEASES]!++
      if (flags & WAS_REVOKED) {
        row[CANCEL_NS]! += value
        row[CANCELS]!++
      }
      stopHolding(row, mode)
      return
    case step.ABSORBED:
      stopHolding(row, mode)
      return
    case step.LOST:
      if (flags & WAS_HELD) stopHolding(row, mode)
      else if (flags & HAD_WAITED) stopWaiting(row, mode)
      return
    default:
      if (flags & HAD_WAITED) stopWaiting(row, mode)
  }
}

function stopWaiting(row: Float64Array, mode: number): void {
  if (--row[WAITING]! === 0) row[BUSY_SINCE] = NaN
  row[WAITING_BY_MODE + mode]!--
}

function stopHolding(row: Float64Array, mode: number): void {
  row[HELD]!--
  row[HELD_BY_MODE + mode]!--
}

export function emptyRow(): Float64Array {
  const row = new Float64Array(WIDTH)
  row[BUSY_SINCE] = NaN
  return row
}

const FIRST_COPIES = 4

export class Counts {
  /** 0 for all resources together. */
  readonly place: number
  /** State after the last step. */
  readonly row = emptyRow()
  readonly #width: number
  /** Time of the last step, ns. */
  lastAt = -Infinity
  /** True if copies were dropped: counts before the oldest one are unknown. */
  isTrimmed = false
  /** End of the bucket of the last step, ns; -Infinity before the first. */
  #bucketEnd = -Infinity
  #labels = new Float64Array(FIRST_COPIES)
  #copies: Float64Array
  #head = 0
  #size = 0

  constructor(place: number) {
    this.place = place
    this.#width = place === 0 ? WIDTH : RESOURCE_WIDTH
    this.#copies = new Float64Array(FIRST_COPIES * this.#width)
  }

  get copies(): number {
    return this.#size
  }

  /**
   * Records a step; returns true if a copy was made.
   *
   * @param at  not before the last one.
   */
  step(at: number, code: number, modes: number, flags: number, value: number): boolean {
    const before = this.#bucketEnd
    if (at > before) this.#nextBucket(at)
    follow(this.row, at, code, modes, flags, value)
    this.lastAt = at
    return at > before && before !== -Infinity
  }

  #nextBucket(at: number): void {
    if (this.#bucketEnd !== -Infinity) this.#copy(this.#bucketEnd)
    this.row[LONGEST] = this.row[WAITING]!
    this.#bucketEnd = Math.ceil(at / BUCKET_NS) * BUCKET_NS
  }

  /** Copies the newest row that was complete by `at` into `row`; false if it is no longer known. */
  before(at: number, row: Float64Array): boolean {
    row.fill(0)
    row[BUSY_SINCE] = NaN
    const i = this.#find(at)
    if (i < 0) return !this.isTrimmed
    const from = this.#slot(i) * this.#width
    for (let i = 0; i < this.#width; i++) row[i] = this.#copies[from + i]!
    return true
  }

  /** Longest queue of the buckets in (from, to], ns, and of the time between them; NaN if none of it is known. */
  longest(from: number, to: number): number {
    let most = NaN
    for (let i = Math.max(0, this.#find(from)); i < this.#size; i++) {
      const label = this.#labels[this.#slot(i)] as number
      if (label > to) break
      const row = this.#slot(i) * this.#width
      // Up to its end the value of the bucket applies, after that the one at the end.
      const longest = this.#copies[row + (label > from ? LONGEST : WAITING)] as number
      most = Number.isNaN(most) ? longest : Math.max(most, longest)
    }
    if (Number.isNaN(most) && !this.isTrimmed && this.#find(to) < 0) return 0
    return most
  }

  /** Drops copies that are not needed to look back to `since`. Returns their number. */
  trim(since: number): number {
    let dropped = 0
    while (this.#size > 1 && (this.#labels[this.#slot(1)] as number) <= since) {
      this.#head = (this.#head + 1) % this.#labels.length
      this.#size--
      dropped++
    }
    this.isTrimmed ||= dropped > 0
    return dropped
  }

  /** Number of the newest copy with a label at or before `at`; -1 for none. */
  #find(at: number): number {
    let low = 0
    let high = this.#size
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#labels[this.#slot(middle)] as number) <= at) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #slot(i: number): number {
    return (this.#head + i) % this.#labels.length
  }

  #copy(label: number): void {
    if (this.#size === this.#labels.length) this.#grow()
    const slot = this.#slot(this.#size++)
    this.#labels[slot] = label
    this.#copies.set(this.row.subarray(0, this.#width), slot * this.#width)
  }

  #grow(): void {
    const labels = new Float64Array(this.#labels.length * 2)
    const copies = new Float64Array(labels.length * this.#width)
    for (let i = 0; i < this.#size; i++) {
      const from = this.#slot(i)
      labels[i] = this.#labels[from] as number
      copies.set(this.#copies.subarray(from * this.#width, (from + 1) * this.#width), i * this.#width)
    }
    this.#head = 0
    this.#labels = labels
    this.#copies = copies
  }
}

/** Modes by number. */
export const MODES = LOCK_MODES
