/** Incidents in the contract: notebooks, alerts and bundles. Times are Unix ms on the source's clock. */
import * as z from 'zod'
import { alertKind, alertPlane, cell, incident, incidentId, incidentStatus } from '../snapshot/notebook.ts'
import { manifest, memberGroup } from '../snapshot/manifest.ts'
import { span } from './history.ts'
import { filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

export { alertKind, alertPlane, cell, incident, incidentId, incidentStatus, memberGroup }
export type { AlertKind, AlertPlane, Cell, CellKind, Incident, IncidentStatus } from '../snapshot/notebook.ts'
export type { Manifest, MemberGroup } from '../snapshot/manifest.ts'

const count = z.number().int().nonnegative()
const text = z.string()

/** Active or ended alert. */
export const alert = z.object({
  id: text,
  kind: alertKind,
  level,
  /** One line: condition and magnitude. */
  text,
  /** Target, server, job or client concerned; empty for the cluster. */
  where: text,
  fromMs: ms,
  /** null while active. */
  endMs: ms.nullable(),
  /** Incident that it opened or joined. */
  incident: incidentId.nullable(),
})
export type Alert = z.infer<typeof alert>

/** Rule of one kind of alert. `alertRules` of the host describes its threshold. */
export const alertRule = z.object({
  kind: alertKind,
  on: z.boolean(),
  /** Value from which the rule raises an alert, in the unit of its kind. */
  threshold: z.number().positive().max(1e9),
  /** Time the condition must last before an alert, s. */
  forS: z.number().min(0).max(3_600),
  /** True to open an incident; else only alert. */
  opens: z.boolean(),
})
export type AlertRule = z.infer<typeof alertRule>

export const alertRuleView = alertRule.extend({
  title: text,
  plane: alertPlane,
  /** Measure compared with the threshold, and its unit. */
  about: text,
  unit: text,
  least: z.number(),
  most: z.number(),
  /** Clear level as a share of the threshold, and time below it after which an alert ends, s. 0: it ends only at 0. */
  clear: z.number().min(0).max(1),
  holdS: z.number().nonnegative(),
  /** Default. */
  usual: alertRule,
})
export type AlertRuleView = z.infer<typeof alertRuleView>

/** A bundle in the bundle folder. */
export const bundleRow = z.object({
  name: text,
  bytes: count,
  writtenMs: ms,
  cluster: text,
  title: text,
  incident: incidentId.nullable(),
  fromMs: ms,
  toMs: ms,
  redacted: z.boolean(),
  /** Reason why it cannot be opened; empty if it can. */
  fault: text,
})
export type BundleRow = z.infer<typeof bundleRow>

export const incidentsQuery = z.object({
  /** Incident whose cells are requested; null: none. */
  selected: incidentId.nullable().default(null),
  /** Filter, for example `ana text:ost0003 is:open`. */
  filter: z.string().max(500).default(''),
})
export type IncidentsQuery = z.infer<typeof incidentsQuery>

export const incidentsFrame = z.object({
  ...head,
  /** Newest first. */
  incidents: z.array(
    z.object({
      id: incidentId,
      title: text,
      status: incidentStatus,
      cluster: text,
      author: text,
      createdMs: ms,
      resolvedMs: ms.nullable(),
      alert: alertKind.nullable(),
      cells: count,
      /** Reason why it cannot be read; empty if it can. */
      fault: text,
    }),
  ),
  filterError,
  /**
   * Notebooks that match, newest first, with the entries that contain the words of the filter. `reading`: how many were not searched yet;
   * their matches come with a later frame. All notebooks are sent, because other views use this frame.
   */
  filtered: filtered
    .extend({ found: z.array(z.object({ id: incidentId, cells: z.array(text) })), reading: count })
    .optional(),
  /** The requested incident; null: none, or it was removed. */
  selected: incident.nullable(),
  /** Hash of the current notebook, as in a bundle of it. */
  integrity: z.string().nullable(),
  /** Newest first, active ones before ended ones. At most 100. */
  alerts: z.array(alert),
  bundles: z.array(bundleRow),
  /** Bundle folder; null: nothing is stored on disk. */
  folder: z.string().nullable(),
  /** The open bundle; null if none is open. */
  opened: z.object({ name: text, manifest, incident: incident.nullable(), integrity: text }).nullable(),
})
export type IncidentsFrame = z.infer<typeof incidentsFrame>

/** Source of a new cell; the host prefills it from the cursor time. */
export const cellInput = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('note'), text: z.string().max(20_000) }),
  /** of: the job or target that is charted; null: the whole source. */
  z.object({
    kind: z.literal('chart'),
    measure: z.enum(['rpcs', 'bytes', 'serviceMs', 'queued', 'jobs', 'targets']),
    of: z.object({ kind: z.enum(['job', 'target']), name: z.string().max(256) }).nullable(),
  }),
  z.object({
    kind: z.literal('table'),
    table: z.enum(['movers', 'top', 'targets']),
    /** Ranges compared for movers; by default the minute around the cursor and the time before it. */
    spans: z.object({ a: span, b: span }).optional(),
  }),
  z.object({ kind: z.literal('diff') }),
  /** run: id of a sandbox result; null: the newest one. */
  z.object({ kind: z.literal('verdict'), run: z.string().max(64).nullable() }),
  /** text: pasted lines; null: commands sent to servers in the span. */
  z.object({ kind: z.literal('transcript'), text: z.string().max(20_000).nullable() }),
])
export type CellInput = z.infer<typeof cellInput>

