/**
 * One lock from its request to its end, in the form that readers see; and details outside its row.
 *
 * A step that has not occurred is at Infinity; a reader at `to` treats every later step as one that has not occurred.
 */
import type { ClientId, ResourceId } from '../messages.ts'
import { LOCK_MODES, type LockMode } from '../modes.ts'
import type { LockRange, Range } from '../ranges.ts'
import type { DataSteps } from './data-steps.ts'
import * as c from './life-columns.ts'
import type { LockLife, Obstacle } from './trace.ts'

export interface Downgraded {
  readonly ns: number
  readonly seq: number
  readonly mode: LockMode
}

/** Lock replaced by another one of its client, as it was then. */
export interface AbsorbedLock {
  readonly id: number
  readonly mode: LockMode
  readonly modeNow: LockMode
  readonly range: LockRange
  readonly sn: number
}

/** Read access to a table of lives; modes are numbers of `LOCK_MODES`. */
export interface LifeRows {
  get(slot: number, column: number): number
  has(slot: number, flag: number): boolean
  askedMode(slot: number): number
  /** Mode as granted; before the grant, as requested. */
  mode(slot: number): number
  /** Mode of its first downgrade. */
  downgradedTo(slot: number): number
  ending(slot: number): NonNullable<LockLife['ending']>
  isGranted(slot: number): boolean
  isHeldAt(slot: number, to: number): boolean
}

const NONE: readonly AbsorbedLock[] = []

export class LifeRecord {
  readonly slot: number
  /** Number of its request's event. */
  readonly id: number
  readonly resource: ResourceId
  readonly client: ClientId
  readonly reqId: number
  readonly askedNs: number
  readonly askedMode: LockMode
  readonly #rows: LifeRows
  #required: LockRange | null = null
  #range: LockRange | null = null
  requiredPieces: readonly Range[] | null = null
  rangePieces: readonly Range[] | null = null
  absorbed: readonly AbsorbedLock[] = NONE
  /** Besides the first. */
  moreDowngrades: Downgraded[] | null = null
  /** Data of its SN that arrived at the server, and that was written, if more than once. */
  arrived: DataSteps | null = null
  written: DataSteps | null = null
  /** Computed on the first read after its grant, when it cannot change any more. */
  behind: readonly Obstacle[] | null = null
  rule: string | null = null

  constructor(rows: LifeRows, slot: number) {
    this.#rows = rows
    this.slot = slot
    this.id = rows.get(slot, c.ID)
    this.resource = rows.get(slot, c.RESOURCE)
    this.client = rows.get(slot, c.CLIENT)
    this.reqId = rows.get(slot, c.REQ_ID)
    this.askedNs = rows.get(slot, c.REQUESTED_NS)
    this.askedMode = LOCK_MODES[rows.askedMode(slot)]!
  }

