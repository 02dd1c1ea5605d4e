/** V-E, Fig. 24 and 25: VPIC-IO through IO-forwarding daemons. */
import { DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { distinct } from '../experiment.ts'
import { experimentOf, largestStep, leastFall, leastRise, SEED, seedless, type Variant } from './expectations.ts'
import { VPIC_FITS } from './fits.ts'
import { MIB, scaledLimits } from './ior.ts'
import { Fifo, Line } from '../../seqdlm/model/pipe.ts'
import { bandwidth, timed, type WriteRun } from './writers.ts'

const NODES = 80
const PROCESSES = 16
const THREADS = 8
const SERVERS = 16
const FULL_BYTES = 256 * MIB
/** Size of the HDF5 header: data are not page-aligned. */
const HEADER_BYTES = 2048
const STRIPES = [1, 4, 16]
/** Write sizes, and by stripes the writes of each process in runs that grow; the last ones are judged. */
const SIZES = [
  {
    name: '256K',
    bytes: 256 * 1024,
    writes: new Map([
      [1, [2, 4]],
      [4, [2, 4]],
      [16, [4, 8, 16]],
    ]),
  },
  {
    name: '1M',
    bytes: MIB,
    writes: new Map([
      [1, [2, 4]],
      [4, [2, 4]],
      [16, [16, 32]],
    ]),
  },
] as const
type Size = (typeof SIZES)[number]
const [SMALL, LARGE] = SIZES
/** Stripes and writes of each process in the comparison with Lustre. */
const LUSTRE_STRIPES = 16
const LUSTRE_WRITES = 8

/** System of one line of the figures. */
interface System {
  readonly name: string
  readonly policy: DlmPolicy
  /** Processes write through the IO-forwarding daemon of their node. */
  readonly isForwarded: boolean
  /** Dirty data of a node above which writers block. */
  readonly maxDirtyBytes: number
}
const SEQ: System = { name: 'ccPFS-S', policy: SEQDLM, isForwarded: true, maxDirtyBytes: 4096 * MIB }
const LUSTRE_LOCKS: System = { ...SEQ, name: 'ccPFS-L', policy: DLM_LUSTRE }
const LUSTRE_IOF: System = { ...LUSTRE_LOCKS, name: 'Lustre-IOF', maxDirtyBytes: 2048 * MIB }
const LUSTRE: System = { ...LUSTRE_IOF, name: 'Lustre', isForwarded: false }
const CCPFS = [SEQ, LUSTRE_LOCKS]
const LINES = [LUSTRE_LOCKS, LUSTRE_IOF, LUSTRE]

const writesOf = (size: Size, stripes: number): readonly number[] => size.writes.get(stripes)!
const judgedWrites = (size: Size, stripes: number): number => writesOf(size, stripes).at(-1)!
/** Factor by which the file and the dirty thresholds are smaller than in the paper. */
const scaleOf = (size: Size, writes: number): number => FULL_BYTES / size.bytes / writes

function run(system: System, stripes: number, size: Size, writes: number): WriteRun {
  const { policy, isForwarded, maxDirtyBytes } = system
  const { bytes } = size
  const scale = scaleOf(size, writes)
  const limits = { ...scaledLimits(scale), maxDirtyBytes: maxDirtyBytes / scale }
  const cluster = new Cluster({ policy, clients: NODES, servers: SERVERS, seed: SEED, pages: 'cold', limits })
  const file = { base: 0, stripes, stripeSize: MIB }
  const processes = NODES * PROCESSES
  return timed(cluster, file, processes * writes, processes * writes * bytes, (node, ended) => {
    const daemon = new Daemon(cluster, bytes)
    let unfinished = PROCESSES
    for (let p = 0; p < PROCESSES; p++) {
      // Ranks are placed round robin over the nodes, as MPICH does without counts.
      const rank = p * NODES + node
      let write = 0
      const next = (): void => {
        if (write === writes) {
          if (--unfinished === 0) ended()
          return
        }
        const offset = HEADER_BYTES + (write++ * processes + rank) * bytes
        const operation = (done: () => void): void => cluster.clients[node]!.write(file, offset, bytes, {}, done)
        if (isForwarded) daemon.forward(operation, next)
        else operation(next)
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

const keyOf = (system: System, size: Size, stripes: number, writes = judgedWrites(size, stripes)): string =>
  `${system.name} ${size.name} ${stripes} x ${writes}`
const vpic = (system: System, size: Size, stripes: number, writes: number): Variant<WriteRun> =>
  seedless('vpic', keyOf(system, size, stripes, writes), () => run(system, stripes, size, writes))

const cases = SIZES.flatMap((size) => STRIPES.map((stripes) => ({ size, stripes })))
const judged = cases.flatMap(({ size, stripes }) =>
  CCPFS.map((system) => vpic(system, size, stripes, judgedWrites(size, stripes))),
)
const growing = cases.flatMap(({ size, stripes }) =>
  writesOf(size, stripes)
    .slice(0, -1)
    .flatMap((writes) => CCPFS.map((system) => vpic(system, size, stripes, writes))),
)
const lustre = SIZES.flatMap((size) => LINES.map((system) => vpic(system, size, LUSTRE_STRIPES, LUSTRE_WRITES)))
const setup = [
  '1,280 processes on 80 nodes, 16 servers; each process writes 8 variables of an iteration in sequence, every ' +
    'variable contiguous in the file. The processes of a node go through a daemon with 8 threads.',
  'Each process writes 4 times on 1 and 4 stripes, 16 (256 KB) or 32 times (1 MB) on 16, instead of 1,024 (256 KB) or 256 times ' +
    '(1 MB); dirty thresholds are scaled likewise. Half of that changes the gain by less than 5 %. On seed 1 alone. ' +
    'Ranks are placed round robin over the nodes; the header of the file makes data unaligned.',
]
type Look = (key: string) => WriteRun

const rateOf = (look: Look, system: System, size: Size, stripes: number, writes?: number): number =>
  bandwidth(look(keyOf(system, size, stripes, writes)))
const gain = (look: Look, size: Size, stripes: number, writes?: number): number =>
  rateOf(look, SEQ, size, stripes, writes) / rateOf(look, LUSTRE_LOCKS, size, stripes, writes)
/** Bandwidth in the comparison with Lustre. */
const ofLustre = (look: Look, system: System, size: Size): number =>
  rateOf(look, system, size, LUSTRE_STRIPES, LUSTRE_WRITES)
/** Gains of runs that grow. */
const gains = (look: Look, size: Size, stripes: number): number[] =>
  writesOf(size, stripes).map((writes) => gain(look, size, stripes, writes))

/** Published gains of SeqDLM over DLM-Lustre, by write size. */
const PUBLISHED: Readonly<Record<Size['name'], readonly (readonly [stripes: number, gain: number])[]>> = {
  '256K': [
    [1, 6.2],
    [16, 1.5],
  ],
  '1M': [
    [1, 34.8],
    [16, 8.8],
  ],
}

const fig24 = experimentOf<WriteRun>({
  name: 'fig24',
  title: 'VPIC-IO: bandwidth',
  setup: [
    ...setup,
    'Lustre-IOF and Lustre are DLM-Lustre with at most 2 GB of dirty data a node, with and without the daemon, on 16 stripes with 8 writes a process. ' +
      'What Lustre lacks besides is the registered memory pool. The paper gives no cost of that, so these lines are upper bounds, and ' +
      'that DLM-Lustre is faster in ccPFS than in Lustre at 256 KB is not judged.',
  ],
  fits: VPIC_FITS,
  // The comparison with Lustre repeats one of the runs that grow.
  variants: distinct([...growing, ...judged, ...lustre]),
  measure(look: Look) {
    const ratios = (size: Size): number[] => STRIPES.map((stripes) => gain(look, size, stripes))
    const small = ratios(SMALL)
    const large = ratios(LARGE)
    const over = (one: System, other: System, size: Size): number =>
      ofLustre(look, one, size) / ofLustre(look, other, size)
    return {
      '256K.1': small[0]!,
      '256K.16': small[2]!,
      '1M.1': large[0]!,
      '1M.16': large[2]!,
      trend: Math.min(leastFall(small), leastFall(large), ...small, ...large),
      'size.1stripe': large[0]! / small[0]!,
      stripes: Math.min(
        ...SIZES.flatMap((size) =>
          CCPFS.map((system) => leastRise(STRIPES.map((stripes) => rateOf(look, system, size, stripes)))),
        ),
      ),
      iof: over(LUSTRE_IOF, LUSTRE, SMALL),
      'lustre.1M': over(LUSTRE_LOCKS, LUSTRE, LARGE),
      converged: Math.max(...cases.map(({ size, stripes }) => largestStep(gains(look, size, stripes).slice(-2)))),
    }
  },
  figures: (look) => [
    ...SIZES.map((size) => ({
      kind: 'bars' as const,
      id: `fig24.${size.name}`,
      title: `Writes of ${size.name}B, by stripes`,
      unit: 'GB/s',
      series: CCPFS.map(({ name }) => name),
      groups: STRIPES.map((stripes) => ({
        name: String(stripes),
        values: CCPFS.map((system) => rateOf(look, system, size, stripes)),
      })),
    })),
    ...SIZES.map((size) => ({
      kind: 'curve' as const,
      id: `fig24.gain.${size.name}`,
      title: `Gain over DLM-Lustre, writes of ${size.name}B`,
      unit: 'ratio',
      across: 'stripes',
      isLog: true as const,
      series: [
        {
          name: 'SeqDLM over DLM-Lustre',
          points: STRIPES.map((stripes) => [stripes, gain(look, size, stripes)] as const),
        },
      ],
      published: [{ name: 'paper', points: PUBLISHED[size.name] }],
    })),
    {
      kind: 'curve',
      id: 'fig24.writes',
      title: 'Gain over DLM-Lustre by the length of the run',
      unit: 'ratio',
      across: 'writes per process',
      isLog: true,
      series: cases.map(({ size, stripes }) => ({
        name: `${size.name}B, ${stripes} stripe${stripes === 1 ? '' : 's'}`,
        points: writesOf(size, stripes).map((writes) => [writes, gain(look, size, stripes, writes)] as const),
      })),
    },
    {
      kind: 'bars',
      id: 'fig24.lustre',
      title: 'DLM-Lustre in ccPFS and Lustre, 16 stripes',
      unit: 'GB/s',
      series: LINES.map(({ name }) => name),
      groups: SIZES.map((size) => ({
        name: `${size.name}B`,
        values: LINES.map((system) => ofLustre(look, system, size)),
      })),
    },
  ],
})

const fig25 = experimentOf<WriteRun>({
  name: 'fig25',
  title: 'VPIC-IO: total time',
  setup: [
    ...setup,
    'Times are multiplied to those of all writes. The text of the paper gives none of the times in the figure.',
  ],
  fits: VPIC_FITS,
  variants: judged,
  measure: (look) => ({
    total: Math.max(
      ...cases.map(
        ({ size, stripes }) => look(keyOf(SEQ, size, stripes)).totalS / look(keyOf(LUSTRE_LOCKS, size, stripes)).totalS,
      ),
    ),
  }),
  figures: (look) =>
    SIZES.map((size) => ({
      kind: 'curve',
      id: `fig25.${size.name}`,
      title: `Writes of ${size.name}B: PIO and total time`,
      unit: 's',
      across: 'stripes',
      isLog: true,
      series: CCPFS.flatMap((system) =>
        (['pioS', 'totalS'] as const).map((time) => ({
          name: `${system.name}, ${time === 'pioS' ? 'PIO' : 'total'}`,
          points: STRIPES.map(
            (stripes) =>
              [stripes, look(keyOf(system, size, stripes))[time] * scaleOf(size, judgedWrites(size, stripes))] as const,
          ),
        })),
      ),
    })),
})

export const vpicExperiments = [fig24, fig25]
