/** V-E, Fig. 24 and 25: VPIC-IO through IO-forwarding daemons. */
import { DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { experimentOf, leastFall, variant } from './expectations.ts'
import { MIB, scaledLimits } from './ior.ts'
import { Fifo, Line } from '../../seqdlm/model/pipe.ts'
import { bandwidth, timed, type WriteRun } from './writers.ts'

const NODES = 80
const PROCESSES = 16
const THREADS = 8
const SERVERS = 16
const FULL_BYTES = 256 * MIB
/** Writes of each process instead of 1,024 and 256; dirty thresholds are scaled like the file. */
const WRITES = 4
const scaleOf = (bytes: number): number => FULL_BYTES / bytes / WRITES
/** Size of the HDF5 header: data are not page-aligned. */
const HEADER_BYTES = 2048
const STRIPES = [1, 4, 16]
const SIZES = [
  { name: '256K', bytes: 256 * 1024 },
  { name: '1M', bytes: MIB },
]
const POLICIES: readonly DlmPolicy[] = [SEQDLM, DLM_LUSTRE]

function run(policy: DlmPolicy, stripes: number, bytes: number, seed: number): WriteRun {
  const limits = scaledLimits(scaleOf(bytes))
  const cluster = new Cluster({ policy, clients: NODES, servers: SERVERS, seed, pages: 'cold', limits })
  const file = { base: 0, stripes, stripeSize: MIB }
  const processes = NODES * PROCESSES
  return timed(cluster, file, processes * WRITES, processes * WRITES * bytes, (node, ended) => {
    const daemon = new Daemon(cluster, bytes)
    let left = PROCESSES
    for (let p = 0; p < PROCESSES; p++) {
      // Ranks are placed round robin over the nodes, as MPICH does without counts.
      const rank = p * NODES + node
      let write = 0
      const next = (): void => {
        if (write === WRITES) {
          if (--left === 0) ended()
          return
        }
        const offset = HEADER_BYTES + (write++ * processes + rank) * bytes
        daemon.forward((done) => cluster.clients[node]!.write(file, offset, bytes, {}, done), next)
      }
      next()
    }
  })
}

type Forwarded = (done: () => void) => void

/** IO-forwarding daemon of one node: eight threads, and a copy of everything from the processes. */
class Daemon {
  readonly #cluster: Cluster
  readonly #bytes: number
  readonly #copy = new Line()
  readonly #waiting = new Fifo<{ readonly operation: Forwarded; readonly then: () => void }>()
  #busy = 0

  constructor(cluster: Cluster, bytes: number) {
    this.#cluster = cluster
    this.#bytes = bytes
  }

  forward(operation: Forwarded, then: () => void): void {
    this.#waiting.push({ operation, then })
    this.#pump()
  }

  #pump(): void {
    const { sim, costs } = this.#cluster
    while (this.#busy < THREADS && this.#waiting.length > 0) {
      const { operation, then } = this.#waiting.shift()
      this.#busy++
      const copyNs = this.#cluster.vary(this.#bytes / costs.forwardMBps)
      sim.at(this.#copy.take(sim.now, copyNs), () =>
        operation(() => {
          this.#busy--
          then()
          this.#pump()
        }),
      )
    }
  }
}

const keyOf = (policy: DlmPolicy, size: string, stripes: number): string => `${policy.name} ${size} ${stripes}`
const variants = SIZES.flatMap(({ name, bytes }) =>
  STRIPES.flatMap((stripes) =>
    POLICIES.map((policy) =>
      variant('vpic', keyOf(policy, name, stripes), (seed) => run(policy, stripes, bytes, seed)),
    ),
  ),
)
const setup = [
  '1,280 processes on 80 nodes, 16 servers; each process writes 8 variables of an iteration in sequence, every ' +
    'variable contiguous in the file. The processes of a node go through a daemon with 8 threads.',
  'Each process writes 4 times instead of 1,024 (256 KB) or 256 times (1 MB), and the dirty thresholds are scaled likewise. ' +
    'Ranks are placed round robin over the nodes; the header of the file makes data unaligned.',
]
type Look = (key: string) => WriteRun

const fig24 = experimentOf<WriteRun>({
  name: 'fig24',
  title: 'VPIC-IO: bandwidth',
  setup,
  variants,
  measure(look: Look) {
    const ratios = (size: string): number[] =>
      STRIPES.map((s) => bandwidth(look(keyOf(SEQDLM, size, s))) / bandwidth(look(keyOf(DLM_LUSTRE, size, s))))
    const small = ratios('256K')
    const large = ratios('1M')
    return {
      '256K.1': small[0]!,
      '256K.16': small[2]!,
      '1M.1': large[0]!,
      '1M.16': large[2]!,
      trend: Math.min(leastFall(small), leastFall(large), ...small, ...large),
      'size.1stripe': large[0]! / small[0]!,
    }
  },
  figures: (look) => barsOf('fig24', 'GB/s', look, bandwidth),
})

const fig25 = experimentOf<WriteRun>({
  name: 'fig25',
  title: 'VPIC-IO: total time',
  setup,
  variants,
  measure: (look) => ({
    total: Math.max(
      ...SIZES.flatMap(({ name }) =>
        STRIPES.map((s) => look(keyOf(SEQDLM, name, s)).totalS / look(keyOf(DLM_LUSTRE, name, s)).totalS),
      ),
    ),
  }),
  figures: (look) => [
    ...barsOf('fig25.pio', 's', look, ({ pioS }, bytes) => pioS * scaleOf(bytes)),
    ...barsOf('fig25.total', 's', look, ({ totalS }, bytes) => totalS * scaleOf(bytes)),
  ],
})

const barsOf = (id: string, unit: string, look: Look, value: (run: WriteRun, bytes: number) => number) =>
  SIZES.map(({ name, bytes }) => ({
    kind: 'bars' as const,
    id: `${id}.${name}`,
    title: `Writes of ${name}B, by stripes`,
    unit,
    series: POLICIES.map((policy) => policy.name),
    groups: STRIPES.map((s) => ({
      name: String(s),
      values: POLICIES.map((policy) => value(look(keyOf(policy, name, s)), bytes)),
    })),
  }))

export const vpicExperiments = [fig24, fig25]
