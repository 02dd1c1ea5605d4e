/**
 * Preview of a bundle before it is written: every field and its treatment, names and their replacements, known names in
 * free text, members and their approximate sizes, and missing parts. Nothing is written, not even a key if there is
 * none yet: the code function is passed in.
 */
import type { Database } from 'better-sqlite3'
import type { ExportInput, ExportPreview, MemberGroup } from '#core/api/incidents.ts'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { leavingFields, NEVER } from '#core/snapshot/fields.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { redactorInSteps, type Pseudonyms } from '#core/snapshot/pseudonyms.ts'
import { isProse } from '#core/snapshot/redact-notebook.ts'
import { FileReader } from '../../history/file-reader.ts'
import { runCooperatively } from '../../history/cooperative.ts'
import type { BundleSource, AuditSlice, RawReading } from '../bundle/bundle-source.ts'
import { FIT_JOB_SAMPLES_MAX, FIT_MEANS_BYTES_MAX } from '../../history/fit-to-limits.ts'
import { SECOND } from '../../history/tiers.ts'
import { namesFailure, namesInSteps } from './names.ts'
import type { NameCode } from './pseudonym-key.ts'

/**
 * Bytes in the archive: per byte of packed samples, per row, per character. From bundles of emulated clusters; sizes
 * estimated with these factors are usually right within a factor of two.
 */
const PACKED = 0.8
const CSV_ROW = 14
const CSV_ROWS_MAX = 120_000
const EVENT = 60
const RULE = 24
const DEFLATED = 0.7
const AUDIT_CHAR = 0.03
const AUDIT_RECORD = 60
const TEXT_CHAR = 0.2
const CHART = 60_000
const PAGES = 300_000

interface HistoryCounts {
  readonly samples: number
  readonly instants: number
  /** Finest available resolution: raw, 1s, 10s, 1min; null: none. */
  readonly tier: string | null
  readonly targets: number
  readonly bytes: number
  readonly events: number
  readonly rules: number
  readonly planeBytes: number
  readonly convoyBytes: number
}

/** Contents of a span; packed bytes as far as a bundle of that detail includes them. */
function countHistory(db: Database, cluster: number, span: Span, detail: 'fit' | 'all'): HistoryCounts {
  const from = Math.floor(span.fromMs)
  const to = Math.ceil(span.toMs)
  const tiers = db
    .prepare(
      `SELECT kind, tier, count(*) AS blocks, sum(n) AS samples, sum(length(lead) + length(rest)) AS bytes FROM block
       WHERE cluster = ? AND kind IN (0, 1) AND tier BETWEEN 0 AND 3 AND at_ms >= ? AND at_ms < ? GROUP BY kind, tier`,
    )
    .all(cluster, from, to) as { kind: number; tier: number; blocks: number; samples: number; bytes: number }[]
  let bytes = 0
  for (const t of tiers) {
    const isMost = detail === 'fit' && t.kind === 0 && t.samples > FIT_JOB_SAMPLES_MAX
    if (!isMost) bytes += t.bytes
    else
      bytes += t.tier <= SECOND ? (t.bytes * FIT_JOB_SAMPLES_MAX) / t.samples : Math.min(t.bytes, FIT_MEANS_BYTES_MAX)
  }
  const number = (sql: string): number => Number(db.prepare(sql).pluck().get(cluster, from, to) ?? 0)
  const ofCluster = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
  const finest = (kind: number): { blocks: number; samples: number } =>
    tiers.filter((t) => t.kind === kind).sort((a, b) => a.tier - b.tier)[0] ?? { blocks: 0, samples: 0 }
  const least = Math.min(...tiers.map((t) => t.tier))
  return {
    samples: finest(0).samples,
    instants: Math.max(finest(0).blocks, finest(1).blocks),
    tier: ['raw', '1s', '10s', '1min'][least] ?? null,
    targets: finest(1).samples,
    bytes,
    events: number(`SELECT count(*) FROM event WHERE ${ofCluster} AND at_ms >= ? AND at_ms < ?`),
    rules: Number(
      db
        .prepare(`SELECT count(*) FROM rule WHERE ${ofCluster} AND from_ms < ? AND (to_ms IS NULL OR to_ms >= ?)`)
        .pluck()
        .get(cluster, to, from),
    ),
    planeBytes: number(
      'SELECT sum(length(lead) + length(rest)) FROM block WHERE cluster = ? AND kind > 2 AND at_ms >= ? AND at_ms < ?',
    ),
    convoyBytes: number('SELECT sum(length(data)) FROM convoy WHERE cluster = ? AND from_ms >= ? AND from_ms < ?'),
  }
}

