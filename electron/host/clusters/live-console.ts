/** A live cluster in the host: while it is connected it has a console of its own, and what was left on its servers is known. */
import type { Leftover } from '#core/api/clusters.ts'
import type { Console } from '../console.ts'
import { SampledCluster } from '../sources/sampled-cluster.ts'

export class LiveConsole extends SampledCluster<Console> {
  /** Rules and timers of ours that nobody here answers for, as found when a server answered the last time. */
  leftovers: { readonly list: readonly Leftover[]; readonly fault: string } = { list: [], fault: '' }

  /** The console of its present connection; undefined while it is not sampled. */
  get console(): Console | undefined {
    return this.source
  }
}
