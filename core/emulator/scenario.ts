/**
 * Scenario files: a cluster, its jobs and its control, in YAML.
 *
 * Units are part of the names. Unknown keys are errors, so that a misspelt one is never silently ignored.
 */
import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import * as z from 'zod'
import { DEFAULT_LOOP_OPTIONS, type LoopOptions } from '../adaptbf/loop-options.ts'
import { PERIOD_MAX_NS, PERIOD_MIN_NS } from '../adaptbf/period.ts'
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { NS_PER_MS } from '../base/units.ts'
import { PLANES } from '../controllers/objectives.ts'
import { ADAPTBF, CONTROLLER_NAMES } from '../controllers/registry.ts'
import { COEFFICIENTS, DEADBAND_MAX_PERCENT, DEMAND_MEASURES } from '../controllers/settings.ts'
import { profileOf } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { NrsService } from '../tbf/nrs-service.ts'
import { isData } from './operations.ts'
import { ccpfs, checkCcpfs } from './scenario-ccpfs.ts'
import { checkFaults, faults } from './scenario-faults.ts'
import { job } from './scenario-jobs.ts'
import { metadata } from './scenario-metadata.ts'
import { checkHaechi, haechi } from './scenario-haechi.ts'
import { checkPadll, padll, type TextPlace } from './scenario-padll.ts'
import { checkRules, rules } from './scenario-rules.ts'
import { hostName, mds, nrsPolicy, oss, positive, positiveInteger } from './scenario-servers.ts'

const clients = z.strictObject({
  count: positiveInteger.max(10_000),
  network_mb_s: positive.min(0.001).max(1e9).default(1200),
  latency_us: z.number().nonnegative().max(1e9).default(20),
  max_rpcs_in_flight: positiveInteger.max(256).default(8).describe('per client and target'),
  /**
   * Servers that mount the file system themselves; their clients are numbered after the others and have NID 0@lo on their own
   * targets.
   */
  mounted_on: z.array(z.string()).default([]),
})

/** Number in a range; every error message states the range. */
const within = (least: number, most: number, what: string): z.ZodNumber => {
  const error = `expected ${what}, ${least} to ${most}`
  return z.number({ error }).min(least, { error }).max(most, { error })
}

const adaptbf = z
  .strictObject({
    demand: z.enum(DEMAND_MEASURES).default(DEFAULT_LOOP_OPTIONS.demand).describe('measure of a job’s demand'),
    deadband_percent: within(0, DEADBAND_MAX_PERCENT, 'a percentage of the rate in force')
      .default(DEFAULT_LOOP_OPTIONS.deadbandPercent)
      .describe('smaller rate changes are not sent'),
    coefficient: z.enum(COEFFICIENTS).default(DEFAULT_LOOP_OPTIONS.coefficient),
    overdraft: within(0, 1, 'a fraction of the unused tokens').default(DEFAULT_LOOP_OPTIONS.overdraft),
    auto_t: z.boolean().default(DEFAULT_LOOP_OPTIONS.autoT),
    spill: z
      .literal(false, {
        error: 'spill needs a scheduler that no Lustre release has; only the paper experiments simulate it',
      })
      .default(false),
  })
  .describe('settings of AdapTBF (default: as in the paper, without extensions)')

const RATE_FAULT = 'expected a maximum token rate T above 0 and up to 1e9 RPC/s'
const PERIOD_FAULT = `expected a period of ${PERIOD_MIN_NS / NS_PER_MS} to ${PERIOD_MAX_NS / NS_PER_MS} whole ms`

