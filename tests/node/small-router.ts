/** Real router with a few verbs of the contract, for tests of its transports. */
import { implement } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import type { StatusFrame } from '#core/api/frames.ts'

/** Part of the contract that the router answers; clients of the tests are typed by it. */
export const smallContract = {
  host: contract.host,
  source: { status: contract.source.status, setMode: contract.source.setMode },
}

const frame = (seq: number): StatusFrame => ({
  seq,
  sample: seq,
  atMs: 1000 * seq,
  source: { kind: 'EMULATED', cluster: 'test', env: 'DEMO', sinceMs: 0 },
  oldest: 1,
  clock: { speed: 1, achieved: 1, intervalMs: 1000, sampleAgeMs: 0 },
  mode: 'observe',
  safeMode: 'review',
  unlockedUntilMs: null,
  controller: 'none',
  adaptbf: {
    options: {
      demand: 'saturation',
      deadbandPercent: 0,
      coefficient: 'max',
      overdraft: 0,
      autoT: false,
      spill: false,
    },
    measures: ['served', 'saturation'],
    maxRates: [],
    lag: null,
    clearing: { isOn: false, clears: 0 },
  },
  cycle: null,
  nodes: { total: 1, reporting: 1, missing: [] },
  counts: { jobs: 0, targets: 0, rules: 0 },
  cost: { bytesPerSec: 0, serverMsPerSec: 0 },
  audit: 0,
  staged: 0,
  history: { recording: false },
  notices: [],
})

/** The router, and the inputs of its verbs. */
export function smallRouter() {
  const seen = { peers: [] as string[], ended: 0 }
  const os = implement(smallContract).$context<{ readonly peer: string }>()
  const router = os.router({
    host: {
      info: os.host.info.handler(({ context }) => {
        seen.peers.push(context.peer)
        return { name: 'sluice' as const, version: '0.0.0', runtime: 'test', shell: 'browser' as const }
      }),
      ack: os.host.ack.handler(() => undefined),
    },
    source: {
      status: os.source.status.handler(async function* ({ signal }) {
        try {
          for (let seq = 1; !signal?.aborted; seq++) {
            yield frame(seq)
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        } finally {
          seen.ended++
        }
      }),
      setMode: os.source.setMode.handler(({ errors }) => {
        throw errors.REFUSED({ data: { code: 'TEST', what: 'not here' } })
      }),
    },
  })
  return { router, seen }
}
