/** Frames, answers and host for the tests of this view: four jobs on two nodes under a limit of 110 k op/s. */
import type { MetadataFrame, PadllChange, PadllPlane, PoliciesCheck, PolicyStep } from '#core/api/padll.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { readLines } from '#renderer/views/metadata/policies/policy-lines.ts'

export const NOW_MS = Date.UTC(2026, 10, 19, 14, 32, 7)
export const TEXT = `# the day shift
1 0 job train.py meta_op 62000
2 60 job bwa meta_op 34000
3 100 demand wrf.exe meta_op 24000
4 150 job ghost meta_op 40000
5 622 job train.py meta_op 30000
`
const POINTS = 60

interface Job {
  readonly id: string
  readonly colour: number
  readonly asked: number
  readonly allocated: number
  readonly measured: number
}
export const JOBS: readonly Job[] = [
  { id: 'train.py', colour: 5, asked: 59_900, allocated: 37_200, measured: 37_100 },
  { id: 'cfd_solve', colour: 1, asked: 40_000, allocated: 37_200, measured: 37_100 },
  { id: 'bwa', colour: 2, asked: 33_800, allocated: 34_200, measured: 33_600 },
  { id: 'wrf.exe', colour: 3, asked: 800, allocated: 1400, measured: 800 },
]

export function jobsOf(list: readonly Job[]): MetadataFrame['jobs'] {
  const flat = (v: number): number[] => Array.from({ length: POINTS }, (_, i) => v * (0.9 + 0.1 * Math.sin(i / 5)))
  const all = <T>(of: (job: Job) => T): T[] => list.map(of)
  return {
    jobId: all((j) => j.id),
    colour: all((j) => j.colour),
    stages: all(() => 4),
    demandPolicy: all(() => null),
    limitPolicy: all((j) => j.allocated),
    asked: all((j) => j.asked),
    allocated: all((j) => j.allocated),
    measured: all((j) => j.measured),
    queued: all((j) => (j.asked > j.measured ? 1204 : 0)),
    throttledS: all(() => 3.2),
    askedSeries: all((j) => flat(j.asked)),
    allocatedSeries: all((j) => flat(j.allocated)),
    measuredSeries: all((j) => flat(j.measured)),
  }
}

interface Node {
  readonly key: string
  readonly kind: MetadataFrame['tree']['kind'][number]
  readonly name: string
  readonly jobId?: string
  readonly level?: MetadataFrame['tree']['level'][number]
  readonly why?: string
  readonly more?: number
}
const depths = { global: 0, local: 1, stage: 2 } as const

export function treeOf(nodes: readonly Node[]): MetadataFrame['tree'] {
  return {
    key: nodes.map((n) => n.key),
    kind: nodes.map((n) => n.kind),
    depth: nodes.map((n) => depths[n.kind]),
    name: nodes.map((n) => n.name),
    jobId: nodes.map((n) => n.jobId ?? ''),
    colour: nodes.map((n) => JOBS.find((j) => j.id === n.jobId)?.colour ?? 0),
    measured: nodes.map(() => 9300),
    limit: nodes.map(() => 9400),
    level: nodes.map((n) => n.level ?? 'ok'),
    why: nodes.map((n) => n.why ?? ''),
    more: nodes.map((n) => n.more ?? 0),
  }
}
const stage = (local: string, job: string, i: number, more: Partial<Node> = {}): Node => ({
  key: `${local}/${job}${i}`,
  kind: 'stage',
  name: `${job} \u00B7 ${i}`,
  jobId: job,
  ...more,
})
export const NODES: readonly Node[] = [
  { key: 'global', kind: 'global', name: 'ctl-0' },
  { key: 'a', kind: 'local', name: 'local-a' },
  stage('a', 'train.py', 0, { level: 'watch', why: 'at its limit' }),
  stage('a', 'train.py', 1, { level: 'watch', why: 'at its limit' }),
  stage('a', 'bwa', 0),
  { key: 'b', kind: 'local', name: 'local-b', more: 988, level: 'bad', why: 'silent for 4 s' },
  stage('b', 'cfd_solve', 0),
  stage('b', 'wrf.exe', 0, { level: 'idle', why: 'idle' }),
]

export const step = (patch: Partial<PolicyStep> = {}): PolicyStep => ({
  line: 2,
  rule: 1,
  atS: 0,
  kind: 'job',
  job: 'train.py',
  scope: 'meta_op',
  value: 62_000,
  state: 'active',
  ...patch,
})

