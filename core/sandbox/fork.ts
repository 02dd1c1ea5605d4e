/**
 * Fork of a cluster: its observations as a scenario that starts in the observed state. Unobservable properties are
 * assumed, and every assumption is listed in the scenario itself.
 */
import { Document, isCollection, isMap, isPair, isScalar, visit } from 'yaml'
import { fail, ok, type Result } from '../base/result.ts'
import { utc } from '../emulator/calendar.ts'
import { readScenarioText, type JobScenario, type Scenario } from '../emulator/scenario.ts'
import { ADAPTBF } from '../controllers/registry.ts'
import { fitDevice, type FittedDevice } from './fork-device.ts'
import { fold, type Folded } from './fork-fold.ts'
import type { ForkInputs, ForkJob } from './fork-inputs.ts'
import { forkJob, roundTo4Digits, weightOf, type JobInput } from './fork-jobs.ts'
import { knowledgeOf } from './fork-knowledge.ts'
import { fittedSizes } from './model-range.ts'
import { hostNameOf, serverNames, targetNames } from './fork-names.ts'
import { carriedPlanes, stagesOf, withStagedDemand, type CarriedPlanes } from './fork-planes.ts'
import { outstandingOf } from './fork-outstanding.ts'
import { commonPolicy, serverTexts, takenRules, type Names } from './fork-servers.ts'
import { withRowsOfStages } from './fork-rows.ts'
import { meanOr0 } from './fork-series.ts'

/** Maps and lists under these keys are on one line. */
const FLOW: ReadonlySet<string> = new Set([
  'clients',
  'op',
  'pattern',
  'disk',
  'targets',
  'servers',
  'stages',
  'pace',
  ADAPTBF,
  'workload',
  'size_kib',
  'planes',
])

const COMMENTS: Readonly<Record<string, string>> = {
  fork: ' Sources of the fork, and limitations of the model.',
  oss: ' Devices are fitted: see `fork`.',
  jobs: ' As observed, largest first.',
  rules: ' Rules in force on the servers, in the order of writing.',
}

/**
 * Returns a fork as YAML. Names, users and job ids are arbitrary bytes: they are values and never keys, and no comment
 * contains any of them.
 *
 * @param scenario  plain data in the form of the scenario schema.
 */
function forkText(scenario: Readonly<Record<string, unknown>>): string {
  const document = new Document(scenario, { aliasDuplicateObjects: false })
  const root = document.contents
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && FLOW.has(String(pair.key.value)) && isCollection(pair.value)) {
        const isPlain = !isMap(pair.value) || pair.value !== root
        const depth = pair.value.items.some((i) => isPair(i) && isCollection(i.value) && String(pair.key) === 'clients')
        if (isPlain && !depth) pair.value.flow = true
      }
      return undefined
    },
  })
  if (isMap(root)) {
    for (const pair of root.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      if (isScalar(pair.key)) {
        if (Object.hasOwn(COMMENTS, key)) pair.key.commentBefore = COMMENTS[key] ?? null
        if (isCollection(pair.value)) pair.key.spaceBefore = true
      }
    }
  }
  return document.toString({ lineWidth: 0 })
}

/** Maximum clients of a scenario; beyond that, jobs share them. */
const CLIENTS_MAX = 10_000

interface ClientNumbers {
  readonly of: ReadonlyMap<string, readonly number[]>
  readonly count: number
}

/**
 * Compute nodes as client numbers: jobs that share nodes share clients.
 *
 * @param least  minimum number of clients.
 */
function clientNumbers(jobs: readonly ForkJob[], least: number): ClientNumbers {
  const byHost = new Map<string, number>()
  const of = new Map<string, readonly number[]>()
  let count = 0
  const next = (): number => (count++ % CLIENTS_MAX) + 1
  for (const j of jobs) {
    const n = Math.min(CLIENTS_MAX, Math.max(1, j.nodes ?? 1))
    const hosts = [...new Set(j.hosts)]
    if (hosts.length !== n) {
      of.set(j.jobId, Array.from({ length: n }, next))
      continue
    }
    const numbers = hosts.map((h) => {
      let known = byHost.get(h)
      if (known === undefined) byHost.set(h, (known = next()))
      return known
    })
    of.set(j.jobId, [...new Set(numbers)])
  }
  return { of, count: Math.min(CLIENTS_MAX, Math.max(1, least, count)) }
}

/** Budget of simulated RPCs per run. */
export const RPC_BUDGET = 40_000
/** Simulated seconds that the budget covers, unless a range is replayed. */
const RUN_S = 60
const JOBS_MAX = 2_000
const NETWORK_MB_S = 2_500
const SLOTS = { least: 8, open: 64, most: 256 } as const
/** Limit of the scenario schema. */
const THINNING_MAX = 1e6
const PERIOD_MS = { least: 50, most: 10_000 } as const

