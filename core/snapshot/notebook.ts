/**
 * Notebook of an incident: an operator's notes and the data frozen beside them. Cells hold their own values, so that they
 * remain valid when their source samples are gone. Times are Unix ms on the source's clock, gaps are null.
 */
import * as z from 'zod'
import { COLORS } from '../base/categorical-color.ts'

const ms = z.number()
const count = z.number().int().nonnegative()
const gappy = z.array(z.number().nullable())

/** Maximum text lengths, so that an imported notebook cannot fill memory. */
export const TEXT_MOST = 20_000
export const TITLE_MOST = 200
export const CELLS_MOST = 200
const short = z.string().max(512)
const long = z.string().max(TEXT_MOST)

/** Version of the document; a newer one is refused. */
export const NOTEBOOK_FORMAT = 1

/** Kind of a name, which determines its pseudonym. */
export const nameKind = z.enum(['job', 'user', 'account', 'exe', 'target', 'host', 'cluster', 'rule', 'file', 'text'])
export type NameKind = z.infer<typeof nameKind>

/** Provenance of a cell, shown in one line under it. */
export const provenance = z.object({
  kind: z.enum(['LIVE', 'RECORDED', 'EMULATED']),
  cluster: short,
  fromMs: ms,
  toMs: ms,
  /** Resolution: raw, 1s, 10s, 1min. */
  tier: z.string().max(16),
  /** Time of freezing. */
  frozenMs: ms,
})
export type Provenance = z.infer<typeof provenance>

const base = { id: z.string().max(32), atMs: ms }

export const noteCell = z.object({ ...base, kind: z.literal('note'), text: long })

export const chartCell = z.object({
  ...base,
  kind: z.literal('chart'),
  title: short,
  /** Subject: targets, jobs; each may be a name. */
  place: z.object({ kind: nameKind, names: z.array(short).max(64) }),
  unit: z.string().max(32),
  /** Time of each point, at most 1,200. */
  t: z.array(ms).max(1_200),
  series: z
    .array(
      z.object({
        label: z.object({ kind: nameKind, text: short }),
        /** Categorical color 1 to 14; 0: gray. */
        ink: z.number().int().min(0).max(COLORS),
        area: z.boolean(),
        values: gappy.max(1_200),
      }),
    )
    .max(12),
  /** Reference line in the chart; null: none. */
  limit: z.object({ value: z.number(), label: short }).nullable(),
  marks: z
    .array(z.object({ atMs: ms, text: short, level: z.enum(['ok', 'watch', 'bad', 'idle', 'unknown']) }))
    .max(200),
  of: provenance,
})
export type ChartCell = z.infer<typeof chartCell>

export const tableCell = z.object({
  ...base,
  kind: z.literal('table'),
  title: short,
  columns: z.array(z.object({ label: z.string().max(64), unit: z.string().max(32), signed: z.boolean() })).max(16),
  rows: z
    .array(
      z.object({
        name: z.object({ kind: nameKind, text: short }),
        ink: z.number().int().min(0).max(COLORS),
        values: gappy.max(16),
      }),
    )
    .max(200),
  /** Total number of rows, of which these are the first. */
  known: count,
  of: provenance,
})
export type TableCell = z.infer<typeof tableCell>

/** Rules of one service at two times, in match order of the later one. */
export const diffCell = z.object({
  ...base,
  kind: z.literal('diff'),
  title: short,
  service: z.string().max(32),
  servers: count,
  lines: z
    .array(
      z.object({
        kind: z.enum(['add', 'mod', 'del', 'same']),
        name: short,
        conditions: z.string().max(4_096),
        /** RPC/s per class before and after; null where the rule did not exist. */
        before: z.number().nullable(),
        after: z.number().nullable(),
      }),
    )
    .max(500),
  more: count,
  of: provenance,
})
export type DiffCell = z.infer<typeof diffCell>

export const verdictCell = z.object({
  ...base,
  kind: z.literal('verdict'),
  title: short,
  parts: z.array(z.object({ text: z.string().max(2_000), strong: z.boolean() })).max(64),
  detail: z.string().max(2_000),
  seeds: count,
  /** Limitations of the model, as reported with the result. */
  unknown: z.array(z.string().max(1_000)).max(64),
  of: provenance,
})
export type VerdictCell = z.infer<typeof verdictCell>

export const transcriptCell = z.object({
  ...base,
  kind: z.literal('transcript'),
  lines: z
    .array(
      z.object({
        atMs: ms,
        where: short,
        /** intent: a command as sent; outcome: its result; mode: an operator's choice; pasted: from elsewhere. */
        kind: z.enum(['intent', 'outcome', 'mode', 'pasted']),
        text: z.string().max(8_192),
      }),
    )
    .max(500),
  /** Sequence numbers of its audit records; null: none. */
  audit: z.object({ from: count, to: count }).nullable(),
  of: provenance,
})
export type TranscriptCell = z.infer<typeof transcriptCell>

export const cell = z.discriminatedUnion('kind', [
  noteCell,
  chartCell,
  tableCell,
  diffCell,
  verdictCell,
  transcriptCell,
])
export type Cell = z.infer<typeof cell>
export type CellKind = Cell['kind']

/** exercise: of an emulated cluster. */
export const incidentStatus = z.enum(['open', 'watching', 'resolved', 'exercise'])
export type IncidentStatus = z.infer<typeof incidentStatus>

/** Kinds of alerts, plane by plane: data, locks, metadata, tokens, then the source itself. core/alerts describes each. */
export const alertKind = z.enum([
  'queue',
  'starvation',
  'convoy',
  'ping-pong',
  'lock-wait',
  'eviction',
  'lock-server',
  'metadata-wait',
  'false-allocation',
  'stage',
  'controller',
  'mds',
  'reservation',
  'pool-empty',
  'pool-idle',
  'capacity',
  'token-client',
  'disconnect',
])
export type AlertKind = z.infer<typeof alertKind>

/** Part of a cluster that an alert is about. `source`: its servers as such. */
export const alertPlane = z.enum(['data', 'locks', 'metadata', 'tokens', 'source'])
export type AlertPlane = z.infer<typeof alertPlane>

/** `INC-0042`: ascending numbers, never reused. */
export const incidentId = z.string().regex(/^INC-\d{4,9}$/)

export const incident = z.object({
  format: z.number().int().positive(),
  id: incidentId,
  title: z.string().max(TITLE_MOST),
  status: incidentStatus,
  source: z.object({
    kind: z.enum(['LIVE', 'RECORDED', 'EMULATED']),
    cluster: short,
    env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
    scenario: z.string().max(TITLE_MOST).nullable(),
    seed: z.number().nullable(),
  }),
  /** Creator: user of the console, or `alert`. */
  author: short,
  createdMs: ms,
  changedMs: ms,
  resolvedMs: ms.nullable(),
  /** Time range of the incident, exported in a bundle. */
  fromMs: ms,
  toMs: ms,
  /** Alert that opened it; null: an operator did. */
  alert: z.object({ kind: alertKind, text: z.string().max(2_000), where: short, atMs: ms }).nullable(),
  cells: z.array(cell).max(CELLS_MOST),
})
export type Incident = z.infer<typeof incident>
