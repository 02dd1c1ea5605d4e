/** Live cluster in the host: it has its own console while connected, and the leftovers found on its servers. */
import type { Leftover } from '#core/api/clusters.ts'
import type { Console } from '../console.ts'
import { SampledCluster } from '../sources/sampled-cluster.ts'

export class LiveConsole extends SampledCluster<Console> {
  /** Rules and timers of Sluice that no running console owns, as found when a server last answered. */
  leftovers: { readonly list: readonly Leftover[]; readonly fault: string } = { list: [], fault: '' }

  /** Console of its present connection; undefined while it is not sampled. */
  get console(): Console | undefined {
    return this.source
  }
}
