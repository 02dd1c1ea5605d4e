/** Host for the tests of this view: scenarios, forks, one run whose events the test sends, and their parts. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'
import {
  METRICS,
  type Band,
  type CalibrateEvent,
  type Calibration,
  type ForkInput,
  type GalleryEntry,
  type RunEvent,
  type RunInput,
  type RunResult,
  type ScenarioCheck,
  type Topology,
  type Variant,
  type VariantResult,
} from '#core/api/sandbox.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { PLAIN } from '#renderer/stores/sandbox-variants.ts'

export const variantOf = (name: string, more: Partial<Variant> = {}): Variant => ({ ...PLAIN, name, ...more })

export const sampleVariants: Variant[] = [
  variantOf('Baseline'),
  variantOf('Static cap', { rules: [{ service: 'ost_io', line: 'start cap jobid={4690.*} rate=400' }], onS: 15 }),
  variantOf('AdapTBF', { controller: 'adaptbf', periodMs: 10_000, onS: 15 }),
  variantOf('Metadata cap', { metadata: 'psfa', onS: 15 }),
]

const topology: Topology = {
  clients: 8,
  servers: [
    {
      name: 'oss01',
      kind: 'oss',
      version: '2.15.4',
      policy: 'tbf jobid',
      cpts: 2,
      threads: 32,
      targets: [0, 1].map((i) => ({ name: `altair-OST000${i}`, detail: '3 200 MB/s', jobs: 3 - i })),
    },
    {
      name: 'mds01',
      kind: 'mds',
      version: '2.15.4',
      policy: 'fifo',
      cpts: 2,
      threads: 16,
      targets: [{ name: 'altair-MDT0000', detail: '220 us each', jobs: 1 }],
    },
  ],
  jobs: [
    ['4690.python.u1021', ['altair-OST0000', 'altair-OST0001']] as const,
    ['4711.cfd_solve.u884', ['altair-OST0000']] as const,
    ['4655.vasp_std.u340', ['altair-OST0000', 'altair-MDT0000']] as const,
  ].map(([jobId, targets], i) => ({
    jobId,
    colour: i + 1,
    clients: 2,
    detail: 'writes 1 MiB',
    targets: [...targets],
    processes: 16,
  })),
  moreJobs: 0,
}

export const scenarioCheck = (more: Partial<ScenarioCheck> = {}): ScenarioCheck => ({
  faults: [],
  title: 'altair',
  topology,
  counts: { jobs: 412, osts: 48, mdts: 1, cpts: 4 },
  suggested: sampleVariants,
  knowledge: [
    { level: 'unknown', text: 'Client page caches. A capped writer may look idle for up to 30 s.' },
    { level: 'watch', text: 'Disk service times are a fit of the last 60 s: error 6 % on OST0005, 11 % elsewhere.' },
    { level: 'unknown', text: 'Jobs that start or end after 14:31:30.' },
    { level: 'ok', text: 'In range: rates, CPT count, queue depth, RPC sizes.' },
  ],
  ...more,
})

const around = (median: number, spread = 0.03): Band => ({
  median,
  low: median * (1 - spread),
  high: median * (1 + spread),
})
const named: readonly [id: string, role: 'hog' | 'victim' | '', colour: number, waits: readonly number[]][] = [
  ['4690.python.u1021', 'hog', 5, [388, 1240, 1490, 402]],
  ['4711.cfd_solve.u884', 'victim', 1, [2100, 420, 300, 1840]],
  ['4655.vasp_std.u340', '', 3, [910, 330, 262, 842]],
  ['4633.wrf.exe.u512', '', 6, [1180, 360, 281, 1010]],
  ['4702.train.py.u1021', '', 4, [640, 290, 244, 560]],
  ['4688.nek5000.u884', '', 2, [720, 310, 258, 668]],
]
/** Throughput, Jain, p95, p99, starved, misses, utilisation of the four variants. */
const figures: readonly (readonly number[])[] = [
  [26.1e9, 0.41, 2100, 3940, 38, 14, 0.94],
  [23.8e9, 0.83, 420, 910, 2, 1, 0.88],
  [25.3e9, 0.94, 300, 640, 0, 0, 0.93],
  [25.7e9, 0.46, 1840, 3510, 31, 11, 0.94],
]
const levels: readonly (readonly [victim: number, other: number, hog: number])[] = [
  [3.1e9, 12.4e9, 10.6e9],
  [5.6e9, 13.2e9, 5e9],
  [7.4e9, 13.9e9, 4e9],
  [3.5e9, 12.6e9, 9.6e9],
]
const POINTS = 120

