/** Incidents: notebooks, alerts and bundles as a window sees them. Times are Unix ms on the source's clock. */
import * as z from 'zod'
import { alertKind, cell, incident, incidentId, incidentStatus } from '../snapshot/notebook.ts'
import { manifest, memberGroup } from '../snapshot/manifest.ts'
import { span } from './history.ts'
import { filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

export { alertKind, cell, incident, incidentId, incidentStatus, memberGroup }
export type { AlertKind, Cell, CellKind, Incident, IncidentStatus } from '../snapshot/notebook.ts'
export type { Manifest, MemberGroup } from '../snapshot/manifest.ts'

const count = z.number().int().nonnegative()
const text = z.string()

/** Something that is wrong, or was. */
export const alert = z.object({
  id: text,
  kind: alertKind,
  level,
  /** One line: what, and how much of it. */
  text,
  /** Target, server, job or client it is about; empty for the cluster. */
  where: text,
  fromMs: ms,
  /** null: it goes on. */
  endMs: ms.nullable(),
  /** Incident that it opened or joined. */
  incident: incidentId.nullable(),
})
export type Alert = z.infer<typeof alert>

/** Of one kind of alert. What its threshold counts is said by `alertRules` of the host. */
export const alertRule = z.object({
  kind: alertKind,
  on: z.boolean(),
  /** In the unit of the kind. */
  threshold: z.number().positive().max(1e9),
  /** How long it must last before it is told, s. */
  forS: z.number().min(0).max(3_600),
  /** Whether it opens an incident, or is only told. */
  opens: z.boolean(),
})
export type AlertRule = z.infer<typeof alertRule>

export const alertRuleFace = alertRule.extend({
  title: text,
  /** What is compared with the threshold, and its unit. */
  about: text,
  unit: text,
  least: z.number(),
  most: z.number(),
  /** As it is shipped. */
  usual: alertRule,
})
export type AlertRuleFace = z.infer<typeof alertRuleFace>

/** A bundle in the folder of bundles. */
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
  /** Why it cannot be opened; empty for one that can. */
  fault: text,
})
export type BundleRow = z.infer<typeof bundleRow>

export const incidentsQuery = z.object({
  /** Incident whose cells are wanted; null: none. */
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
      /** Why it cannot be read; empty for one that can. */
      fault: text,
    }),
  ),
  filterError,
  /**
   * Notebooks that pass, newest first, with the entries in which the words of the filter stand. `reading`: how many were not read
   * yet; what is found in them comes with a later frame. All notebooks are sent: others ask this frame for them.
   */
  filtered: filtered
    .extend({ found: z.array(z.object({ id: incidentId, cells: z.array(text) })), reading: count })
    .optional(),
  /** The one asked for; null: none, or it is gone. */
  selected: incident.nullable(),
  /** Hash of the notebook as it stands, as it would be in a bundle of it. */
  integrity: z.string().nullable(),
  /** Newest first, those that go on before those that are over. At most 100. */
  alerts: z.array(alert),
  bundles: z.array(bundleRow),
  /** Folder of the bundles; null: nothing is kept on disk. */
  folder: z.string().nullable(),
  /** What an open bundle is; null while none is on screen. */
  opened: z.object({ name: text, manifest, incident: incident.nullable(), integrity: text }).nullable(),
})
export type IncidentsFrame = z.infer<typeof incidentsFrame>

/** What a new cell is made of; the host fills it with what stood at the cursor. */
export const cellInput = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('note'), text: z.string().max(20_000) }),
  /** what: the chart of a measure, of the whole source or of one job or target. */
  z.object({
    kind: z.literal('chart'),
    measure: z.enum(['rpcs', 'bytes', 'serviceMs', 'queued', 'jobs', 'targets']),
    of: z.object({ kind: z.enum(['job', 'target']), name: z.string().max(256) }).nullable(),
  }),
  z.object({
    kind: z.literal('table'),
    table: z.enum(['movers', 'top', 'targets']),
    /** What movers are compared between; the minute around the cursor and what was before it by default. */
    spans: z.object({ a: span, b: span }).optional(),
  }),
  z.object({ kind: z.literal('diff') }),
  /** run: id of a result of the sandbox; null: the newest one. */
  z.object({ kind: z.literal('verdict'), run: z.string().max(64).nullable() }),
  /** text: pasted lines; null: what was sent to servers in the span. */
  z.object({ kind: z.literal('transcript'), text: z.string().max(20_000).nullable() }),
])
export type CellInput = z.infer<typeof cellInput>

export const exportInput = z.object({
  /** Notebook that goes with it; null: samples only. */
  incident: incidentId.nullable(),
  span,
  redact: z.boolean().default(true),
  /** fit: jobs with all their samples as far as 20 MB allow, the rest as means of ten seconds; all: everything that is kept. */
  detail: z.enum(['fit', 'all']).default('fit'),
  leaveOut: z.array(memberGroup).max(16).default([]),
  /** Without the `.zip`; null: made of the incident and the time. */
  name: z.string().min(1).max(120).nullable().default(null),
})
export type ExportInput = z.infer<typeof exportInput>

/** What would leave. */
export const exportPreview = z.object({
  /** Every field that leaves, and how. */
  fields: z.array(z.object({ group: memberGroup, field: text, how: z.enum(['kept', 'pseudonym', 'names replaced']) })),
  /** What is never written, in words. */
  never: z.array(text),
  /** Names by kind: how many, and some with their stand-ins. */
  names: z.array(z.object({ kind: text, count, samples: z.array(z.object({ from: text, to: text })).max(50) })),
  /** Known names in what people wrote: they are replaced like the others; names nobody knows cannot be. */
  findings: z.array(z.object({ cell: text, name: text, to: text })).max(500),
  contents: z.array(z.object({ group: memberGroup.nullable(), what: text, bytes: count, left: z.boolean() })),
  /** Estimated size of the archive. */
  bytes: count,
  /** Resolution of the samples in the stretch, and how many instants of them. */
  samples: z.object({ tier: z.string().max(16), instants: count }).optional(),
  /** What cannot be in it: evicted stretches, gaps, an empty range. */
  missing: z.array(text),
})
export type ExportPreview = z.infer<typeof exportPreview>

export const exportEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    what: text,
    /** Part of the whole, 0..1. */
    done: z.number().min(0).max(1),
    /** Items of what is being done now, where they are counted. */
    items: z.object({ done: count, of: count, unit: text }).optional(),
  }),
  z.object({
    kind: z.literal('done'),
    name: text,
    file: text,
    bytes: count,
    /** Of the whole file; and of its content, which two exports of the same share. */
    sha256: text,
    content: text,
    missing: z.array(text),
  }),
  z.object({ kind: z.literal('failed'), notice }),
])
export type ExportEvent = z.infer<typeof exportEvent>

export const verdictOfBundle = z.object({
  ok: z.boolean(),
  /** Members (or `archive`) that are not as they were written, and how. */
  changed: z.array(z.object({ member: text, why: text })),
  manifest: manifest.nullable(),
  sha256: text,
})
export type VerdictOfBundle = z.infer<typeof verdictOfBundle>
