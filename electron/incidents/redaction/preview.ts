/**
 * What a bundle would hold, before one is written: every field and how it leaves, the names and what stands for them, known names in what
 * people wrote, the members and about how large they are, and what cannot be in it. Nothing is written, also no key where there is none
 * yet: the code is handed in.
 */
import type { ExportInput, ExportPreview, MemberGroup } from '#core/api/incidents.ts'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { leavingFields, NEVER } from '#core/snapshot/fields.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { redactorInSteps, type Pseudonyms } from '#core/snapshot/pseudonyms.ts'
import { FileReader } from '../../history/file-reader.ts'
import { inTurns } from '../../history/in-turns.ts'
import type { BundleSource } from '../bundle/bundle-source.ts'
import { namesFailure, namesInSteps } from './names.ts'
import {
  auditBytes,
  chartBytes,
  countHistory,
  csvBytes,
  historyBytes,
  notebookBytes,
  PAGE_BYTES,
  readingBytes,
  ruleTextBytes,
  type HistoryCounts,
} from './preview-bytes.ts'
import type { NameCode } from './pseudonym-key.ts'

const SAMPLES_MOST = 50
const FINDINGS_MOST = 500
const MISSING_MOST = 200
const GROUPS: readonly MemberGroup[] = ['notebook', 'history', 'csv', 'rules', 'audit', 'readings', 'charts']

/** The source with its audit and readings read once. */
function once(source: BundleSource, span: Span): BundleSource {
  const audit = source.audit(span.fromMs, span.toMs)
  const readings = source.readings(span.fromMs, span.toMs)
  return {
    ...{ db: source.db, cluster: source.cluster, source: source.source, isRedacted: source.isRedacted },
    ...{ notebook: source.notebook, missing: source.missing ?? [], audit: () => audit, readings: () => readings },
  }
}

/** What people wrote, by where it is. */
function* textsOf(incident: Incident): Generator<readonly [cell: string, text: string]> {
  yield ['title', incident.title]
  if (incident.alert) yield ['alert', incident.alert.text]
  for (const cell of incident.cells) {
    if (cell.kind === 'note') yield [cell.id, cell.text]
    else if (cell.kind === 'transcript') for (const line of cell.lines) yield [cell.id, line.text]
    else {
      yield [cell.id, cell.title]
      if (cell.kind === 'chart') for (const mark of cell.marks) yield [cell.id, mark.text]
      if (cell.kind === 'verdict')
        for (const text of [...cell.parts.map((p) => p.text), cell.detail]) yield [cell.id, text]
    }
  }
}

function findingsOf(incident: Incident | null, r: Pseudonyms): ExportPreview['findings'] {
  const found = new Map<string, ExportPreview['findings'][number]>()
  for (const [cell, text] of incident ? textsOf(incident) : []) {
    for (const { from, to } of r.findings(text)) {
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
  const kept = reader.kept()
  if (!kept || kept.toMs < fromMs || kept.fromMs >= toMs) missing.push('Nothing is kept of this span.')
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
    missing.push(`Samples from ${clock(e.from_ms)} to ${clock(e.to_ms)} were taken out (${e.reason}).`)
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
  const left = new Set(input.leaveOut)
  const part = (group: MemberGroup | null, what: string, bytes: number): ExportPreview['contents'][number] => ({
    ...{ group, what, bytes: Math.round(bytes), left: group !== null && left.has(group) },
  })
  const charts = (incident?.cells ?? []).filter((c) => c.kind === 'chart').length
  return [
    part(null, 'README.html, report, manifest', PAGE_BYTES),
    part('history', `${counts.instants} instants (history.qosrec)`, historyBytes(counts)),
    part('csv', 'Samples, events, rules as CSV', csvBytes(counts, input.detail)),
    part('rules', 'Rules before and after', ruleTextBytes(counts)),
    ...(incident ? [part('notebook', counted(incident.cells.length, 'notebook cell'), notebookBytes(incident))] : []),
    ...(audit ? [part('audit', counted(audit.records.length, 'audit record'), auditBytes(audit))] : []),
    ...(readings.length > 0 ? [part('readings', counted(readings.length, 'raw reading'), readingBytes(readings))] : []),
    ...(charts > 0 ? [part('charts', `${counted(charts, 'chart')} as SVG and PNG`, chartBytes(incident))] : []),
  ]
}

/**
 * What a bundle of `input` would hold; sizes are estimates.
 *
 * @param code  code of names under this console's key.
 * @returns     failures: NAMES_TOO_MANY, PREVIEW_FAILED where the history cannot be read.
 */
export function previewOf(
  source: BundleSource,
  input: ExportInput,
  incident: Incident | null,
  code: NameCode,
): Promise<Result<ExportPreview>> {
  return inTurns(makePreview(source, input, incident, code))
}

/** In steps: with ten thousand names it takes a third of a second, and whoever asks is a thread that samples, too. */
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
      what: 'There is no preview',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'Nothing was written.',
      next: 'Choose another span.',
    })
  }
}
