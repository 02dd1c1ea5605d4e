/** Displayed names of state levels. */
import type { Level } from '#core/api/frames.ts'

export const levelNames: Readonly<Record<Level, string>> = {
  bad: 'critical',
  watch: 'warning',
  ok: 'ok',
  idle: 'idle',
  unknown: 'unknown',
}
