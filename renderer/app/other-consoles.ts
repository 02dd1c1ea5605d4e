/** Other consoles with live leases on the servers of a cluster. */
import type { OtherLease } from '#core/api/parts.ts'
import { formatCountdown } from '../format/units.ts'

export interface OtherConsole {
  readonly console: string
  readonly hosts: readonly string[]
  /** End of its last lease; null if one of them is unknown. */
  readonly expiresMs: number | null
}

/** One entry per console, in the order in which their leases were found. */
export function consolesOf(leases: readonly OtherLease[]): OtherConsole[] {
  const names = [...new Set(leases.map((l) => l.console))]
  return names.map((console) => {
    const those = leases.filter((l) => l.console === console)
    const ends = those.map((l) => l.expiresMs ?? null)
    const known = ends.filter((end) => end !== null)
    return {
      console,
      hosts: [...new Set(those.map((l) => l.host))],
      expiresMs: known.length === ends.length && known.length > 0 ? Math.max(...known) : null,
    }
  })
}

/** `in 00:42, unless renewed` */
export const remainingText = (expiresMs: number | null, nowMs: number): string =>
  expiresMs === null
    ? 'unknown'
    : expiresMs <= nowMs
      ? 'due'
      : `in ${formatCountdown(expiresMs - nowMs)}, unless renewed`
