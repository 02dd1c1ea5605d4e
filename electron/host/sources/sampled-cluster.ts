/** A cluster over SSH that is sampled while it is connected. */
import type { ClusterInput } from '#core/api/clusters.ts'
import { LiveCluster, type LiveClusterParts } from '../../cluster/live/live-cluster.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { LiveSource } from '../../cluster/live/live-source.ts'
import type { Source } from './source.ts'

export interface BegunSource<S extends Source> {
  readonly source: S
  /** Takes away what only this console would, as long as it may: before it may not write any more. */
  readonly standDown: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface SampledClusterParts<S extends Source> extends Pick<
  LiveClusterParts,
  'access' | 'rememberedRoles' | 'onRoles'
> {
  /** Makes the source of servers that were found. */
  readonly begin: (cluster: LiveCluster, source: LiveSource) => BegunSource<S>
  /** Looks after it while it is sampled; returns how to stop. */
  readonly watch?: ((source: S) => () => void) | undefined
  /** It has begun to be sampled, or has ended. */
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
        const { monitor, guard } = made.source
        this.#begun = made
        const unwatch = parts.watch?.(made.source)
        live.start(
          (atNs) => {
            // A sleep of this machine, a safe mode that was changed: noticed before anything is written after it.
            if (guard?.mayWrite() && monitor.loop.mode === 'enforce') monitor.setMode('advise')
            return monitor.tick(atNs)
          },
          () => guard?.lock('this machine slept'),
        )
        parts.onSource?.()
        return {
          close: async () => {
            this.#begun = undefined
            unwatch?.()
            parts.onSource?.()
            await made.close()
          },
        }
      },
    })
  }

  /** The source of its present connection; undefined while it is not sampled. */
  get source(): S | undefined {
    return this.#begun?.source
  }

  /** For what ends its writing while it stays connected. */
  async standDown(): Promise<void> {
    await this.#begun?.standDown()
  }
}
