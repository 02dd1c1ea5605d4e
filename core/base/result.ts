/**
 * Expected failures as values. A function that can fail for a reason outside this program returns a Result;
 * it throws only when the program itself is wrong (InvariantError).
 */
export type Result<T, E = Failure> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** What every failure that reaches a person carries. */
export interface Failure {
  /** SCREAMING_SNAKE, stable: scripts and tests match on it. */
  readonly code: string
  /** What failed. */
  readonly what: string
  /** Why, as far as is known. */
  readonly why?: string | undefined
  /** What goes on working all the same. */
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

/** A broken promise of this program to itself: a bug, never the user's fault. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Asserts what the surrounding text claims; the message repeats the claim. */
export function invariant(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new InvariantError(claim)
}