export const exportInput = z.object({
  /** Notebook included; null: samples only. */
  incident: incidentId.nullable(),
  span,
  redact: z.boolean().default(true),
  /** fit: all samples of as many jobs as 20 MB allow, 10 s means for the rest; all: everything stored. */
  detail: z.enum(['fit', 'all']).default('fit'),
  leaveOut: z.array(memberGroup).max(16).default([]),
  /** File name without the `.zip`; null: derived from the incident and the time. */
  name: z.string().min(1).max(120).nullable().default(null),
})
export type ExportInput = z.infer<typeof exportInput>

/** Content of an export. */
export const exportPreview = z.object({
  /** Every exported field and its redaction. */
  fields: z.array(z.object({ group: memberGroup, field: text, how: z.enum(['kept', 'pseudonym', 'names replaced']) })),
  /** Data that is never written, as text. */
  never: z.array(text),
  /** Names by kind: their number, and some with their pseudonyms. */
  names: z.array(z.object({ kind: text, count, samples: z.array(z.object({ from: text, to: text })).max(50) })),
  /** Known names in free text: replaced like the others; unknown names cannot be. */
  findings: z.array(z.object({ cell: text, name: text, to: text })).max(500),
  contents: z.array(z.object({ group: memberGroup.nullable(), what: text, bytes: count, left: z.boolean() })),
  /** Estimated size of the archive. */
  bytes: count,
  /** Resolution of the samples in the range, and their number. */
  samples: z.object({ tier: z.string().max(16), instants: count }).optional(),
  /** Data that cannot be included: evicted ranges, gaps, an empty range. */
  missing: z.array(text),
})
export type ExportPreview = z.infer<typeof exportPreview>

export const exportEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    what: text,
    /** Fraction of the total, 0..1. */
    done: z.number().min(0).max(1),
    /** Items of the current step, if counted. */
    items: z.object({ done: count, of: count, unit: text }).optional(),
  }),
  z.object({
    kind: z.literal('done'),
    name: text,
    file: text,
    bytes: count,
    /** SHA-256 of the whole file. */
    sha256: text,
    /** SHA-256 of its content, equal in two exports of the same data. */
    content: text,
    missing: z.array(text),
  }),
  z.object({ kind: z.literal('failed'), notice }),
])
export type ExportEvent = z.infer<typeof exportEvent>

export const verdictOfBundle = z.object({
  ok: z.boolean(),
  /** Members (or `archive`) that were modified, and how. */
  changed: z.array(z.object({ member: text, why: text })),
  manifest: manifest.nullable(),
  sha256: text,
})
export type VerdictOfBundle = z.infer<typeof verdictOfBundle>