export function metadataFrame(patch: Partial<MetadataFrame> = {}): MetadataFrame {
  const t = Array.from({ length: POINTS }, (_, i) => NOW_MS - (POINTS - 1 - i) * 5000)
  return {
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    windowMs: 300_000,
    planes: ['stages', 'mds'],
    plane: 'stages',
    scopes: ['meta_op', 'open'],
    scope: 'meta_op',
    limit: 110_000,
    controller: {
      name: 'ctl-0',
      host: 'mgs01',
      epoch: 3,
      algorithm: 'psfa',
      epsilon: 0.25,
      split: 'equal',
      intervalMs: 1000,
      collectRounds: 5,
      cycleMs: 4.2,
      seenMs: NOW_MS,
      lease: 'After 10 s without their controller, stages hold their last rates.',
    },
    tree: treeOf(NODES),
    jobs: jobsOf(JOBS),
    t,
    asked: t.map(() => 134_500),
    falseAllocation: t.map((_, i) => (i > 30 ? 3200 : 0)),
    limits: t.map(() => 110_000),
    marks: [{ atMs: t[20] as number, kind: 'join', text: 'bwa joins', level: 'ok' }],
    channels: {
      of: 'train.py, 4 stages',
      key: ['c0', 'c1'],
      channel: ['1000', '1001'],
      scope: ['open', 'meta_op'],
      operations: ['open, creat', 'all metadata calls'],
      asked: [18_900, 120],
      limit: [12_400, null],
      measured: [12_380, 120],
      waited: [0.34, 0],
      waitMs: [4.5, null],
      queued: [7, 0],
      refillMs: [10, 10],
      spark: [
        [1, 2],
        [1, null],
      ],
    },
    policies: {
      text: TEXT,
      steps: [
        step({ state: 'replaced' }),
        step({ line: 3, rule: 2, atS: 60, job: 'bwa', value: 34_000 }),
        step({ line: 4, rule: 3, atS: 100, kind: 'demand', job: 'wrf.exe', value: 24_000 }),
        step({ line: 5, rule: 4, atS: 150, job: 'ghost', value: 40_000, state: 'unknown-job' }),
        step({ line: 6, rule: 5, atS: 622, value: 30_000, state: 'waiting' }),
      ],
      nextInS: 102,
      startedMs: NOW_MS - 520_000,
    },
    unexpressed: [],
    compiled: [],
    notices: [],
    ...patch,
  }
}

/** Source without any plane. */
export const noPlane = (): MetadataFrame =>
  metadataFrame({ planes: [], plane: null, tree: treeOf([]), jobs: jobsOf([]), t: [], limit: null, scopes: [] })

/** Simplified checks for the tests: `meta_opp` is not a scope, `?` is not filled in, YAML is one policy. */
export function checkOf(text: string, inForce: string): PoliciesCheck {
  const isYaml = text.startsWith('policies:')
  const lines = isYaml ? '1 0 job train.py meta_op 5000\n' : text
  const faults = text.split('\n').flatMap((line, i) =>
    [...line.matchAll(/meta_opp|\?/g)].map((m) => ({
      line: i + 1,
      column: m.index + 1,
      length: m[0].length,
      severity: 'error' as const,
      message: m[0] === '?' ? 'expected a number' : 'unknown scope "meta_opp", nearest is meta_op',
    })),
  )
  const now = lines.split('\n')
  const before = inForce.split('\n')
  return {
    faults,
    steps: readLines(lines).map(({ line }) => step({ line })),
    lines,
    diff: [
      ...before.map((l) => ({ op: now.includes(l) ? ('keep' as const) : ('del' as const), text: l })),
      ...now.filter((l) => !before.includes(l)).map((l) => ({ op: 'add' as const, text: l })),
    ],
    commands: [`printf %s '${lines}' | sluice padll policies set --epoch 3`],
    remarks: [{ level: 'watch', text: 'Demands come to 160 000 op/s, the system limit is 110 000.' }],
    planId: faults.length > 0 ? '' : `plan ${text.length}`,
  }
}

export interface MetadataHost {
  /** Modifying verbs, and the queries of the stream. */
  readonly calls: { verb: string; input: unknown }[]
  readonly queries: { plane: PadllPlane | null; scope: string; selected: string; filter?: string }[]
  frame: MetadataFrame
  /** Frames that have reached the page. */
  acks: number
  /** Thrown by `change` and `apply` while it is set. */
  refuses: Error | null
}

/** Opens a connection to a new host. */
export function openMetadataHost(frame: MetadataFrame = metadataFrame()): MetadataHost {
  const host: MetadataHost = { calls: [], queries: [], frame, acks: 0, refuses: null }
  const take = async (verb: string, input: unknown): Promise<void> => {
    host.calls.push({ verb, input })
    if (host.refuses !== null) throw host.refuses
  }
  const api = {
    host: { ack: async () => void host.acks++ },
    views: {
      metadata: async (query: MetadataHost['queries'][number], { signal }: { signal: AbortSignal }) => {
        host.queries.push(query)
        return (async function* () {
          yield host.frame
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        })()
      },
    },
    padll: {
      change: (input: PadllChange) => take('change', input),
      check: async ({ text }: { text: string }) => checkOf(text, host.frame.policies.text),
      apply: (input: unknown) => take('apply', input),
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
