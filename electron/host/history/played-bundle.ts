/** A bundle that is on screen. */
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { OpenedBundle } from '../../incidents/bundle/open-bundle.ts'

export interface PlayedBundle {
  /** In the folder of bundles. */
  readonly name: string
  readonly title: string
  readonly env: Manifest['source']['env']
  /** Whether it is as it was written. */
  readonly verified: boolean
  readonly opened: OpenedBundle
}
