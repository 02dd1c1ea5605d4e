/** Host for the tests of this view: one run whose events the test sends, and its parts. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'
import type {
  ClaimResult,
  PaperClaim,
  PaperExperiment,
  PaperFigure,
  PapersEvent,
  PapersResult,
} from '#core/api/papers.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

export const paperClaim = (more: Partial<PaperClaim> = {}): PaperClaim => ({
  id: 'adaptbf.IV-D.1',
  ref: 'IV-D3, Fig 4(a)',
  what: 'as fast as No BW',
  metric: 'ratio of aggregates',
  published: 'highest of the three',
  target: { is: '>=', than: 1 },
  tolerance: { size: 0.02, reason: 'Parity within the spread of repetitions.' },
  comparator: '>=',
  bound: 0.98,
  ...more,
})

export const claimResult = (more: Partial<ClaimResult> = {}): ClaimResult => ({
  ...paperClaim(),
  system: 'adaptbf',
  measured: 0.9989,
  verdict: 'reproduced',
  deviation: -0.0011,
  range: [0.9986, 0.999],
  ok: true,
  failed_seeds: [],
  ...more,
})

/** A claim of each outcome: reproduced, calibrated on, differs, contradicts the paper, not published. */
export const claimsOfEachVerdict = (): ClaimResult[] => [
  claimResult(),
  claimResult({
    id: 'adaptbf.IV-D.2',
    what: 'time of a write by one client',
    published: 5.6,
    target: { at: 5.6 },
    measured: 5.6,
    range: [5.6, 5.6],
    deviation: 0,
    verdict: 'calibrated',
    calibrates: 'rpcUs, the time of one RPC.',
  }),
  claimResult({
    id: 'adaptbf.IV-D.3',
    what: 'gain of Job1 over No BW',
    published: 20,
    target: { at: 20 },
    tolerance: { size: 0.1, isRelative: true, reason: 'A tenth, for a model without the spread of a testbed.' },
    measured: 25,
    range: [23.5, 26.25],
    deviation: 0.25,
    verdict: 'differs',
    note: 'The model has no cache.',
  }),
  claimResult({
    id: 'adaptbf.IV-D.4',
    what: 'end of the run',
    published: 78,
    target: { at: 78 },
    tolerance: { size: 1, reason: 'Printed as whole minutes.' },
    measured: 97,
    range: [97, 97],
    deviation: 19 / 78,
    verdict: 'contradicts',
    proof: 'The work of Table I takes 97 minutes at the published limit.',
  }),
  silentClaim(),
]

/** A claim on which the paper is silent. */
function silentClaim(): ClaimResult {
  const { target: _, tolerance: __, ...claim } = claimResult()
  return {
    ...claim,
    id: 'adaptbf.IV-D.5',
    what: 'tokens lent',
    published: null,
    deviation: null,
    measured: 12,
    range: [11, 13],
    verdict: null,
  }
}

export const experiment = (id: string, more: Partial<PaperExperiment> = {}): PaperExperiment => ({
  id: `adaptbf.${id}`,
  system: 'adaptbf',
  title: `Experiment ${id}`,
  parts: 3,
  setup: ['The model of all.', `The jobs of ${id}.`],
  claims: [paperClaim({ id: `adaptbf.${id}.1` })],
  fits: [],
  ...more,
})

const lines = (jobs: number[], binS = 1) => ({
  binS,
  series: jobs.map((rate, i) => ({ name: `Job${i + 1}`, values: Array.from({ length: 20 }, () => rate) })),
})

/** A constant that was fitted, with its prediction. */
export const fit: PaperExperiment['fits'][number] = {
  constant: 'rpcUs',
  value: '5.6 \u00B5s',
  fittedTo: 'Table III, one client',
  outOfSample: 'Figure 24 within 12 %',
}

/** Bars and a curve with published values. */
export const publishedFigures = (): PaperFigure[] => [
  {
    kind: 'bars',
    id: 'fig4a',
    title: 'Throughput',
    unit: 'MB/s',
    series: ['measured here', 'another'],
    groups: [
      { name: 'Job1', values: [100, 50], published: [120, null] },
      { name: 'Job2', values: [200, 60], published: [180, 60] },
    ],
  },
  {
    kind: 'curve',
    id: 'fig20',
    title: 'One file',
    unit: 'GB/s',
    across: 'write size, KB',
    isLog: true,
    series: [
      {
        name: 'SeqDLM',
        points: [
          [16, 1],
          [64, 3],
          [256, 9],
        ],
      },
    ],
    published: [
      {
        name: 'SeqDLM',
        points: [
          [16, 1.2],
          [256, 10],
        ],
      },
    ],
  },
]

export const papersResult = (more: Partial<PapersResult> = {}): PapersResult => ({
  kind: 'result',
  experiment: 'adaptbf.IV-D',
  seeds: [1, 2, 3],
  seconds: 1.7,
  claims: [claimResult()],
  figures: [
    ...(['No BW', 'Static BW', 'AdapTBF'] as const).map((title, i) => ({
      kind: 'timeline' as const,
      id: `fig3.${i}`,
      title,
      unit: 'RPC/s',
      endS: i === 1 ? 60 : 20,
      ...lines([100, 200]),
      whole: lines([100, 200], 3),
    })),
    {
      kind: 'bars',
      id: 'fig4b',
      title: 'Gain of AdapTBF',
      unit: '%',
      series: ['over No BW', 'over Static BW'],
      groups: [{ name: 'Job1', values: [-16.4, 557.9] }],
    },
  ],
  ...more,
})

export const progress = (done: number, of: number): PapersEvent => ({
  kind: 'progress',
  done,
  of,
  fraction: done / of,
  part: 'adaptbf/IV-D/static',
  seed: 2,
})

export interface PapersHost {
  /** Requested runs. */
  readonly runs: { experiment: string; seeds: number[] }[]
  /** Runs canceled because the window stopped consuming them. */
  cancelled: number
  send(event: PapersEvent): void
  /** Refuses the next run with this. */
  refuse: Notice | null
  /** Breaks the stream of the current run, like a lost connection. */
  breakOff(error: Error): void
}

/** Opens a connection to a new host. */
export function openPapersHost(experiments: readonly PaperExperiment[]): PapersHost {
  let events: ReadableStreamDefaultController<PapersEvent> | undefined
  const host: PapersHost = {
    runs: [],
    cancelled: 0,
    refuse: null,
    send: (event) => {
      events?.enqueue(event)
      if (event.kind !== 'progress') events?.close()
    },
    breakOff: (error) => events?.error(error),
  }
  const api = {
    papers: {
      list: async () => ({ experiments }),
      run: async (input: { experiment: string; seeds: number[] }, { signal }: { signal: AbortSignal }) => {
        if (host.refuse !== null) {
          throw new ORPCError('REFUSED', { defined: true, message: host.refuse.what, data: host.refuse })
        }
        host.runs.push(input)
        const stream = new ReadableStream<PapersEvent>({ start: (controller) => void (events = controller) })
        signal.addEventListener('abort', () => {
          host.cancelled++
          events?.error(signal.reason)
        })
        return stream.values()
      },
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