export interface Fork {
  readonly text: string
  readonly scenario: Scenario
  readonly thinning: number
  readonly devices: ReadonlyMap<string, FittedDevice>
}

/**
 * Creates the scenario.
 *
 * Failures: FORK_EMPTY: no activity; FORK_NO_TARGETS: no known OST; FORK_INVALID: the result is not a valid scenario,
 * which is a fault of this program.
 */
export function forkScenario(given: ForkInputs, options: { readonly jobsMax?: number } = {}): Result<Fork> {
  const inputs = withRowsOfStages(given)
  const folded = fold(playable({ ...inputs, jobs: withStagedDemand(inputs) }), options.jobsMax ?? JOBS_MAX)
  if (folded.jobs.length === 0) {
    return fail({
      code: 'FORK_EMPTY',
      what: 'There is nothing to fork',
      why: `no job was active in the ${Math.round(inputs.spanS)} s before`,
      unaffected: 'The cluster is not affected.',
      next: 'Wait for a job, move the cursor to a busier minute, or open a built-in scenario.',
    })
  }
  if (inputs.targets.length === 0) {
    const what = 'There is nothing to fork'
    return fail({ code: 'FORK_NO_TARGETS', what, why: 'no OST was read', next: 'Wait until a server answers.' })
  }
  const full = make(inputs, folded, true)
  if (full.ok) return full
  // The source's sections may not fit the observations; the rest is valid without them.
  return inputs.scenario || inputs.padll || inputs.rows ? make(inputs, folded, false) : full
}

/** ISO 8601 in UTC; a time before 1970 is not valid. */
function isoOf(unixMs: number): string {
  const ms = Math.max(0, Math.floor(unixMs))
  const { date, time } = utc(Math.floor(ms / 1000))
  return `${date}T${time}.${String(ms % 1000).padStart(3, '0')}Z`
}

/** Metadata load of a cluster whose MDTs are not read cannot be replayed. */
const playable = ({ jobs, mdts }: ForkInputs): readonly ForkJob[] =>
  mdts.length > 0 ? jobs : jobs.map((j) => ({ ...j, mdops: j.mdops.map(() => 0) }))

/** Sections that made the scenario invalid are left out. */
const NO_PLANES: CarriedPlanes = {
  sections: {},
  carried: [],
  origins: ['Stages of PADLL, ccPFS and data nodes do not fit the observed jobs and are omitted.'],
  lost: [],
}

function make(inputs: ForkInputs, folded: Folded, withSections: boolean): Result<Fork> {
  const devices = new Map(inputs.targets.map((t) => [t.name, fitDevice(t, inputs.control.maxRate)]))
  const names = {
    servers: serverNames(inputs.servers),
    targets: targetNames([...inputs.targets, ...inputs.mdts].map((t) => t.name)),
  }
  const planes = withSections ? carriedPlanes(inputs) : NO_PLANES
  const { padll, ccpfs } = planes.sections
  const lockClients = (ccpfs?.workloads ?? []).flatMap((w) => w.clients)
  const least = Math.max(padll || ccpfs ? (inputs.scenario?.clients.count ?? 0) : 0, ...lockClients)
  const clients = clientNumbers(folded.jobs, least)
  const jobs = jobInputs(inputs, folded, names, clients, padll !== undefined)
  const rules = takenRules(inputs, names)
  const rate = folded.jobs.reduce((n, j) => n + weightOf(j), 0)
  const lengthS = inputs.binAtS.length * inputs.binS
  const wanted = Math.ceil((rate * (inputs.isReplay ? lengthS : RUN_S)) / RPC_BUDGET)
  const thinning = Math.min(THINNING_MAX, Math.max(1, wanted))
  const known = knowledgeOf(inputs, {
    devices,
    folded,
    thinning,
    planes,
    refusedRules: inputs.rules.length - rules.length,
  })
  const rpcsOf = new Map(folded.jobs.map((j) => [j.jobId, meanOr0(j.rpcs)]))
  const sizes = fittedSizes(jobs.map((j) => ({ kib: j.size_kib ?? 0, rpcs: rpcsOf.get(j.id) ?? 0 })))
  const text = forkText({
    title: `Fork of ${inputs.cluster}`.slice(0, 80),
    cluster: hostNameOf(inputs.cluster, 'fork'),
    seed: 1,
    epoch_s: Math.max(0, Math.floor(inputs.atMs / 1000)),
    policy: commonPolicy(inputs.servers),
    thinning,
    fork: {
      cluster: inputs.cluster.slice(0, 128) || 'cluster',
      at: isoOf(inputs.atMs),
      span_s: Math.max(0.001, lengthS),
      workload: inputs.workload,
      ...(sizes ? { size_kib: sizes } : {}),
      ...(planes.carried.length > 0 ? { planes: planes.carried } : {}),
      unknown: known.unknown,
      in_range: known.inRange,
    },
    clients: {
      count: clients.count,
      network_mb_s: NETWORK_MB_S,
      max_rpcs_in_flight: inputs.workload === 'open' ? SLOTS.open : slotsFor(jobs, inputs.targets.length),
    },
    ...serverTexts(inputs, devices, names),
    control: controlText(inputs),
    ...(rules.length > 0 ? { rules } : {}),
    ...planes.sections,
    jobs,
  })
  const read = readScenarioText(text)
  if (read.ok) return ok({ text, scenario: read.value, thinning, devices })
  const [first] = read.error
  return fail({
    code: 'FORK_INVALID',
    what: 'The fork is not a valid scenario',
    why: `line ${first?.line ?? 0}: ${first?.message ?? ''}`,
    unaffected: 'The cluster is not affected.',
    next: 'Report it with this line.',
  })
}

