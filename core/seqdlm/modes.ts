/**
 * The four lock modes, their compatibility and their conversion: the tables of the protocol.
 *
 * Source: SeqDLM Table II, Fig. 9, 10, 11, 12; spec/seqdlm 2. Deviations: none; what the figures leave open is resolved
 * there.
 */

/**
 * Protective read, non-blocking write, blocking write, protective write. The write modes are in order from the least
 * to the most restrictive.
 */
export type LockMode = 'PR' | 'NBW' | 'BW' | 'PW'

/** State in the lock server: a CANCELING lock serves no new operation. */
export type LockState = 'GRANTED' | 'CANCELING'

export const LOCK_MODES: readonly LockMode[] = ['PR', 'NBW', 'BW', 'PW']

export const isLockMode = (value: unknown): value is LockMode => LOCK_MODES.includes(value as LockMode)
export const isWriteMode = (mode: LockMode): boolean => mode !== 'PR'
/** True for PR and PW, which see the writes of others: they are granted when every older write is on the device. */
export const isReadMode = (mode: LockMode): boolean => mode === 'PR' || mode === 'PW'

/**
 * Table II: true if a request can be granted beside an overlapping unreleased lock of another client.
 *
 * @param requested  mode of the new request.
 * @param granted    mode of the unreleased lock.
 * @param state      the lock server's state of that lock; it matters in the NBW column alone (early grant).
 */
export function isCompatible(requested: LockMode, granted: LockMode, state: LockState): boolean {
  if (granted === 'PR') return requested === 'PR'
  return granted === 'NBW' && state === 'CANCELING' && (requested === 'NBW' || requested === 'BW')
}

/**
 * True if an operation that needs `wanted` may run under a lock of mode `held` (Fig. 9). BW and NBW never serve a read.
 */
export const covers = (held: LockMode, wanted: LockMode): boolean =>
  held === wanted || held === 'PW' || (held === 'BW' && wanted === 'NBW')

/** Returns the least mode that covers both: the upgrade of a request beside a lock of its own client (Fig. 9, 11). */
export function join(held: LockMode, requested: LockMode): LockMode {
  if (covers(held, requested)) return held
  return covers(requested, held) ? requested : 'PW'
}

export interface Downgrade {
  /** Mode to cancel under; null if the lock keeps its mode. */
  readonly mode: LockMode | null
  /** True if dirty data are flushed before the lock server is notified. */
  readonly flushBefore: boolean
}

/**
 * Returns the downgrade of a lock when its cancel begins (Fig. 12).
 *
 * @param onlyReaders  readers hold it and no writer does. An idle lock is not held by readers (A14).
 */
export function downgradeOf(mode: LockMode, onlyReaders: boolean): Downgrade {
  if (mode === 'PW' && onlyReaders) return { mode: 'PR', flushBefore: true }
  return { mode: mode === 'PW' || mode === 'BW' ? 'NBW' : null, flushBefore: false }
}

/** Operations in terms of the selection rules; append is a write that reads the file's size first. */
export type OperationKind = 'read' | 'write' | 'append' | 'truncate'

/**
 * Returns the least restrictive mode that an operation can run under (Fig. 10).
 *
 * A write of part of a page reads nothing here, as pages keep byte-exact extents (A3); nor does truncate (A2).
 *
 * @param resources     stripes that are locked at once, >= 1.
 * @param implicitRead  a write that depends on what it reads: read-modify-write.
 */
export function selectMode(kind: OperationKind, resources: number, implicitRead = false): LockMode {
  if (kind === 'read') return 'PR'
  if (kind === 'append' || implicitRead) return 'PW'
  return resources > 1 ? 'BW' : 'NBW'
}
