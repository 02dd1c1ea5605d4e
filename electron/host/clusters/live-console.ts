/** A live cluster in the host: while it is connected it is sampled, and has a console of its own. */
import type { ClusterInput, Leftover } from '#core/api/clusters.ts'
import { LiveCluster, type LiveClusterParts } from '../../cluster/live/live-cluster.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { LiveSource } from '../../cluster/live/live-source.ts'
import type { Console } from '../console.ts'

export interface BegunConsole {
  readonly console: Console
  /** Takes away what only this console would, as long as it may: before it may not write any more. */
  readonly standDown: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface LiveConsoleParts extends Pick<LiveClusterParts, 'access' | 'rememberedRoles' | 'onRoles'> {
  /** Makes the console of a source that has begun. */
  readonly console: (live: LiveConsole, source: LiveSource) => BegunConsole
  /** Looks after it while it is sampled; returns how to stop. */
  readonly watch?: ((console: Console) => () => void) | undefined
  readonly onConsole: (live: LiveConsole) => void
  readonly onReady: (live: LiveConsole, server: LiveServer) => void
}

export class LiveConsole {
  readonly cluster: LiveCluster
  /** Rules and timers of ours that nobody here answers for, as found when a server answered the last time. */
  leftovers: { readonly list: readonly Leftover[]; readonly fault: string } = { list: [], fault: '' }
  #begun: BegunConsole | undefined

  constructor(input: ClusterInput, parts: LiveConsoleParts) {
    this.cluster = new LiveCluster(input, {
      ...{ access: parts.access, rememberedRoles: parts.rememberedRoles, onRoles: parts.onRoles },
      onReady: (server) => parts.onReady(this, server),
      begin: (source) => {
        const made = parts.console(this, source)
        const { monitor, guard } = made.console
        this.#begun = made
        const unwatch = parts.watch?.(made.console)
        source.start(
          (atNs) => {
            // A sleep of this machine, a safe mode that was changed: noticed before anything is written after it.
            if (guard?.mayWrite() && monitor.loop.mode === 'enforce') monitor.setMode('advise')
            return monitor.tick(atNs)
          },
          () => guard?.lock('this machine slept'),
        )
        parts.onConsole(this)
        return {
          close: async () => {
            this.#begun = undefined
            unwatch?.()
            parts.onConsole(this)
            await made.close()
          },
        }
      },
    })
  }

  /** The console of its present connection; undefined while it is not sampled. */
  get console(): Console | undefined {
    return this.#begun?.console
  }

  /** For what ends its writing while it stays connected. */
  async standDown(): Promise<void> {
    await this.#begun?.standDown()
  }
}