const historyBytes = (c: HistoryCounts): number =>
  Math.round(c.bytes * PACKED + c.events * EVENT + c.rules * RULE + (c.planeBytes + c.convoyBytes) * DEFLATED)

const csvBytes = (c: HistoryCounts, detail: 'fit' | 'all'): number => {
  const rows = detail === 'all' ? c.samples : Math.min(c.samples, CSV_ROWS_MAX)
  return Math.round((rows + c.targets + c.instants) * CSV_ROW + c.events * EVENT + c.rules * RULE)
}

const auditBytes = (slice: AuditSlice | null): number =>
  Math.round((slice?.records ?? []).reduce((n, r) => n + AUDIT_RECORD + r.text.length * AUDIT_CHAR, 0))

const readingBytes = (readings: readonly RawReading[]): number =>
  Math.round(readings.reduce((n, r) => n + r.text.length * TEXT_CHAR, 0))

const notebookBytes = (incident: Incident | null): number =>
  incident ? Math.round(JSON.stringify(incident).length * TEXT_CHAR) : 0

const chartBytes = (incident: Incident | null): number =>
  (incident?.cells ?? []).filter((c) => c.kind === 'chart').length * CHART

const ruleTextBytes = (c: HistoryCounts): number => Math.min(c.rules, 10_000) * RULE

/** README.html with its data, report and manifest. */
const PAGE_BYTES = PAGES

const SAMPLES_MOST = 50
const FINDINGS_MOST = 500
const MISSING_MOST = 200
const GROUPS: readonly MemberGroup[] = ['notebook', 'history', 'csv', 'rules', 'audit', 'readings', 'charts']

/** Source whose audit and readings are read once. */
function once(source: BundleSource, span: Span): BundleSource {
  const audit = source.audit(span.fromMs, span.toMs)
  const readings = source.readings(span.fromMs, span.toMs)
  return {
    db: source.db,
    cluster: source.cluster,
    source: source.source,
    isRedacted: source.isRedacted,
    notebook: source.notebook,
    missing: source.missing ?? [],
    audit: () => audit,
    readings: () => readings,
  }
}

/** Free texts, by location, as `redactIncident` treats them. */
function* textsOf(incident: Incident): Generator<readonly [cell: string, text: string, isProse: boolean]> {
  yield ['title', incident.title, true]
  if (incident.alert) yield ['alert', incident.alert.text, true]
  for (const cell of incident.cells) {
    if (cell.kind === 'note') yield [cell.id, cell.text, true]
    else if (cell.kind === 'transcript') for (const line of cell.lines) yield [cell.id, line.text, isProse(line.kind)]
    else {
      yield [cell.id, cell.title, true]
      if (cell.kind === 'chart') for (const mark of cell.marks) yield [cell.id, mark.text, true]
      if (cell.kind === 'verdict')
        for (const text of [...cell.parts.map((p) => p.text), cell.detail]) yield [cell.id, text, true]
    }
  }
}

function findingsOf(incident: Incident | null, r: Pseudonyms): ExportPreview['findings'] {
  const found = new Map<string, ExportPreview['findings'][number]>()
  for (const [cell, text, isWritten] of incident ? textsOf(incident) : []) {
    for (const { from, to } of r.findings(text, isWritten)) {
      found.set(`${cell}\u0000${from}`, { cell, name: from, to })
      if (found.size >= FINDINGS_MOST) return [...found.values()]
    }
  }
  return [...found.values()]
}

function* namesOf(r: Pseudonyms): Generator<undefined, ExportPreview['names'], void> {
  const names: ExportPreview['names'] = []
  for (const kind of r.kinds) {
    const { count, pairs } = r.pairs(kind, SAMPLES_MOST)
    if (count > 0) names.push({ kind, count, samples: [...pairs] })
    yield
  }
  return names
}

const clock = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

