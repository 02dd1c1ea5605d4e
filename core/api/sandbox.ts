/**
 * Sandbox in the contract: forks of a cluster and scenarios, run under other policies on the model. Servers are neither read nor written;
 * changes taken over are staged and go through the same review as every other change.
 */
import { CONTROLLER_NAMES } from '../controllers/registry.ts'
import { OBJECTIVE_KEYS, OBJECTIVE_UNITS, PLANES } from '../controllers/objectives.ts'
import {
  HAECHI_CONVERSION_RULES,
  HAECHI_DECAY_RULES,
  HAECHI_ESTIMATOR_RULES,
  HAECHI_PRESETS,
  type LockOption,
} from '../controllers/settings.ts'
import * as z from 'zod'
import { adaptbfOptions } from './adaptbf.ts'
import { span } from './history.ts'
import { lockManager } from './locks.ts'
import { colorIndex, ms, notice } from './parts.ts'
import { service } from './rule-edits.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())

/** Longest scenario, characters. */
export const TEXT_MAX = 4_000_000
export const VARIANTS_MAX = 6
export const SEEDS_MAX = 200
/** Points of a chart. */
export const POINTS_MAX = 240

/** Control of metadata: PADLL's algorithms, or none. */
export const metadataAlgorithm = z.enum([
  'off',
  'static',
  'uniform',
  'priority',
  'proportional',
  'psfa',
  'psfa-adaptive',
])
export type MetadataAlgorithm = z.infer<typeof metadataAlgorithm>
/** Data nodes: scenario: as configured; off: no QoS, unlimited clients; basic: Haechi without conversion and decay; haechi: complete. */
export const haechiMode = z.enum(['scenario', 'off', 'basic', 'haechi'])

/** Settings of the data nodes; absent ones are those of the scenario. */
export const tokenSettings = z.strictObject({
  preset: z.enum(HAECHI_PRESETS).exactOptional(),
  conversion: z.enum(HAECHI_CONVERSION_RULES).exactOptional(),
  decay: z.enum(HAECHI_DECAY_RULES).exactOptional(),
  estimator: z
    .strictObject({
      enabled: z.boolean().exactOptional(),
      rule: z.enum(HAECHI_ESTIMATOR_RULES).exactOptional(),
      history: z.number().int().min(1).max(10_000).exactOptional(),
      increment: z.number().min(0).max(1).exactOptional(),
    })
    .exactOptional(),
  /** Changed reservations, I/Os per period. */
  reservations: z
    .array(
      z.strictObject({
        node: z.string().min(1).max(64),
        client: z.string().min(1).max(64),
        reservation: z.number().int().nonnegative().max(1e9),
      }),
    )
    .max(512)
    .exactOptional(),
})
export type TokenSettings = z.infer<typeof tokenSettings>
/** Parts of the lock manager that are switched on or off. */
export const lockOptions = z.strictObject({
  earlyGrant: z.boolean().exactOptional(),
  earlyRevocation: z.boolean().exactOptional(),
  conversion: z.boolean().exactOptional(),
  expansion: z.boolean().exactOptional(),
} satisfies Record<LockOption, z.ZodType>)

/** One way to control a scenario: its storage servers, metadata, locks and data nodes. */
export const variant = z.object({
  name: z.string().min(1).max(60),
  /** Controller of the OSTs; `none` with rules is a static list of rules. */
  controller: z.enum(CONTROLLER_NAMES),
  /** Tokens per second of one OST; null: the scenario's. */
  maxRate: z.number().positive().max(1e9).nullable().default(null),
  periodMs: z.number().int().min(10).max(3_600_000).nullable().default(null),
  /** Settings of AdapTBF that differ from the scenario's. */
  adaptbf: adaptbfOptions.omit({ spill: true }).partial().default({}),
  /** Rules in lctl syntax, `start cap jobid={a.*} rate=400`, on every server of the service from `onS` on. */
  rules: z
    .array(z.object({ service, line: z.string().min(1).max(4000) }))
    .max(500)
    .default([]),
  /** null: as in the scenario. */
  metadata: metadataAlgorithm.nullable().default(null),
  /** System limits by operation or class of PADLL, op/s; others are those of the scenario. */
  metadataLimits: z
    .array(z.strictObject({ scope: z.string().min(1).max(64), rate: z.number().min(1).max(1e9) }))
    .max(64)
    .default([]),
  haechi: haechiMode.default('scenario'),
  tokens: tokenSettings.default({}),
  /** null: as in the scenario. */
  locks: lockManager.nullable().default(null),
  lockOptions: lockOptions.default({}),
  /** Start of its controller and rules, s. Before, it runs like the baseline. */
  onS: z.number().min(0).max(86_400).default(0),
})
export type Variant = z.infer<typeof variant>
export type VariantInput = z.input<typeof variant>

