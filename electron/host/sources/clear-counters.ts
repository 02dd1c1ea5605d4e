/**
 * Switches clearing of job_stats on. It is refused while others read the counters, as far as that can be known: other consoles by their
 * leases, streaming readers by their processes, and others by entries that they cleared. Exporters that only read leave no trace, so the
 * operator confirms with the name of the cluster that there are none.
 */
import { fail, type Result } from '#core/base/result.ts'
import { readersOn } from '../../cluster/probes/other-readers.ts'
import { otherConsoles, otherConsolesText } from './other-consoles.ts'
import type { Source } from './source.ts'

const refuse = (code: string, why: string, next: string): Result<undefined> =>
  fail({
    code,
    what: 'Job statistics are not cleared after each period',
    why,
    unaffected: 'Nothing was cleared.',
    next,
  })

/** Interval of looking for other readers, wall ms. */
const LOOK_MS = 10_000

/** Reason why others are known to read the counters of a cluster; empty if none is known. */
export async function otherReaders(source: Source): Promise<string> {
  const { monitor } = source
  const [cleared] = monitor.loop.clearing.others
  if (cleared) return `another process cleared ${cleared.entries} entries of job_stats on ${cleared.host}`
  const leases = await otherConsoles(source)
  if (leases.length > 0) return otherConsolesText(leases)
  const found = await Promise.all(
    monitor.servers.map(async (host) => {
      const node = monitor.node(host)
      const readers = node && monitor.source.kind === 'LIVE' ? await readersOn(node) : undefined
      const own = monitor.reading(host)?.stream === undefined ? 0 : 1
      return { host, others: (readers ?? 0) - own }
    }),
  )
  const first = found.find(({ others }) => others > 0)
  if (!first) return ''
  return `${first.others} other sluice-read ${first.others === 1 ? 'process runs' : 'processes run'} on ${first.host}`
}

/** Ends clearing when another reader appears; looks every ten seconds. */
function watchReaders(source: Source): void {
  const { monitor } = source
  const { clearing } = monitor.loop
  let nextMs = performance.now() + LOOK_MS
  const off = monitor.onChange(() => {
    if (!clearing.isOn) return off()
    if (performance.now() < nextMs) return
    nextMs = performance.now() + LOOK_MS
    void otherReaders(source).then((why) => {
      if (why !== '') clearing.endBecause(why)
    })
  })
}

/**
 * Switches it on. Failures: CLEAR_NOT_CONFIRMED, NOT_ENFORCING, OTHERS_READ, NOT_ON_RECORD.
 *
 * @param typed  the name of the cluster, as typed by the operator.
 */
export async function startClearing(source: Source, typed: string): Promise<Result<undefined>> {
  const { monitor } = source
  const { cluster } = monitor.source
  if (typed !== cluster) {
    const why =
      'other programs that read job_stats, such as a Prometheus exporter, cannot be recognized, and would lose counts'
    return refuse('CLEAR_NOT_CONFIRMED', why, `Type ${cluster} to confirm that no other program reads job_stats there.`)
  }
  const refused = monitor.loop.mode === 'enforce' ? monitor.loop.may() : 'the mode is not enforce'
  if (refused !== undefined) return refuse('NOT_ENFORCING', refused, 'Choose Enforce first: it ends with that mode.')
  const others = await otherReaders(source)
  if (others !== '')
    return refuse('OTHERS_READ', others, 'End the other reader, and wait ten minutes if it cleared counters.')
  // The checks took a while: a stop or another choice made meanwhile applies.
  const still = monitor.loop.may()
  if (still !== undefined) return refuse('NOT_ENFORCING', still, 'Choose Enforce first: it ends with that mode.')
  const begun = monitor.loop.clearing.begin(monitor.servers)
  if (begun.ok) watchReaders(source)
  return begun
}
