/** Host for the tests of this view: one run whose events the test sends, and its parts. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'
import type { ClaimResult, PaperClaim, PaperExperiment, PapersEvent, PapersResult } from '#core/api/papers.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

export const paperClaim = (more: Partial<PaperClaim> = {}): PaperClaim => ({
  id: 'adaptbf.IV-D.1',
  ref: 'IV-D3, Fig 4(a)',
  what: 'as fast as No BW',
  metric: 'ratio of aggregates',
  published: 'highest of the three',
  comparator: '>=',
  bound: 0.98,
  ...more,
})

export const claimResult = (more: Partial<ClaimResult> = {}): ClaimResult => ({
  ...paperClaim(),
  system: 'adaptbf',
  measured: 0.9989,
  range: [0.9986, 0.999],
  ok: true,
  failed_seeds: [],
  ...more,
})

export const experiment = (id: string, more: Partial<PaperExperiment> = {}): PaperExperiment => ({
  id: `adaptbf.${id}`,
  system: 'adaptbf',
  title: `Experiment ${id}`,
  parts: 3,
  setup: ['The model of all.', `The jobs of ${id}.`],
  claims: [paperClaim({ id: `adaptbf.${id}.1` })],
  ...more,
})

const lines = (jobs: number[], binS = 1) => ({
  binS,
  series: jobs.map((rate, i) => ({ name: `Job${i + 1}`, values: Array.from({ length: 20 }, () => rate) })),
})

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
  readonly asked: { experiment: string; seeds: number[] }[]
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
    asked: [],
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
        host.asked.push(input)
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