/** @param jobs  of the result, named ones first. */
function variantResult(at: number, jobs: number): VariantResult {
  const f = figures[at % 4]!
  const level = levels[at % 4]!
  const t = Array.from({ length: POINTS }, (_, i) => (i + 0.5) / 2)
  const wave = (base: number, then: number, phase: number): number[] =>
    t.map(
      (s, i) =>
        (s < 15 ? base : base + (then - base) * Math.min(1, (s - 15) / 3)) *
        (1 + 0.04 * Math.sin(i * 0.9 + phase) + 0.03 * Math.sin(i * 2.3 + phase * 2)),
    )
  const ofJob = <T>(make: (i: number) => T): T[] => Array.from({ length: jobs }, (_, i) => make(i))
  const wait = (i: number): number => named[i]?.[3][at % 4] ?? [540, 282, 240, 498][at % 4]! + (i % 37)
  const values = Object.fromEntries(
    METRICS.map((m, i) => [m, around(m === 'throughputRpcs' ? f[0]! / 1e6 : f[i > 0 ? i - 1 : 0]!)]),
  ) as Record<(typeof METRICS)[number], Band>
  return {
    name: sampleVariants[at]?.name ?? `Variant ${at}`,
    detail: [
      'no controller',
      '400 RPC/s, jobid={4690.*}, 30 min',
      'lends and borrows tokens per OST, period 10 s',
      'PADLL PSFA, 4690 getattr 8 k op/s',
    ][at % 4]!,
    metrics: values,
    chart: {
      t,
      series: [
        { jobId: '4711.cfd_solve.u884', colour: 1, values: wave(3.1e9, level[0], at) },
        { jobId: '', colour: 0, values: wave(12.4e9, level[1], at + 1) },
        { jobId: '4690.python.u1021', colour: 5, values: wave(10.6e9, level[2], at + 2) },
      ],
      onS: at === 0 ? null : 15,
    },
    jobs: {
      waitP95Ms: ofJob((i) => around(wait(i), 0.04)),
      waitP99Ms: ofJob((i) => around(wait(i) * 1.9, 0.05)),
      rpcs: ofJob((i) => around(1e4 / (i + 1))),
      bps: ofJob((i) => around((i === 0 ? level[2] : i === 1 ? level[0] : 1e9 / i) * 1)),
      record: ofJob((i) => (at === 2 ? around(i === 0 ? -1200 : 300) : null)),
      starvedS: ofJob(() => around(0)),
    },
    planes: [],
    remarks: [],
  }
}

export function runResult(more: Partial<RunResult> = {}, jobs = 412, variants = 4): RunResult {
  const ids = Array.from({ length: jobs }, (_, i) => named[i]?.[0] ?? `${5000 + i}.solver.u${i % 40}`)
  return {
    id: 'r1',
    title: 'altair',
    seconds: 60,
    seeds: Array.from({ length: 20 }, (_, i) => i + 1),
    sloWaitMs: 500,
    jobs: {
      jobId: ids,
      user: ids.map((_, i) => `u${i % 40}`),
      nodes: ids.map(() => 4),
      colour: ids.map((_, i) => named[i]?.[2] ?? 0),
      role: ids.map((_, i) => named[i]?.[1] ?? ''),
    },
    variants: Array.from({ length: variants }, (_, at) => variantResult(at, jobs)),
    verdict: {
      best: 2,
      parts: [
        'Victim ',
        '*4711',
        ' p95 wait ',
        '*2.1 s \u2192 0.3 s',
        '; hog ',
        '*4690',
        ' ',
        '*\u221262 %',
        ' throughput; total ',
        '*\u22123 %',
        '.',
      ].map((text) => ({ text: text.replace('*', ''), strong: text.startsWith('*') })),
      detail: '20 seeds, band \u00B14 %. B beats A on fairness in 20 of 20 runs and on total throughput in 19.',
    },
    cost: { runs: 80, workers: 2, wallS: 3.1, ratio: 1548, events: 2e7, thinning: 1 },
    knowledge: scenarioCheck().knowledge,
    ...more,
  }
}

export const sampleCalibration = (more: Partial<Calibration> = {}): Calibration => ({
  cluster: 'altair',
  span: { fromMs: 1_763_600_000_000, toMs: 1_763_600_600_000 },
  workload: 'closed',
  seeds: 5,
  errors: [
    { what: 'RPC/s', unit: 'RPC/s', recorded: 1840, predicted: 1770, error: 0.06 },
    { what: 'Wait p95', unit: 'ms', recorded: 310, predicted: 402, error: 0.29 },
  ],
  targets: {
    name: ['altair-OST0000', 'altair-OST0001'],
    recorded: [480, 470],
    predicted: [470, 440],
    error: [0.04, 0.11],
  },
  jobs: {
    jobId: ['4690.python.u1021', '4711.cfd_solve.u884'],
    recorded: [900, 90],
    predicted: [880, 110],
    error: [0.03, 0.22],
  },
  chart: {
    t: Array.from({ length: 60 }, (_, i) => i * 10),
    recorded: Array.from({ length: 60 }, (_, i) => (i > 20 && i < 26 ? null : 1800 + 160 * Math.sin(i / 4))),
    predicted: Array.from({ length: 60 }, (_, i) => 1760 + 120 * Math.sin(i / 4 + 0.2)),
  },
  sentence: 'RPC/s within 6 % of what was recorded, on OST0001 within 11 %.',
  isInRange: true,
  knowledge: [],
  ...more,
})

