/** A live cluster in the host: while it is connected it is sampled, and has a console of its own. */
import type { ClusterInput, Leftover } from '#core/api/clusters.ts'
import { LiveCluster, type LiveClusterParts } from '../../cluster/live/live-cluster.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { LiveSource } from '../../cluster/live/live-source.ts'
import type { Console } from '../on-screen.ts'

export interface LiveConsoleParts extends Pick<LiveClusterParts, 'access' | 'rememberedRoles' | 'onRoles'> {
  /** Makes the console of a source that has begun. */
  readonly console: (
    live: LiveConsole,
    source: LiveSource,
  ) => { readonly console: Console; readonly close: () => Promise<void> }
  readonly onConsole: (live: LiveConsole) => void
  readonly onReady: (live: LiveConsole, server: LiveServer) => void
}

export class LiveConsole {
  readonly cluster: LiveCluster
  /** Rules and timers of ours that nobody here answers for, as found when a server answered the last time. */
  leftovers: { readonly list: readonly Leftover[]; readonly fault: string } = { list: [], fault: '' }
  #console: Console | undefined

  constructor(input: ClusterInput, parts: LiveConsoleParts) {
    this.cluster = new LiveCluster(input, {
      ...{ access: parts.access, rememberedRoles: parts.rememberedRoles, onRoles: parts.onRoles },
      onReady: (server) => parts.onReady(this, server),
      begin: (source) => {
        const made = parts.console(this, source)
        const { monitor, guard } = made.console
        this.#console = made.console
        source.start(
          (atNs) => monitor.tick(atNs),
          () => guard?.lock(),
        )
        parts.onConsole(this)
        return {
          close: async () => {
            this.#console = undefined
            parts.onConsole(this)
            await made.close()
          },
        }
      },
    })
  }

  /** The console of its present connection; undefined while it is not sampled. */
  get console(): Console | undefined {
    return this.#console
  }
}