export const runInput = z.object({
  /** YAML. */
  text: z.string().max(TEXT_MAX),
  /** Simulated seconds. */
  seconds: z.number().min(1).max(86_400).default(60),
  /** Runs of each variant, with consecutive seeds from `firstSeed` on. */
  seeds: z.number().int().min(1).max(SEEDS_MAX).default(20),
  firstSeed: z.number().int().nonnegative().max(1e12).default(1),
  /** The first is the baseline, the next are called A, B, C. */
  variants: z.array(variant).min(1).max(VARIANTS_MAX),
  /** A job misses its objective if its p95 wait is longer. */
  sloWaitMs: z.number().positive().max(1e7).default(500),
})
export type RunInput = z.infer<typeof runInput>

/** Median over the seeds, and the band from the 5th to the 95th percentile. null: measured in none of them. */
export const band = z.object({ median: z.number(), low: z.number(), high: z.number() }).nullable()
export type Band = z.infer<typeof band>

export const METRICS = [
  'throughputBps',
  'throughputRpcs',
  'jain',
  'victimP95Ms',
  'victimP99Ms',
  'starvedS',
  'sloMisses',
  'utilisation',
] as const
export type Metric = (typeof METRICS)[number]

const metrics = z.object(Object.fromEntries(METRICS.map((m) => [m, band])) as Record<Metric, typeof band>)

export const variantResult = z.object({
  name: z.string(),
  /** As text: `400 RPC/s, jobid={4690.*}`. */
  detail: z.string(),
  metrics,
  /** Bytes per second by job, medians over the seeds: largest jobs first, then `other` (empty id). */
  chart: z.object({
    t: numbers,
    series: z.array(z.object({ jobId: z.string(), colour: colorIndex, values: numbers })),
    /** Start of its policy, s; null: from the start, or never. */
    onS: z.number().nullable(),
  }),
  /** Figures per job, in the order of `jobs` of the result. */
  jobs: z.object({
    waitP95Ms: z.array(band),
    waitP99Ms: z.array(band),
    rpcs: z.array(band),
    bps: z.array(band),
    /** Tokens lent (+) or borrowed (-) at the end; null without a ledger. */
    record: z.array(band),
    starvedS: z.array(band),
  }),
  /** Objectives of metadata, locks and tokens, as far as the run has them, in the order of the registry. */
  planes: z.array(
    z.object({
      key: z.enum(OBJECTIVE_KEYS),
      plane: z.enum(PLANES),
      what: z.string(),
      unit: z.enum(OBJECTIVE_UNITS),
      /** Direction of a gain; null: not judged. */
      better: z.enum(['higher', 'lower']).nullable(),
      value: band,
    }),
  ),
  /** Remarks on single runs, for example rules that a server refused. */
  remarks: texts,
})
export type VariantResult = z.infer<typeof variantResult>

export const knowledgeLine = z.object({ level: z.enum(['unknown', 'watch', 'ok']), text: z.string() })
export type KnowledgeLine = z.infer<typeof knowledgeLine>

export const outsideInput = z.object({
  /** Job with low-confidence figures, which could be omitted; empty if it is not about a single job. */
  jobId: z.string(),
  /** Owner of the input; empty: the whole cluster. */
  of: z.string(),
  /** `RPC size 4 KiB`, and the range that it exceeds: `the fitted range of 16 KiB to 4 MiB`. */
  input: z.string(),
  range: z.string(),
  /** Relevance, as a sentence. */
  why: z.string(),
  /** apart: no model of its kind. */
  side: z.enum(['below', 'above', 'apart']),
  /** Factor by which it exceeds the bound; null: not countable. */
  times: z.number().nullable(),
})
export type OutsideInput = z.infer<typeof outsideInput>

export const runResult = z.object({
  id: z.string(),
  title: z.string(),
  seconds: z.number(),
  seeds: numbers,
  sloWaitMs: z.number(),
  jobs: z.object({
    jobId: texts,
    user: texts,
    nodes: numbers,
    colour: numbers,
    role: z.array(z.enum(['hog', 'victim', ''])),
  }),
  variants: z.array(variantResult),
  verdict: z.object({
    /** Index of the best variant; null: none is better than the baseline. */
    best: z.number().int().nullable(),
    /** The sentence, in parts, so that figures can be highlighted. */
    parts: z.array(z.object({ text: z.string(), strong: z.boolean() })),
    /** One line on its confidence. */
    detail: z.string(),
  }),
  cost: z.object({
    runs: count,
    workers: count,
    wallS: z.number(),
    /** Simulated over wall seconds. */
    ratio: z.number(),
    events: count,
    /** RPCs represented by one simulated RPC; 1: every RPC is simulated. */
    thinning: z.number(),
  }),
  /** Limits of the model, and the inputs within its range. */
  knowledge: z.array(knowledgeLine),
  /** Inputs outside the range of the model: low confidence for their jobs. Absent: none. */
  outside: z.array(outsideInput).optional(),
})
export type RunResult = z.infer<typeof runResult>

