/** What a recording says that it is of. */

/** Name of the setting. */
export const RECORDING = 'recording'

export interface RecordingFacts {
  readonly cluster: string
  readonly kind: string
  readonly fromMs: number
  readonly toMs: number
}