function missingOf(source: BundleSource, { fromMs, toMs }: Span, counts: HistoryCounts): string[] {
  const reader = new FileReader(source.db, source.cluster, { name: source.source.cluster, isOwner: false })
  const missing = [...(source.missing ?? [])]
  const extent = reader.extent()
  if (!extent || extent.toMs < fromMs || extent.fromMs >= toMs) missing.push('No data in this range.')
  else {
    for (const gap of reader.gaps(fromMs, toMs - 1)) {
      missing.push(`No samples from ${clock(gap.fromMs)} to ${clock(gap.toMs)}${gap.why === '' ? '' : `: ${gap.why}`}.`)
    }
    if (counts.instants === 0) missing.push('No samples of jobs or targets.')
  }
  const evicted = source.db
    .prepare(
      'SELECT from_ms, to_ms, tier, reason FROM eviction WHERE cluster = ? AND from_ms < ? AND to_ms >= ? ORDER BY id',
    )
    .all(source.cluster, Math.ceil(toMs), Math.floor(fromMs)) as { from_ms: number; to_ms: number; reason: string }[]
  for (const e of evicted) {
    missing.push(`Samples from ${clock(e.from_ms)} to ${clock(e.to_ms)} were deleted (${e.reason}).`)
  }
  return [...new Set(missing)].slice(0, MISSING_MOST)
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

function contentsOf(
  source: BundleSource,
  input: ExportInput,
  incident: Incident | null,
  counts: HistoryCounts,
): ExportPreview['contents'] {
  const { fromMs, toMs } = input.span
  const audit = source.audit(fromMs, toMs)
  const readings = source.readings(fromMs, toMs)
  const omitted = new Set(input.leaveOut)
  const part = (group: MemberGroup | null, what: string, bytes: number): ExportPreview['contents'][number] => ({
    group,
    what,
    bytes: Math.round(bytes),
    left: group !== null && omitted.has(group),
  })
  const charts = (incident?.cells ?? []).filter((c) => c.kind === 'chart').length
  return [
    part(null, 'README.html, report, manifest', PAGE_BYTES),
    part('history', `${counts.instants} samples (history.qosrec)`, historyBytes(counts)),
    part('csv', 'Samples, events, rules as CSV', csvBytes(counts, input.detail)),
    part('rules', 'Rules before and after', ruleTextBytes(counts)),
    ...(incident ? [part('notebook', counted(incident.cells.length, 'notebook cell'), notebookBytes(incident))] : []),
    ...(audit ? [part('audit', counted(audit.records.length, 'audit record'), auditBytes(audit))] : []),
    ...(readings.length > 0 ? [part('readings', counted(readings.length, 'raw reading'), readingBytes(readings))] : []),
    ...(charts > 0 ? [part('charts', `${counted(charts, 'chart')} as SVG and PNG`, chartBytes(incident))] : []),
  ]
}

/**
 * Contents of a bundle of `input`; sizes are estimates.
 *
 * @param code  pseudonyms of names under this console's key.
 * @returns     failures: NAMES_TOO_MANY, PREVIEW_FAILED if the history cannot be read.
 */
export function previewOf(
  source: BundleSource,
  input: ExportInput,
  incident: Incident | null,
  code: NameCode,
): Promise<Result<ExportPreview>> {
  return runCooperatively(makePreview(source, input, incident, code))
}

/** Makes a preview in steps: with ten thousand names it takes a third of a second, and its thread samples, too. */
function* makePreview(
  source: BundleSource,
  input: ExportInput,
  incident: Incident | null,
  code: NameCode,
): Generator<undefined, Result<ExportPreview>, void> {
  try {
    const { span } = input
    const read = once(source, span)
    const isOn = input.redact && !source.isRedacted
    const notebook = input.leaveOut.includes('notebook') ? null : incident
    const counts = countHistory(source.db, source.cluster, span, input.detail)
    let r: Pseudonyms | undefined
    if (isOn) {
      yield
      const names = yield* namesInSteps(read, span, incident, { isQuick: true })
      const failure = namesFailure(names)
      if (failure) return fail(failure)
      r = yield* redactorInSteps(names, code)
    }
    yield
    const contents = contentsOf(read, input, incident, counts)
    const leaving = GROUPS.filter((g) => !input.leaveOut.includes(g))
    return ok({
      fields: leavingFields(leaving, isOn),
      never: [...NEVER],
      names: r ? yield* namesOf(r) : [],
      findings: r ? findingsOf(notebook, r) : [],
      contents,
      bytes: contents.reduce((n, c) => n + (c.left ? 0 : c.bytes), 0),
      ...(counts.tier === null ? {} : { samples: { tier: counts.tier, instants: counts.instants } }),
      missing: missingOf(read, span, counts),
    })
  } catch (e) {
    return fail({
      code: 'PREVIEW_FAILED',
      what: 'No preview available',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'Nothing was written.',
      next: 'Choose another range.',
    })
  }
}
