/**
 * Uncontended lock grants a second of one server process over a Unix socket: requests of one client, 256 under way, each released at
 * once. Baseline: the same frames to a process that returns them.
 */
import type { Bench } from '../../bench/measure.ts'
import type { Result } from '#core/base/result.ts'
import { echoesPerSecond, grantsPerSecond } from '#tests/kits/electron/ccpfs/grants.ts'

const GRANTS = 200_000

function must(result: Result<number>): number {
  if (!result.ok) throw new Error(`${result.error.what}: ${result.error.why ?? ''}`)
  return result.value
}

export const benches: readonly Bench[] = [
  {
    id: 'ccpfs.grants',
    unit: 'grants/s',
    run: async () => must(await grantsPerSecond(GRANTS)),
    baseline: async () => must(await echoesPerSecond(GRANTS)),
    note: 'request, grant and release over a Unix socket, 256 under way, by one client process',
    beside: 'echo server, the same frames',
    must: { least: 100_000 },
    limit:
      'One core each for the server and the client: decoding, the lock state machine, and the system calls of the socket.',
    runs: 5,
  },
]
