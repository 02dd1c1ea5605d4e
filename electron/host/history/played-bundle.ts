/** Bundle in playback. */
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { OpenedBundle } from '../../incidents/bundle/open-bundle.ts'

export interface PlayedBundle {
  /** Name in the bundle folder. */
  readonly name: string
  readonly title: string
  readonly env: Manifest['source']['env']
  /** True if it is unchanged since it was written. */
  readonly verified: boolean
  readonly opened: OpenedBundle
}