const control = z
  .strictObject({
    controller: z.enum(CONTROLLER_NAMES).default(ADAPTBF),
    mode: z.enum(['observe', 'advise', 'enforce']).default('enforce'),
    max_rate: z
      .number({ error: RATE_FAULT })
      .positive({ error: RATE_FAULT })
      .max(1e9, { error: RATE_FAULT })
      .describe('T: tokens (RPC) per second of one OST'),
    period_ms: z
      .number({ error: PERIOD_FAULT })
      .int({ error: PERIOD_FAULT })
      .min(PERIOD_MIN_NS / NS_PER_MS, { error: PERIOD_FAULT })
      .max(PERIOD_MAX_NS / NS_PER_MS, { error: PERIOD_FAULT })
      .default(100),
    adaptbf: adaptbf.prefault({}),
    metadata: metadata.optional(),
  })
  .describe('controller of the cluster')

const forkText = z.string().min(1).max(600)
const FORK_LINES_MAX = 60

/** The `fork` section: origin of a scenario, and the aspects of the origin that the model does not cover. */
const fork = z
  .strictObject({
    cluster: z.string().min(1).max(128).describe('source cluster'),
    at: z.iso.datetime({ offset: true }).describe('end of the observed range'),
    span_s: z.number().positive().max(1e9).describe('length of the observed range'),
    workload: z.enum(['open', 'closed']),
    size_kib: z
      .tuple([z.number().positive(), z.number().positive()])
      .optional()
      .describe('RPC sizes on which devices are fitted'),
    planes: z.array(z.enum(PLANES)).default([]).describe('planes besides Lustre that the fork carries'),
    unknown: z.array(forkText).max(FORK_LINES_MAX).default([]).describe('not known to the model'),
    in_range: z.array(forkText).max(FORK_LINES_MAX).default([]).describe('observed'),
  })
  .describe('source of the fork')

const shape = z.strictObject({
  title: z.string().min(1).max(80),
  about: z.string().max(400).default('').describe('description, two lines'),
  cluster: hostName.default('demo'),
  seed: z.number().int().nonnegative().default(1),
  epoch_s: z.number().int().nonnegative().default(1_767_225_600).describe('Unix time at virtual time 0'),
  policy: nrsPolicy.default('tbf jobid').describe('nrs_policies of every emulated service at the start'),
  clients,
  oss: z.array(oss).min(1),
  mds: z.array(mds).default([]),
  control,
  rules,
  faults,
  thinning: positiveInteger
    .max(1e6)
    .default(1)
    .describe('RPCs represented by one simulated RPC in a sandbox run; the emulator on screen simulates every RPC'),
  fork: fork.optional(),
  padll: padll.optional(),
  ccpfs: ccpfs.optional(),
  haechi,
  jobs: z.array(job).min(1),
})

type Issue = (path: (string | number)[], message: string, place?: TextPlace) => void

/**
 * Checks that node and target names are unique, except on a machine that is OSS and MDS, and that every server has the policy.
 */
function checkServers(s: z.infer<typeof shape>, issue: Issue): void {
  const seen = new Set<string>()
  const unique = (name: string, what: string, path: (string | number)[]): void => {
    if (seen.has(name)) issue(path, `another ${what} is called ${name}`)
    seen.add(name)
  }
  s.oss.forEach((o, i) => {
    unique(o.name, 'node', ['oss', i, 'name'])
    o.osts.forEach((t, k) => unique(t.name, 'target', ['oss', i, 'osts', k, 'name']))
  })
  s.mds.forEach((m, i) => {
    const other = s.oss.find((o) => o.name === m.name)
    // One machine may serve data and metadata; it has one Lustre.
    const isOne = (['version', 'cpts', 'timer_latency_us'] as const).every((key) => other?.[key] === m[key])
    if (!other || s.mds.findIndex((x) => x.name === m.name) < i) unique(m.name, 'node', ['mds', i, 'name'])
    else if (!isOne) issue(['mds', i, 'name'], `${m.name} is an OSS with another version, cpts or timer_latency_us`)
    m.mdts.forEach((t, k) => unique(t.name, 'target', ['mds', i, 'mdts', k, 'name']))
  })
  const refusal = (version: string, policy: string): string | undefined => {
    const service = new NrsService({ cpts: 1, hp: true, profile: profileOf(parseVersion(version)) })
    const taken = service.writePolicies(policy)
    return taken.ok ? undefined : `with Lustre ${version} rejects "${policy}": ${taken.error}`
  }
  for (const { name, version } of [...s.oss, ...s.mds].filter((x) => x.policy === undefined)) {
    const refused = refusal(version, s.policy)
    if (refused !== undefined) issue(['policy'], `${name} ${refused}`)
  }
  for (const kind of ['oss', 'mds'] as const) {
    s[kind].forEach(({ name, version, policy }, i) => {
      const refused = policy === undefined ? undefined : refusal(version, policy)
      if (refused !== undefined) issue([kind, i, 'policy'], `${name} ${refused}`)
    })
  }
  s.clients.mounted_on.forEach((host, i) => {
    if (![...s.oss, ...s.mds].some((x) => x.name === host))
      issue(['clients', 'mounted_on', i], `no server is called ${host}`)
  })
}

