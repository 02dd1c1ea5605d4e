/** Cluster and range of a recording, as stored in it. */

/** Key of the setting. */
export const RECORDING = 'recording'

export interface RecordingFacts {
  readonly cluster: string
  readonly kind: string
  readonly fromMs: number
  readonly toMs: number
}