export const progress = (done: number, of: number): RunEvent => ({
  kind: 'progress',
  done,
  of,
  workers: 2,
  ratio: 1200,
  memoryBytes: 4e8,
})

export interface SandboxHost {
  readonly forks: ForkInput[]
  readonly runs: RunInput[]
  readonly staged: { variant: Variant; verdict: string }[]
  readonly saved: { name: string; text: string; replace: boolean }[]
  readonly checks: string[]
  /** Runs canceled because the window stopped consuming them. */
  cancelled: number
  gallery: GalleryEntry[]
  check: ScenarioCheck
  calibration: Calibration
  /** If set, calibration pauses after its first seed. */
  holdsCalibration: boolean
  options: { label: string; detail: string; apply: string }[]
  /** Refuses the next refusable verb with this. */
  refuse: Notice | null
  send(event: RunEvent): void
  /** Breaks the stream of the current run, like a lost connection. */
  breakOff(error: Error): void
  /** Scenarios played live. */
  readonly played: string[]
  readonly api: unknown
}
export const sampleText = 'title: altair\ncluster: altair\nclients:\n  count: 8\n'

/** Opens a connection to a new host. */
export function openSandboxHost(): SandboxHost {
  let events: ReadableStreamDefaultController<RunEvent> | undefined
  const willing = (): void => {
    const data = host.refuse
    host.refuse = null
    if (data !== null) throw new ORPCError('REFUSED', { defined: true, message: data.what, data })
  }
  const sandbox = {
    gallery: async () => ({ entries: host.gallery }),
    open: async () => (willing(), { text: sampleText, check: host.check }),
    check: async ({ text }: { text: string }) => (host.checks.push(text), host.check),
    complete: async () => ({ fromColumn: 1, options: host.options }),
    fork: async (input: ForkInput) => {
      willing()
      host.forks.push(input)
      return { text: sampleText, check: host.check, cluster: 'altair', atMs: input.atMs ?? 1_763_649_090_000 }
    },
    run: async (input: RunInput, { signal }: { signal: AbortSignal }) => {
      willing()
      host.runs.push(input)
      const stream = new ReadableStream<RunEvent>({ start: (controller) => void (events = controller) })
      signal.addEventListener('abort', () => {
        host.cancelled++
        events?.error(signal.reason)
      })
      return stream.values()
    },
    calibrate: async () => {
      willing()
      return (async function* (): AsyncGenerator<CalibrateEvent> {
        yield { kind: 'progress', done: 1, of: 5 }
        if (host.holdsCalibration) await new Promise<void>(() => undefined)
        yield { kind: 'result', calibration: host.calibration }
      })()
    },
    stage: async (input: { variant: Variant; verdict: string }) => {
      willing()
      host.staged.push(input)
      return { staged: input.variant.rules.length, text: 'The settings are AdapTBF\u2019s now.' }
    },
    save: async (input: { name: string; text: string; replace: boolean }) => {
      willing()
      host.saved.push(input)
      host.gallery = [...host.gallery, { id: input.name, title: input.name, about: '', own: true }]
      return { id: input.name }
    },
    remove: async ({ id }: { id: string }) => {
      host.gallery = host.gallery.filter((entry) => entry.id !== id)
    },
    export: async ({ format }: { format: string }) => (willing(), { name: `comparison.${format}`, text: 'a,b\n' }),
  }
  const host: SandboxHost = {
    forks: [],
    runs: [],
    staged: [],
    saved: [],
    checks: [],
    cancelled: 0,
    refuse: null,
    options: [],
    gallery: [
      { id: 'noisy', title: 'Noisy neighbor', about: 'One hog beside many small jobs on four OSTs.', own: false },
      { id: 'mine', title: 'Monday 03:00', about: 'Saved from a fork.', own: true },
    ],
    check: scenarioCheck(),
    calibration: sampleCalibration(),
    holdsCalibration: false,
    send: (event) => {
      events?.enqueue(event)
      if (event.kind !== 'progress') events?.close()
    },
    breakOff: (error) => events?.error(error),
    played: [],
    api: {
      sandbox,
      clusters: { play: async (of: { scenario: string }) => (willing(), void host.played.push(of.scenario)) },
    },
  }
  useConnectionStore().opened({ api: host.api as Client })
  return host
}
