/**
 * The `padll` section of a scenario: the control hierarchy in front of the jobs that run under PADLL, its settings, its rules
 * in the public text formats, and its faults.
 */
import * as z from 'zod'
import { ALGORITHMS } from '../padll/algorithms/algorithm.ts'
import { RATE_MAX, ROUNDS_MAX } from '../padll/console.ts'
import { parseHousekeepingFile } from '../padll/rules/housekeeping-yaml.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import { MountPoints } from '../padll/stage/mount-points.ts'
import { isScope, type Scope } from '../padll/vocabulary.ts'
import { hostName, positiveInteger } from './scenario-servers.ts'

const rate = z.number().min(1).max(RATE_MAX)
const seconds = z.number().nonnegative().max(1e6)

const scope = z.custom<Scope>((v) => typeof v === 'string' && isScope(v), {
  error: 'expected an operation or a class of PADLL, such as open or meta_op',
})

/** Default: every stage has one channel for all metadata operations, unlimited until a policy sets a rate. */
const HOUSEKEEPING = `1 create_channel 1000 posix_meta 0 no_op meta_op
2 create_object 1000 1 posix_meta no_op meta_op drl 10000 1000000
`

const fault = z.discriminatedUnion('what', [
  z.strictObject({
    what: z.enum(['stage-dies', 'stage-silent']),
    at_s: seconds,
    /** Time until it returns; default: never. */
    for_s: z.number().positive().max(1e6).optional(),
    job: z.string().min(1),
    instance: z.number().int().nonnegative(),
  }),
  z.strictObject({
    what: z.literal('local-dies'),
    at_s: seconds,
    for_s: z.number().positive().max(1e6).optional(),
    client: positiveInteger,
  }),
  z.strictObject({ what: z.literal('global-dies'), at_s: seconds, for_s: z.number().positive().max(1e6).optional() }),
  z.strictObject({
    what: z.literal('second-global'),
    at_s: seconds,
    /** Its epoch; the first controller starts with 1. */
    epoch: z.number().int().nonnegative(),
  }),
])

export const padll = z
  .strictObject({
    controller_node: hostName.default('qos01'),
    system_limits: z.partialRecord(scope, rate).default({}).describe('system limit of all jobs, op/s'),
    algorithm: z.enum(ALGORITHMS).default('psfa'),
    epsilon: z.number().min(0).max(1).default(0.25),
    slots: positiveInteger
      .max(10_000)
      .optional()
      .describe('fixed divisor of the limit for `uniform`; default: the number of active jobs'),
    split: z.enum(['equal', 'usage']).default('equal').describe('division of a job’s rate over its stages'),
    interval_ms: z.number().int().min(50).max(60_000).default(1000).describe('control cycle'),
    collect_rounds: positiveInteger.max(ROUNDS_MAX).default(1).describe('cycles per computation of rates'),
    housekeeping: z.string().max(65_536).default(HOUSEKEEPING),
    policies: z.string().max(262_144).default(''),
    mounts: z.array(z.string().max(1024).regex(/^\//, 'an absolute path')).min(1).max(64).default(['/lustre']),
    lease: z
      .strictObject({
        seconds: z.number().min(1).max(86_400).default(30),
        on_expiry: z
          .union([z.literal('hold'), rate])
          .default('hold')
          .describe('hold the last rates, or apply this rate'),
      })
      .prefault({}),
    faults: z.array(fault).max(100).default([]),
  })
  .describe('metadata QoS through PADLL’s stages')

/** Rest of the scenario that the section is checked against. */
interface ScenarioContext {
  readonly padll?: PadllScenario | undefined
  readonly oss: readonly { readonly name: string }[]
  readonly mds: readonly { readonly name: string }[]
  readonly clients: { readonly count: number }
  readonly jobs: readonly {
    readonly id: string
    readonly clients: readonly number[]
    readonly stages?: { readonly per_client: number } | undefined
  }[]
}

/** Place of an error inside a text of the scenario: line and column of that text, from 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

type Issue = (path: (string | number)[], message: string, place?: TextPlace) => void

/**
 * Checks that stages have a controller, that the controller has its own node, and that faults refer to components that exist.
 */
export function checkPadll({ padll: section, oss, mds, clients, jobs }: ScenarioContext, issue: Issue): void {
  jobs.forEach((j, i) => {
    if (j.stages && !section) issue(['jobs', i, 'stages'], 'the scenario has no padll section')
  })
  if (!section) return
  if ([...oss, ...mds].some((n) => n.name === section.controller_node)) {
    issue(['padll', 'controller_node'], `another node is called ${section.controller_node}`)
  }
  const texts = [
    ['housekeeping', parseHousekeepingFile(section.housekeeping).faults],
    ['policies', parsePolicies(section.policies).faults],
  ] as const
  for (const [name, faults] of texts) {
    for (const f of faults) {
      const where = `line ${f.line}, column ${f.column} of the text`
      if (f.severity === 'error') issue(['padll', name], `${where}: ${f.message}`, f)
    }
  }
  const mounts = MountPoints.of(section.mounts)
  if (!mounts.ok) issue(['padll', 'mounts'], mounts.error.what)
  section.faults.forEach((f, i) => {
    if (f.what === 'local-dies' && f.client > clients.count) {
      issue(['padll', 'faults', i, 'client'], `there are only ${clients.count} clients`)
    }
    if (f.what !== 'stage-dies' && f.what !== 'stage-silent') return
    const job = jobs.find((j) => j.id === f.job && j.stages)
    const stages = job?.stages ? job.clients.length * job.stages.per_client : 0
    if (!job) issue(['padll', 'faults', i, 'job'], `no job with stages is called ${f.job}`)
    else if (f.instance >= stages) issue(['padll', 'faults', i, 'instance'], `the job has ${stages} stages, from 0`)
  })
}

export type PadllScenario = z.infer<typeof padll>
export type PadllFault = PadllScenario['faults'][number]
