/**
 * Backoff of reconnects: doubled each time up to a bound, with jitter, so that the consoles of a site do not all
 * reconnect to a restarted server at once.
 */
export interface Backoff {
  /** First wait, ms. */
  readonly baseMs: number
  readonly mostMs: number
}

/**
 * @param failures  consecutive failed attempts, from 1.
 * @param random    uniform in [0, 1).
 * @returns         ms in [half, 1) of min(mostMs, baseMs * 2^(failures-1)).
 */
export function backoffMs(b: Backoff, failures: number, random: number): number {
  const delayMs = Math.min(b.mostMs, b.baseMs * 2 ** Math.min(failures - 1, 30))
  return delayMs * (0.5 + random / 2)
}
