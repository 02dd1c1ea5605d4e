/** Cluster over SSH that is sampled while connected. */
import type { ClusterInput } from '#core/api/clusters.ts'
import { LiveCluster, type LiveClusterParts } from '../../cluster/live/live-cluster.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { LiveSource } from '../../cluster/live/live-source.ts'
import type { Source } from './source.ts'

export interface BegunSource<S extends Source> {
  readonly source: S
  /** Removes what only this console would remove, while it still may write. */
  readonly stopAndRelease: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface SampledClusterParts<S extends Source> extends Pick<
  LiveClusterParts,
  'access' | 'rememberedRoles' | 'onRoles'
> {
  /** Creates the source of the servers found. */
  readonly begin: (cluster: LiveCluster, source: LiveSource) => BegunSource<S>
  /** Watches the source while it is sampled; returns the stop function. */
  readonly watch?: ((source: S) => () => void) | undefined
  /** Called when sampling has begun, or has ended. */
  readonly onSource?: (() => void) | undefined
  readonly onReady?: ((server: LiveServer) => void) | undefined
}

export class SampledCluster<S extends Source> {
  readonly cluster: LiveCluster
  #begun: BegunSource<S> | undefined

  constructor(input: ClusterInput, parts: SampledClusterParts<S>) {
    this.cluster = new LiveCluster(input, {
      access: parts.access,
      rememberedRoles: parts.rememberedRoles,
      onRoles: parts.onRoles,
      onReady: parts.onReady,
      begin: (live) => {
        const made = parts.begin(this.cluster, live)
        const { monitor, writeProtection } = made.source
        this.#begun = made
        const unwatch = parts.watch?.(made.source)
        // Detects a sleep of this machine or a changed safe mode before anything is written.
        const beforeWrites = (): void => {
          if (writeProtection?.mayWrite() && monitor.loop.mode === 'enforce') monitor.setMode('advise')
        }
        live.start(
          (atNs) => {
            beforeWrites()
            return monitor.tick(atNs)
          },
          () => writeProtection?.lock('this machine was suspended'),
        )
        monitor.startPeriods(() => {
          live.checkSleep()
          beforeWrites()
        })
        parts.onSource?.()
        return {
          close: async () => {
            this.#begun = undefined
            unwatch?.()
            parts.onSource?.()
            await monitor.stopPeriods()
            await made.close()
          },
        }
      },
    })
  }

  /** Source of the present connection; undefined while it is not sampled. */
  get source(): S | undefined {
    return this.#begun?.source
  }

  /** Stops writing while the cluster stays connected. */
  async stopAndRelease(): Promise<void> {
    await this.#begun?.stopAndRelease()
  }
}