function jobInputs(
  inputs: ForkInputs,
  folded: Folded,
  names: Names,
  clients: ClientNumbers,
  isStaged: boolean,
): JobInput[] {
  const modelled = new Map(
    (isStaged ? (inputs.scenario?.jobs ?? []) : []).filter((j) => j.stages).map((j) => [j.id, j]),
  )
  const staged = new Map((isStaged ? (inputs.padll?.jobs ?? []) : []).map((j) => [j.job, j]))
  const outstanding = outstandingOf({ jobs: folded.jobs, targets: inputs.targets })
  const perOp = inputs.mdts.map((m) => m.perOpUs).filter((us) => !Number.isNaN(us))
  const metadataS = (perOp.length > 0 ? perOp.reduce((a, b) => a + b, 0) / perOp.length : 220) / 1e6
  const known = { ost: new Set(inputs.targets.map((t) => t.name)), mdt: new Set(inputs.mdts.map((t) => t.name)) }
  return folded.jobs.map((job) => {
    const model = modelled.get(job.jobId)
    const stages = staged.get(job.jobId)
    const perClient = model?.stages?.per_client ?? (stages ? stagesOf(stages).perHost : 0)
    const own = clients.of.get(job.jobId) ?? [1]
    const place = {
      clients: own,
      processesLeast: own.length * perClient,
      outstanding: outstanding.get(job.jobId) ?? 0,
      metadataS,
    }
    // If it was seen on no target of a kind that it uses, it uses all of that kind.
    const kinds = [
      { all: known.ost, rate: meanOr0(job.rpcs) },
      { all: known.mdt, rate: meanOr0(job.mdops) },
    ].filter((k) => k.rate > 0)
    const used = kinds.map(({ all }) => {
      const seen = job.targets.filter((t) => all.has(t))
      return seen.length > 0 ? seen : [...all]
    })
    const isAll = kinds.every(({ all }, i) => used[i]?.length === all.size)
    const input = forkJob(job, place, inputs, isAll ? [] : used.flat().map((t) => names.targets.get(t) as string))
    if (model) return withStages(input, model)
    return stages ? behindStages(input, perClient) : input
  })
}

/** Operations of a job behind stages are those of its scenario, at the observed rate. */
function withStages(input: JobInput, { op, stages, targets, size_kib }: JobScenario): JobInput {
  const { targets: _, size_kib: __, ...rest } = input
  return {
    ...rest,
    op,
    ...(targets.length > 0 ? { targets } : {}),
    ...(size_kib > 0 ? { size_kib } : {}),
    stages,
  }
}

/** A job of a live cluster behind stages; closes without an open do not pass them. */
function behindStages(input: JobInput, perClient: number): JobInput {
  const opens = input.op.filter((op) => op === 'open' || op === 'create').length
  let closes = 0
  const op = input.op.filter((o) => o !== 'close' || ++closes <= opens)
  return {
    ...input,
    op: op.length > 0 ? op : ['stat'],
    stages: { per_client: perClient },
  }
}

/** Slots of a client to a target for the RPCs in flight. */
function slotsFor(jobs: readonly JobInput[], targets: number): number {
  const needed = jobs.map((j) => {
    const spread = Math.min(j.processes, j.clients.length) * Math.max(1, j.targets?.length ?? targets)
    return Math.ceil((j.processes * j.outstanding) / spread)
  })
  return Math.min(SLOTS.most, Math.max(SLOTS.least, ...needed))
}

function controlText({ control }: ForkInputs): Record<string, unknown> {
  const { controller, mode, maxRate, periodMs, options, metadata } = control
  return {
    controller,
    mode,
    max_rate: roundTo4Digits(Math.min(1e9, maxRate)),
    period_ms: Math.min(PERIOD_MS.most, Math.max(PERIOD_MS.least, Math.round(periodMs))),
    adaptbf: {
      demand: options.demand,
      deadband_percent: options.deadbandPercent,
      coefficient: options.coefficient,
      overdraft: options.overdraft,
      auto_t: options.autoT,
    },
    ...(metadata === undefined ? {} : { metadata }),
  }
}