/** Checks that job ids are unique and that jobs run on existing clients and targets. */
function checkJobs(s: z.infer<typeof shape>, issue: Issue): void {
  const osts = s.oss.flatMap((o) => o.osts.map((t) => t.name))
  const mdts = s.mds.flatMap((m) => m.mdts.map((t) => t.name))
  const last = s.clients.count + s.clients.mounted_on.length
  const ids = new Set<string>()
  s.jobs.forEach((j, i) => {
    if (ids.has(j.id)) issue(['jobs', i, 'id'], `another job is called ${j.id}`)
    ids.add(j.id)
    j.clients.forEach((c, k) => {
      if (c > last) issue(['jobs', i, 'clients', k], `there are only ${last} clients`)
    })
    j.targets.forEach((t, k) => {
      if (!osts.includes(t) && !mdts.includes(t)) issue(['jobs', i, 'targets', k], `no target is called ${t}`)
    })
    // Missing targets are already reported.
    const named = j.targets.filter((t) => osts.includes(t) || mdts.includes(t))
    const reaches = (names: readonly string[]): boolean =>
      names.length > 0 && (named.length === 0 || named.some((t) => names.includes(t)))
    if (j.op.some(isData) && !reaches(osts)) issue(['jobs', i, 'targets'], 'reads and writes need an OST among them')
    if (!j.op.every(isData) && !reaches(mdts)) {
      if (mdts.length === 0) issue(['jobs', i, 'op'], 'metadata operations need an MDT: the scenario has no mds')
      else issue(['jobs', i, 'targets'], 'metadata operations need an MDT among them')
    }
  })
}

/** Schema of scenario files. */
export const scenarioSchema = shape.superRefine((s, context) => {
  const issue: Issue = (path, message, place) =>
    context.addIssue({ code: 'custom', path, message, ...(place ? { params: { place } } : {}) })
  checkServers(s, issue)
  checkJobs(s, issue)
  checkRules(s, issue)
  checkFaults(s, issue)
  checkPadll(s, issue)
  checkCcpfs(s, issue)
  checkHaechi(s, issue)
})

export type Scenario = z.infer<typeof scenarioSchema>
export type JobScenario = z.infer<typeof job>
export type OssScenario = z.infer<typeof oss>
export type MdsScenario = z.infer<typeof mds>

/** Initial AdapTBF settings of a scenario. */
export const loopOptionsOf = ({ control: { adaptbf: a } }: Scenario): LoopOptions => ({
  demand: a.demand,
  deadbandPercent: a.deadband_percent,
  coefficient: a.coefficient,
  overdraft: a.overdraft,
  autoT: a.auto_t,
  spill: a.spill,
})

/** Offset in the text of the deepest existing node on a path; for an unknown key, of the key itself. */
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

/**
 * Offset of a place inside a text of the file; undefined unless the text is a literal block (`|`), whose lines match those of the
 * file.
 */
