/**
 * Scenario files: a cluster, its jobs and how it is controlled, in YAML.
 *
 * Units stand in the names. Unknown keys are errors, so that a misspelt one is never silently ignored.
 */
import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import * as z from 'zod'
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { parseTbfType } from '../tbf/nrs-service.ts'

const positive = z.number().positive()
const whole = z.number().int().positive()
/** Up to eleven days: virtual time stays exact for longer than any run. */
const seconds = z.number().nonnegative().max(1e6)
const hostName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/, 'a host name')

const disk = z.strictObject({
  bandwidth_mb_s: positive.min(0.001).max(1e9).describe('sequential bandwidth, 10^6 bytes per second'),
  per_op_us: z.number().nonnegative().max(1e9).default(50),
  channels: whole.max(1024).default(4),
})

const oss = z.strictObject({
  name: hostName,
  version: z.string().default('2.17.57'),
  cpts: whole.max(64).default(1),
  threads: whole.max(4096).default(16).describe('ll_ost_io service threads'),
  osts: z.array(z.strictObject({ name: z.string().regex(/^[\w-]{1,40}$/, 'a target name'), disk })).min(1),
})

const pattern = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('continuous') }),
  z.strictObject({
    kind: z.literal('bursts'),
    rpcs: whole.describe('RPCs of each process in one burst'),
    every_s: positive.min(1e-6).max(1e6),
    /** Share of the interval by which each burst may be late, drawn evenly. */
    jitter: z.number().min(0).max(1).default(0),
  }),
  z.strictObject({ kind: z.literal('poisson'), rate: positive.min(1e-6).max(1e6).describe('RPC/s of each process') }),
])

const job = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(JOB_ID_MAX)
      .regex(/^[\u0001-\u00ff]*$/, 'a job id is bytes: characters up to U+00FF'),
    user: z.string().max(64).default(''),
    account: z.string().max(64).default(''),
    /** Client numbers from 1; their count is what Slurm reports as the job's nodes. */
    clients: z.array(whole).min(1),
    /** false: not started by Slurm, so its node count is unknown to the console. */
    in_slurm: z.boolean().default(true),
    processes: whole.max(100_000).default(1),
    outstanding: whole.max(1024).default(1).describe('RPCs that one process keeps under way'),
    op: z.enum(['read', 'write']),
    size_kib: whole.max(65_536),
    targets: z.array(z.string()).default([]).describe('empty: all'),
    start_s: seconds.default(0),
    stop_s: seconds.optional(),
    total_rpcs: whole.optional().describe('all processes together; the job ends when they are served'),
    pattern,
  })
  .refine((j) => j.stop_s === undefined || j.stop_s > j.start_s, {
    path: ['stop_s'],
    message: 'must lie after start_s',
  })

const schema = z
  .strictObject({
    title: z.string().min(1).max(80),
    cluster: hostName.default('demo'),
    seed: z.number().int().nonnegative().default(1),
    epoch_s: z.number().int().nonnegative().default(1_767_225_600).describe('Unix time at virtual time 0'),
    policy: z
      .string()
      .default('tbf jobid')
      .refine((p) => p === 'fifo' || (p.startsWith('tbf ') && parseTbfType(p.slice(4)).ok), {
        message: 'expected fifo, or tbf with jobid, nid or jobid+nid',
      }),
    clients: z.strictObject({
      count: whole.max(10_000),
      network_mb_s: positive.min(0.001).max(1e9).default(1200),
      latency_us: z.number().nonnegative().max(1e9).default(20),
      max_rpcs_in_flight: whole.max(256).default(8),
    }),
    oss: z.array(oss).min(1),
    control: z
      .strictObject({
        controller: z.enum(['adaptbf', 'static', 'none']).default('adaptbf'),
        mode: z.enum(['observe', 'advise', 'enforce']).default('enforce'),
        max_rate: positive.max(1e9).describe('T: tokens (RPC) per second of one OST'),
        period_ms: z.number().int().min(50).max(10_000).default(100),
      })
      .describe('how the cluster is controlled'),
    jobs: z.array(job).min(1),
  })
  .superRefine((s, context) => {
    const names = s.oss.flatMap((o) => o.osts.map((t) => t.name))
    const issue = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message })
    const seen = new Set<string>()
    s.oss.forEach((o, i) => {
      if (seen.has(o.name)) issue(['oss', i, 'name'], `a second node is called ${o.name}`)
      seen.add(o.name)
      o.osts.forEach((t, k) => {
        if (seen.has(t.name)) issue(['oss', i, 'osts', k, 'name'], `a second target is called ${t.name}`)
        seen.add(t.name)
      })
    })
    const ids = new Set<string>()
    s.jobs.forEach((j, i) => {
      if (ids.has(j.id)) issue(['jobs', i, 'id'], `a second job is called ${j.id}`)
      ids.add(j.id)
      j.clients.forEach((c, k) => {
        if (c > s.clients.count) issue(['jobs', i, 'clients', k], `there are only ${s.clients.count} clients`)
      })
      j.targets.forEach((t, k) => {
        if (!names.includes(t)) issue(['jobs', i, 'targets', k], `no target is called ${t}`)
      })
    })
  })

