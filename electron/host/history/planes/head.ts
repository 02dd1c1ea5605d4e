/** Position of a frame of the past, and the notices that say how it was recorded. */
import type { Notice } from '#core/api/parts.ts'

export interface PastHead {
  readonly seq: number
  readonly sample: number
  readonly atMs: number | null
  /** Distance of the samples that are shown, ms. */
  readonly stepMs: number
}

export const notRecorded = (what: string): Notice => ({
  code: 'NOT_RECORDED',
  what: `${what} were not recorded at this instant`,
  why: 'no row is near it',
})

const ageText = (ms: number): string => `${Math.max(1, Math.round(ms / 1000))} s`

/** Names what rows do not have; and their age, if they are older than the samples that are shown. */
export function ageNotice(what: string, ageMs: number, why: string, stepMs: number): Notice {
  const isOld = ageMs >= Math.max(1000, stepMs)
  return {
    code: 'RECORDED_ROWS',
    what: isOld ? `${what} recorded ${ageText(ageMs)} earlier` : `${what} from recorded rows`,
    why,
  }
}
