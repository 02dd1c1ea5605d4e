/**
 * Expected failures as values. A function that can fail for a reason outside this program returns a Result; it throws only for bugs in
 * this program (InvariantError).
 */
export type Result<T, E = Failure> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** Fields of every failure shown to a user. */
export interface Failure {
  /** SCREAMING_SNAKE, stable: scripts and tests match it. */
  readonly code: string
  /** Failed operation. */
  readonly what: string
  /** Cause, if known. */
  readonly why?: string | undefined
  /** Functions that are not affected. */
  readonly unaffected?: string | undefined
  /** The next action. */
  readonly next?: string | undefined
}

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

export const fail = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error })

/** One line for a terminal or a log: what: why. next. */
export function formatFailure(f: Failure): string {
  const why = f.why ? `: ${f.why}` : ''
  const unaffected = f.unaffected ? ` ${f.unaffected}` : ''
  const next = f.next ? ` ${f.next}` : ''
  return `${f.what}${why}.${unaffected}${next}`
}

/** One-line text of a failure, `what: why`, without its effects and next step. */
export const formatReason = ({ what, why }: Pick<Failure, 'what' | 'why'>): string => (why ? `${what}: ${why}` : what)

/** Violated invariant: a bug in this program, never a user error. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Asserts a condition; the message states the violated claim. */
export function invariant(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new InvariantError(claim)
}