export type Scenario = z.infer<typeof schema>
export type JobScenario = z.infer<typeof job>
export type OssScenario = z.infer<typeof oss>

/** Where in the file a failure is: line and column from 1. */
export interface ScenarioFailure extends Failure {
  readonly line: number
  readonly column: number
}

/** Offset of the deepest node on a path that the file really has; for an unknown key, of the key itself. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], key?: string): number {
  for (let n = path.length; n >= 0; n--) {
    const node: unknown = n === 0 ? document.contents : document.getIn(path.slice(0, n), true)
    if (key !== undefined && n === path.length && isMap(node)) {
      const pair = node.items.find((p) => isPair(p) && isScalar(p.key) && String(p.key.value) === key)
      if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0]
    }
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/** Offset of the first alias that no anchor stands before, else of the first alias. */
function offsetOfAlias(document: Document.Parsed): number {
  const found: { offset: number; isKnown: boolean }[] = []
  visit(document, {
    Alias: (_, alias) => void found.push({ offset: alias.range?.[0] ?? 0, isKnown: !!alias.resolve(document) }),
  })
  return (found.find((a) => !a.isKnown) ?? found[0])?.offset ?? 0
}

/**
 * Reads a scenario.
 *
 * @param text  YAML 1.2.
 * @param file  its name, for messages.
 * @returns     the scenario with defaults filled in, or the first failure: SCENARIO_SYNTAX (not YAML) or
 *              SCENARIO_INVALID, each with line, column and what was expected.
 */
export function parseScenario(text: string, file = 'scenario'): Result<Scenario, ScenarioFailure> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  const at = (offset: number, code: string, why: string, more = 0): Result<Scenario, ScenarioFailure> => {
    const { line, col } = lines.linePos(offset)
    return fail({
      code,
      line,
      column: col,
      what: `${file}, line ${line}, column ${col}: the scenario cannot be used`,
      why: more > 0 ? `${why} (and ${more} more)` : why,
      next: 'Correct the file and start again.',
    })
  }
  const broken = document.errors[0]
  if (broken) {
    const why = (broken.message.split('\n')[0] ?? '').replace(/ at line \d+.*$/, '')
    return at(broken.pos[0], 'SCENARIO_SYNTAX', why, document.errors.length - 1)
  }
  let plain: unknown
  try {
    plain = document.toJS()
  } catch (e) {
    // An alias without an anchor, or aliases of aliases that would fill the memory.
    return at(offsetOfAlias(document), 'SCENARIO_SYNTAX', e instanceof Error ? e.message : 'an alias cannot be used')
  }
  const read = schema.safeParse(plain, { reportInput: false })
  if (read.success) return ok(read.data)
  const issue = read.error.issues[0]
  if (!issue) return at(0, 'SCENARIO_INVALID', 'unknown reason')
  const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const where = issue.path.map(String).join('.')
  const why = `${where === '' ? '' : `${where}: `}${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`
  return at(offsetOf(document, issue.path, key), 'SCENARIO_INVALID', why, read.error.issues.length - 1)
}