  get required(): LockRange {
    return (this.#required ??= this.#rangeOf(c.REQUIRED_START, c.REQUIRED_END, this.requiredPieces))
  }

  /** True if its request found an obstacle. */
  get hasWaited(): boolean {
    return this.#rows.has(this.slot, c.HAS_WAITED)
  }

  get lockId(): number {
    return this.#rows.get(this.slot, c.LOCK_ID)
  }

  get grantedNs(): number {
    return this.#rows.get(this.slot, c.GRANTED_NS)
  }

  get grantedSeq(): number {
    return this.#rows.get(this.slot, c.GRANTED_SEQ)
  }

  /** Mode as granted; before the grant, as requested. */
  get mode(): LockMode {
    return LOCK_MODES[this.#rows.mode(this.slot)]!
  }

  get range(): LockRange {
    if (!this.#rows.isGranted(this.slot)) return this.required
    return (this.#range ??= this.#rangeOf(c.START, c.END, this.rangePieces))
  }

  get sn(): number {
    return this.#rows.get(this.slot, c.SN)
  }

  get minSn(): number {
    return this.#rows.get(this.slot, c.MIN_SN)
  }

  get isEarlyGrant(): boolean {
    return this.#rows.has(this.slot, c.IS_EARLY_GRANT)
  }

  get isEarlyRevocation(): boolean {
    return this.#rows.has(this.slot, c.IS_EARLY_REVOCATION)
  }

  get revokedNs(): number {
    return this.#rows.get(this.slot, c.REVOKED_NS)
  }

  get revokedSeq(): number {
    return this.#rows.get(this.slot, c.REVOKED_SEQ)
  }

  get cancelingNs(): number {
    return this.#rows.get(this.slot, c.CANCELING_NS)
  }

  get cancelingSeq(): number {
    return this.#rows.get(this.slot, c.CANCELING_SEQ)
  }

  get isDowngraded(): boolean {
    return this.#rows.get(this.slot, c.DOWNGRADED_SEQ) < Infinity
  }

  /** Downgrades in order of time. */
  get downgrades(): readonly Downgraded[] {
    if (!this.isDowngraded) return []
    const ns = this.#rows.get(this.slot, c.DOWNGRADED_NS)
    const seq = this.#rows.get(this.slot, c.DOWNGRADED_SEQ)
    return [{ ns, seq, mode: LOCK_MODES[this.#rows.downgradedTo(this.slot)]! }, ...(this.moreDowngrades ?? [])]
  }

  get endedNs(): number {
    return this.#rows.get(this.slot, c.ENDED_NS)
  }

  get endedSeq(): number {
    return this.#rows.get(this.slot, c.ENDED_SEQ)
  }

  get ending(): NonNullable<LockLife['ending']> {
    return this.#rows.ending(this.slot)
  }

  modeAt(to: number): LockMode {
    return this.downgradeAt(to)?.mode ?? this.mode
  }

  downgradeAt(to: number): Downgraded | undefined {
    return this.downgrades.findLast((d) => d.ns <= to)
  }

  isHeldAt(to: number): boolean {
    return this.#rows.isHeldAt(this.slot, to)
  }

  arrivedBytesAt(to: number): number {
    if (this.arrived !== null) return this.arrived.bytesAt(to)
    return this.#rows.get(this.slot, c.ARRIVED_NS) <= to ? this.#rows.get(this.slot, c.ARRIVED_BYTES) : 0
  }

  arrivedLastAt(to: number): number | undefined {
    return this.arrived !== null ? this.arrived.lastAt(to) : by(this.#rows.get(this.slot, c.ARRIVED_NS), to)
  }

  writtenBytesAt(to: number): number {
    if (this.written !== null) return this.written.bytesAt(to)
    return this.#rows.get(this.slot, c.WRITTEN_NS) <= to ? this.#rows.get(this.slot, c.WRITTEN_BYTES) : 0
  }

  #rangeOf(start: number, end: number, pieces: readonly Range[] | null): LockRange {
    return { start: this.#rows.get(this.slot, start), end: this.#rows.get(this.slot, end), pieces }
  }
}

const by = (ns: number, to: number): number | undefined => (ns <= to ? ns : undefined)

/** Returns a life as known at `to`. */
export function lifeAt(r: LifeRecord, to: number, behind: readonly Obstacle[], rule: string): LockLife {
  const isGranted = r.grantedNs <= to
  const isEnded = r.endedNs <= to
  const down = r.downgradeAt(to)
  const bytes = r.arrivedBytesAt(to)
  return {
    id: r.id,
    resource: r.resource,
    client: r.client,
    reqId: r.reqId,
    askedNs: r.askedNs,
    askedMode: r.askedMode,
    required: r.required,
    lockId: isGranted ? r.lockId : undefined,
    grantedNs: by(r.grantedNs, to),
    mode: isGranted ? r.mode : r.askedMode,
    range: isGranted ? r.range : r.required,
    sn: isGranted ? r.sn : undefined,
    minSn: isGranted ? r.minSn : undefined,
    isEarlyGrant: isGranted && r.isEarlyGrant,
    isEarlyRevocation: isGranted && r.isEarlyRevocation,
    revokedNs: by(r.revokedNs, to),
    cancelingNs: by(r.cancelingNs, to),
    downgradedNs: down?.ns,
    downgradedTo: down?.mode,
    endedNs: by(r.endedNs, to),
    ending: isEnded ? r.ending : undefined,
    absorbed: isGranted ? r.absorbed.map((a) => a.id) : [],
    behind,
    rule,
    bytes,
    dataNs: r.arrivedLastAt(to),
    writtenBytes: Math.max(bytes, r.writtenBytesAt(to)),
  }
}