export const runEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    done: count,
    of: count,
    workers: count,
    /** Simulated over wall seconds so far. */
    ratio: z.number(),
    memoryBytes: count,
  }),
  z.object({ kind: z.literal('result'), result: runResult }),
  z.object({ kind: z.literal('failed'), notice }),
])
export type RunEvent = z.infer<typeof runEvent>

export const forkInput = z.object({
  /** null: the state at the cursor, of the last minute; else a range of the history. */
  span: span.nullable().default(null),
  /** Time of the fork when `span` is null; null: the newest sample. */
  atMs: ms.nullable().default(null),
  /** open: requests arrive at the recorded rates, independent of the servers; closed: processes wait for their replies. */
  workload: z.enum(['open', 'closed']).default('closed'),
})
export type ForkInput = z.infer<typeof forkInput>

/** Diagram of a scenario. */
export const topology = z.object({
  clients: count,
  servers: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['oss', 'mds', 'ccpfs', 'data node', 'controller']),
      version: z.string(),
      policy: z.string(),
      cpts: count,
      threads: count,
      targets: z.array(z.object({ name: z.string(), detail: z.string(), jobs: count })),
    }),
  ),
  jobs: z.array(
    z.object({
      jobId: z.string(),
      colour: colorIndex,
      clients: count,
      detail: z.string(),
      targets: texts,
      processes: count,
    }),
  ),
  /** Further jobs. */
  moreJobs: count,
})
export type Topology = z.infer<typeof topology>

export const scenarioCheck = z.object({
  /** Faults in text order; line and column from 1. Empty: it can run. */
  faults: z.array(z.object({ line: count, column: count, code: z.string(), message: z.string() })),
  title: z.string(),
  topology: topology.nullable(),
  knowledge: z.array(knowledgeLine),
  /** Inputs outside the range of the model: low confidence for their jobs. Absent: none. */
  outside: z.array(outsideInput).optional(),
  counts: z.object({ jobs: count, osts: count, mdts: count, cpts: count }),
  /** Suggested variants, the baseline first. */
  suggested: z.array(variant),
  /** Settings of the scenario that variants can change: system limits, op/s, and reservations, I/Os per period. */
  planes: z
    .object({
      metadataLimits: z.array(z.object({ scope: z.string(), rate: z.number() })),
      reservations: z.array(z.object({ node: z.string(), client: z.string(), reservation: z.number() })),
    })
    .optional(),
})
export type ScenarioCheck = z.infer<typeof scenarioCheck>

export const forked = z.object({
  text: z.string(),
  check: scenarioCheck,
  cluster: z.string(),
  atMs: ms,
  /** Planes besides Lustre that the fork carries. */
  planes: z.array(z.enum(PLANES)).default([]),
})
export type Forked = z.infer<typeof forked>

export const galleryEntry = z.object({
  id: z.string(),
  title: z.string(),
  about: z.string(),
  /** Built-in, or saved here. */
  own: z.boolean(),
})
export type GalleryEntry = z.infer<typeof galleryEntry>

/** Completions at a position of a scenario. */
export const completion = z.object({
  fromColumn: count,
  options: z.array(z.object({ label: z.string(), detail: z.string(), apply: z.string() })),
})
export type Completion = z.infer<typeof completion>

/** Difference between the model and a recording. */
export const calibration = z.object({
  cluster: z.string(),
  span,
  workload: z.enum(['open', 'closed']),
  seeds: count,
  /** Error of each measure as a part of its recorded value, 0..; measures that cannot be compared are omitted. */
  errors: z.array(
    z.object({ what: z.string(), unit: z.string(), recorded: z.number(), predicted: z.number(), error: z.number() }),
  ),
  targets: z.object({ name: texts, recorded: numbers, predicted: numbers, error: numbers }),
  jobs: z.object({ jobId: texts, recorded: numbers, predicted: numbers, error: numbers }),
  /** Total RPC/s, recorded and predicted (median of the seeds). */
  chart: z.object({ t: numbers, recorded: z.array(z.number().nullable()), predicted: numbers }),
  /** The sentence; `isInRange` false: outside the range of the model, with the reasons in `knowledge`. */
  sentence: z.string(),
  isInRange: z.boolean(),
  knowledge: z.array(knowledgeLine),
})
export type Calibration = z.infer<typeof calibration>

/** Progress of a calibration: seeds run; ends with its result, or the reason for its absence. */
export const calibrateEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), done: count, of: count }),
  z.object({ kind: z.literal('result'), calibration: calibration }),
  z.object({ kind: z.literal('failed'), notice }),
])
export type CalibrateEvent = z.infer<typeof calibrateEvent>

export const exportInput = z.object({ id: z.string().max(64), format: z.enum(['csv', 'json', 'md']) })
export const exported = z.object({ name: z.string(), text: z.string() })