function offsetInText(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  at: TextPlace,
  source: string,
): number | undefined {
  const node: unknown = document.getIn(path, true)
  if (!isScalar(node) || node.type !== 'BLOCK_LITERAL' || !node.range) return undefined
  let from = node.range[0]
  for (let line = 0; line < at.line; line++) from = source.indexOf('\n', from) + 1
  const first = source.indexOf('\n', node.range[0]) + 1
  const indent = /^ */.exec(source.slice(first))?.[0].length ?? 0
  return from + indent + at.column - 1
}

/** Offset of the first alias without a preceding anchor, else of the first alias. */
function offsetOfAlias(document: Document.Parsed): number {
  const found: { offset: number; isKnown: boolean }[] = []
  visit(document, {
    Alias: (_, alias) => void found.push({ offset: alias.range?.[0] ?? 0, isKnown: !!alias.resolve(document) }),
  })
  return (found.find((a) => !a.isKnown) ?? found[0])?.offset ?? 0
}

/** Offsets of duplicate keys of maps. */
function offsetsOfDuplicateKeys(document: Document.Parsed): number[] {
  const twins: number[] = []
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) twins.push(key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  return twins
}

/** Failure with its place in the file: line and column from 1. */
export interface ScenarioFailure extends Failure {
  readonly line: number
  readonly column: number
}

/** One error in a scenario, with its place: line and column from 1. */
export interface TextFault {
  readonly line: number
  readonly column: number
  /** SCENARIO_SYNTAX: not YAML; SCENARIO_INVALID: not a scenario. */
  readonly code: 'SCENARIO_SYNTAX' | 'SCENARIO_INVALID'
  readonly message: string
}

/**
 * Parses a scenario; returns all errors in the text. Checks across sections run last, on a text whose sections are all valid.
 */
export function readScenarioText(text: string): Result<Scenario, readonly TextFault[]> {
  const lines = new LineCounter()
  // The YAML parser's key check is quadratic: minutes for a long map.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false })
  const at = (offset: number, code: TextFault['code'], message: string): TextFault => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col, code, message }
  }
  const plainOf = (m: string): string => (m.split('\n')[0] ?? '').replace(/ at line \d+.*$/, '')
  const errors = [
    ...document.errors.map((e) => ({ offset: e.pos[0], message: plainOf(e.message) })),
    ...offsetsOfDuplicateKeys(document).map((offset) => ({ offset, message: 'Map keys must be unique' })),
  ]
  if (errors.length > 0) {
    return fail(errors.sort((a, b) => a.offset - b.offset).map((e) => at(e.offset, 'SCENARIO_SYNTAX', e.message)))
  }
  let plain: unknown
  try {
    plain = document.toJS()
  } catch (e) {
    // An alias without an anchor, or aliases of aliases that would exhaust memory.
    const why = e instanceof Error ? e.message : 'an alias cannot be used'
    return fail([at(offsetOfAlias(document), 'SCENARIO_SYNTAX', why)])
  }
  const read = scenarioSchema.safeParse(plain, { reportInput: false })
  if (read.success) return ok(read.data)
  return fail(
    read.error.issues.map((issue) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
      const where = issue.path.map(String).join('.')
      const why = `${where === '' ? '' : `${where}: `}${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`
      const place = issue.code === 'custom' ? (issue.params?.['place'] as TextPlace | undefined) : undefined
      const offset = place && offsetInText(document, issue.path, place, text)
      return at(offset ?? offsetOf(document, issue.path, key), 'SCENARIO_INVALID', why)
    }),
  )
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
  const read = readScenarioText(text)
  if (read.ok) return read
  const { line, column, code, message } = read.error[0] ?? UNKNOWN
  const more = read.error.length - 1
  return fail({
    code,
    line,
    column,
    what: `${file}, line ${line}, column ${column}: the scenario cannot be used`,
    why: more > 0 ? `${message} (and ${more} more)` : message,
    next: 'Correct the file and start again.',
  })
}

const UNKNOWN: TextFault = { line: 1, column: 1, code: 'SCENARIO_INVALID', message: 'unknown reason' }
