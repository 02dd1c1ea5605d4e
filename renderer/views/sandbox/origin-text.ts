/** Text for the origin of a scenario. */
import type { Origin } from '../../stores/sandbox.ts'
import { formatClock } from '../../format/units.ts'

export function originText(origin: Origin): string {
  if (origin.kind === 'gallery') return origin.entry.title
  const { span } = origin
  if (span === null) return `fork of ${origin.cluster} at ${formatClock(origin.atMs)}`
  return `replay of ${origin.cluster}, ${formatClock(span.fromMs)} to ${formatClock(span.toMs)}`
}
