/**
 * Writes a bundle: an excerpt of the history first, redacted and reduced; then everything else from that excerpt, so
 * that no other data can enter. The notebook, the audit and readings go through the same redactor.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { ExportInput } from '#core/api/incidents.ts'
import { formatInstant } from '#core/base/clock-text.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { BUNDLE_FORMAT, HISTORY, MANIFEST, README, REPORT, type Manifest } from '#core/snapshot/manifest.ts'
import type { ChartCell, Incident, NameKind } from '#core/snapshot/notebook.ts'
import type { PageFacts } from '#core/snapshot/page-facts.ts'
import { PLAIN, type Redactor } from '#core/snapshot/redactor.ts'
import { chartSvg } from '#core/snapshot/chart-svg.ts'
import { makeRedactor } from '#core/snapshot/pseudonyms.ts'
import { redactIncident } from '#core/snapshot/redact-notebook.ts'
import { reportMarkdown } from '#core/snapshot/report.ts'
import { standardCharts } from '#core/snapshot/standard-charts.ts'
import { PLANE_TABLES } from '#core/series/plane-tables.ts'
import { fixedJobColors, type JobColors } from '#core/series/job-colors.ts'
import type { Span } from '#core/api/history.ts'
import { writeExcerpt, type ExcerptFacts } from '../../history/excerpt.ts'
import { FileReader } from '../../history/file-reader.ts'
import { keepJobColors } from '../../history/job-color-setting.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { auditFacts } from './audit-member.ts'
import { chartCells, membersOf, type Member } from './bundle-members.ts'
import type { AuditSlice, BundleSource, RawReading } from './bundle-source.ts'
import { contentHash } from './content-hash.ts'
import { dropFolder, privateFolder } from '../shelf/private-folder.ts'
import { replayData } from '../page/replay-data.ts'
import { firstRulesMs, rulesAt, rulesText } from './rule-texts.ts'
import { collectNames, namesFailure } from '../redaction/names.ts'
import { redactAudit } from '../redaction/redact-audit.ts'
import { redactReadings } from '../redaction/redact-readings.ts'
import { svgToPng } from '../page/png.ts'
import { readmePage } from '../page/readme-page.ts'
import { writeZip, type WrittenMember, type ZipMember } from '../zip/zip-out.ts'

const EVENTS = 20_000
const NAMED_MOST = 1_000
const JOBID = /jobid=\{([^{}]*)\}/g

/** Jobs whose samples are always kept in full: those that cells, events and rules of a range name. */
function jobsNamed(reader: HistoryReader, span: Span, incident: Incident | null): Set<string> {
  const named = new Set<string>()
  for (const cell of incident?.cells ?? []) {
    if (cell.kind === 'chart') {
      if (cell.place.kind === 'job') for (const name of cell.place.names) named.add(name)
      for (const s of cell.series) if (s.label.kind === 'job') named.add(s.label.text)
    } else if (cell.kind === 'table') {
      for (const r of cell.rows) if (r.name.kind === 'job') named.add(r.name.text)
    }
  }
  const mentioned = new Set<string>()
  for (const e of reader.events(span.fromMs - 1, span.toMs - 1, EVENTS)) {
    mentioned.add(e.subject)
    mentioned.add(e.where)
  }
  for (const rule of reader.rulesBetween(span.fromMs, span.toMs - 1)) {
    for (const [, list = ''] of rule.conditions.matchAll(JOBID)) for (const name of list.split(' ')) mentioned.add(name)
  }
  // In order of first mention, so that the same source gives the same selection.
  for (const name of mentioned) {
    if (named.size >= NAMED_MOST) break
    if (name !== '' && reader.jobByName(name)) named.add(name)
  }
  return named
}

export interface WriteOptions {
  readonly incident: Incident | null
  readonly file: string
  /** Replacement of a name; used unless the source is redacted already. */
  readonly code: (kind: NameKind, text: string) => string
  /** Version of this program. */
  readonly version: string
  readonly nowMs: number
  /** Folder of the excerpt; a temporary folder by default. */
  readonly work?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?:
    ((what: string, done: number, items?: { done: number; of: number; unit: string }) => void) | undefined
}

export interface WrittenBundle {
  readonly bytes: number
  readonly sha256: string
  readonly content: string
  readonly missing: readonly string[]
}

const CANCELLED: Failure = {
  code: 'BUNDLE_CANCELLED',
  what: 'The bundle was not written',
  why: 'the export was canceled',
  unaffected: 'No file was left.',
}
/** Scale of a chart's PNG. */
const SCALE = 2
const MISSING_MOST = 200
const INEXACT = 'Redacted rule patterns, which may match other jobs or addresses than the originals.'
const NO_PICTURES = 'Charts are there as SVG only: this machine could not draw their PNG pictures.'

/** Redacted inputs of the members. */
interface RedactedInputs {
  readonly reader: HistoryReader
  readonly file: string
  readonly facts: ExcerptFacts
  readonly incident: Incident | null
  readonly audit: AuditSlice | null
  readonly readings: readonly RawReading[]
  readonly source: Manifest['source']
  readonly redactor: Redactor
  /** Colors of jobs under the names of the excerpt. */
  readonly jobColors: JobColors
  /** Patterns of rules that could not be redacted exactly. */
  readonly inexact: () => number
  /** Newest sample of the source, in the span or not. */
  readonly newestMs: number | undefined
}

function redactSource(source: Manifest['source'], r: Redactor): Manifest['source'] {
  return {
    ...source,
    cluster: r.name('cluster', source.cluster),
    scenario: source.scenario === null ? null : r.prose(source.scenario),
    releases: source.releases.map(({ server, release }) => {
      return { server: r.name('host', server), release: r.text(release) }
    }),
  }
}

/** Colors of the jobs of a source, under the names of its excerpt: a job has the same key in both. */
function colorsIn(
  colors: NonNullable<BundleSource['colors']>,
  named: HistoryReader,
  excerpt: HistoryReader,
): JobColors {
  const jobColors = fixedJobColors()
  for (const [jobId, color] of colors) {
    const job = named.jobByName(jobId)
    const copied = job && excerpt.job(job.key)
    if (copied) jobColors.restore(copied.jobId, color)
  }
  return jobColors
}

/** Stores the colors with the jobs: the bundle opens with them. */
function keepColors({ file, reader, jobColors }: RedactedInputs): void {
  const byKey = new Map<number, number>()
  for (const [jobId, color] of jobColors.entries()) {
    const job = reader.jobByName(jobId)
    if (job) byKey.set(job.key, color)
  }
  const db = new Database(file)
  try {
    db.pragma('journal_mode = MEMORY')
    keepJobColors(db, byKey)
  } finally {
    db.close()
  }
}

async function gather(
  source: BundleSource,
  input: ExportInput,
  o: WriteOptions,
  folder: string,
): Promise<Result<RedactedInputs>> {
  const { span } = input
  const isOn = input.redact && !source.isRedacted
  o.progress?.('Names', 0)
  const known = isOn ? collectNames(source, span, o.incident) : undefined
  const failure = known && namesFailure(known)
  if (failure) return fail(failure)
  const names = known && makeRedactor(known, o.code)
  const redactor = names ?? PLAIN
  const named = new FileReader(source.db, source.cluster, { name: source.source.cluster, isOwner: false })
  const file = join(folder, HISTORY)
  const excerpt = await writeExcerpt(source.db, source.cluster, span, file, {
    redactor,
    detail: input.detail,
    keepJobs: jobsNamed(named, span, o.incident),
    progress: (done) => o.progress?.('Samples', 0.05 + 0.45 * done),
    ...(o.signal ? { signal: o.signal } : {}),
  })
  if (!excerpt.ok) return o.signal?.aborted ? fail(CANCELLED) : excerpt
  const db = new Database(file, { readonly: true })
  const cluster = db.prepare('SELECT id, name FROM cluster ORDER BY id LIMIT 1').get() as { id: number; name: string }
  const slice = source.audit(span.fromMs, span.toMs)
  const reader = new FileReader(db, cluster.id, { name: cluster.name, isOwner: true })
  return ok({
    reader,
    jobColors: colorsIn(source.colors ?? [], named, reader),
    file,
    facts: excerpt.value,
    redactor,
    inexact: () => names?.inexact ?? 0,
    newestMs: named.extent()?.toMs,
    incident: o.incident && redactIncident(o.incident, redactor),
    audit: slice && (isOn ? { ...redactAudit(slice, redactor), isRehashed: true } : slice),
    readings: redactReadings(source.readings(span.fromMs, span.toMs), redactor),
    source: redactSource(source.source, redactor),
  })
}

type ManifestFacts = PageFacts['manifest']

/** Tolerance for a span that ends after the newest sample; the history is written a few seconds at a time. */
const AHEAD_MS = 5_000
const aheadOf = (newestMs: number | undefined, toMs: number): string[] =>
  newestMs === undefined || toMs - newestMs <= AHEAD_MS
    ? []
    : [`The newest sample is of ${formatInstant(newestMs)} UTC: later data is not included.`]

/** Most convoys that are counted: those of a hundred days. */
const CONVOYS_MOST = 2_000

const planesOf = (reader: HistoryReader, { fromMs, toMs }: Span): Pick<Manifest['samples'], 'planes' | 'convoys'> => ({
  planes: PLANE_TABLES.map(({ id, title }) => {
    return { table: id, title, series: reader.allPlaneSeries(id).filter((s) => !s.isOthers).length }
  }).filter(({ series }) => series > 0),
  convoys: reader.convoys(fromMs, toMs - 1, CONVOYS_MOST).length,
})

function factsOf(redacted: RedactedInputs, source: BundleSource, input: ExportInput, o: WriteOptions): ManifestFacts {
  const { facts, incident, audit } = redacted
  const omitted = new Set(input.leaveOut)
  const { servers, targets, jobs, instants, tier, jobsWhole } = facts
  const missing = [
    // The ability to draw pictures belongs to this machine, not to the one that wrote the opened bundle.
    ...(source.missing ?? []).filter((text) => text !== NO_PICTURES),
    ...facts.missing.map((text) => (text.endsWith('.') ? text : `${text}.`)),
    ...(source.missing ? [] : aheadOf(redacted.newestMs, input.span.toMs)),
    ...(redacted.inexact() > 0 ? [INEXACT] : []),
    ...[...omitted].sort().map((group) => `Excluded on request: ${group}.`),
    ...(!omitted.has('audit') && audit === null ? ['The audit could not be read.'] : []),
    ...(!omitted.has('readings') && redacted.readings.length === 0 ? ['Raw readings of servers are not kept.'] : []),
  ].map((text) => redacted.redactor.text(text).slice(0, 1_000))
  return {
    format: BUNDLE_FORMAT,
    product: 'sluice',
    version: o.version,
    incident:
      incident && !omitted.has('notebook') ? { id: incident.id, title: incident.title, status: incident.status } : null,
    source: redacted.source,
    range: input.span,
    samples: { servers, targets, jobs, instants, tier, jobsWhole, ...planesOf(redacted.reader, input.span) },
    missing: [...new Set(missing)].slice(0, MISSING_MOST),
    redaction: redacted.redactor.isOn || source.isRedacted ? 'pseudonyms' : 'none',
    audit: audit && !omitted.has('audit') ? auditFacts(audit) : null,
  }
}

const slug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48)
    .replace(/-+$/, '') || 'chart'

interface Chart {
  readonly name: string
  readonly svg: string
  readonly png: Buffer | null
}

async function charts(cells: readonly ChartCell[], version: string): Promise<Chart[]> {
  const out = []
  for (const [i, cell] of cells.entries()) {
    const svg = chartSvg(cell, { version })
    const name = `${String(i + 1).padStart(2, '0')}-${slug(cell.title)}`
    // A picture that cannot be made is omitted: its SVG shows the same.
    out.push({ name, svg, png: await svgToPng(svg, SCALE).catch(() => null) })
  }
  return out
}

/** Gathers the redacted inputs, runs a step on them, and removes the excerpt. */
async function withRedacted<T>(
  source: BundleSource,
  input: ExportInput,
  o: WriteOptions,
  use: (redacted: RedactedInputs) => Promise<Result<T>>,
): Promise<Result<T>> {
  let folder: string | undefined
  let reader: HistoryReader | undefined
  try {
    folder = privateFolder(o.work ?? tmpdir())
    const all = await gather(source, input, o, folder)
    if (!all.ok) return all
    reader = all.value.reader
    if (o.signal?.aborted) return fail(CANCELLED)
    return await use(all.value)
  } catch (e) {
    return fail({
      code: 'BUNDLE_FAILED',
      what: 'The bundle was not written',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'The history is not changed; no partial file was left.',
      next: 'Free space where bundles and temporary files are kept.',
    })
  } finally {
    reader?.close()
    if (folder !== undefined) dropFolder(folder)
  }
}

/**
 * Writes a bundle to a new file.
 *
 * Failures: those of the excerpt (an empty range, a full disk); BUNDLE_EXISTS, BUNDLE_FAILED, BUNDLE_CANCELLED: no file
 * is left then.
 */
export const writeBundle = (
  source: BundleSource,
  input: ExportInput,
  o: WriteOptions,
): Promise<Result<WrittenBundle>> => withRedacted(source, input, o, (redacted) => pack(redacted, source, input, o))

/** Writes the report alone, without hashes of members that are not written. Failures: those of the excerpt. */
export const writeReport = (
  source: BundleSource,
  input: ExportInput,
  o: Omit<WriteOptions, 'file'>,
): Promise<Result<string>> =>
  withRedacted(source, input, { ...o, file: '' }, async (redacted) => {
    const { description, data } = describe(redacted, source, input, { ...o, file: '' })
    return ok(reportMarkdown({ ...description, sealed: [] }, data))
  })

/** Texts and figures of the pages. */
function describe(redacted: RedactedInputs, source: BundleSource, input: ExportInput, o: WriteOptions) {
  const { reader } = redacted
  const { span } = input
  const incident = input.leaveOut.includes('notebook') ? null : redacted.incident
  const manifest = factsOf(redacted, source, input, o)
  const beginMs = firstRulesMs(reader, span)
  const before = rulesAt(reader, beginMs)
  const after = rulesAt(reader, span.toMs - 1)
  const rules = { before: rulesText(before), after: rulesText(after) }
  const description = { manifest, incident, span, rules }
  return {
    description,
    before,
    after,
    beginMs,
    incident,
    data: replayData(reader, { ...description, sealed: [] }, redacted.jobColors),
  }
}

async function pack(
  redacted: RedactedInputs,
  source: BundleSource,
  input: ExportInput,
  o: WriteOptions,
): Promise<Result<WrittenBundle>> {
  const { reader, audit, readings } = redacted
  const { span } = input
  const omitted = new Set(input.leaveOut)
  const { description: first, before, after, beginMs, incident, data } = describe(redacted, source, input, o)
  // After the pages, which give colors to their largest jobs.
  keepColors(redacted)
  const drawn = omitted.has('charts')
    ? []
    : [...standardCharts(data, { ...first, sealed: [] }), ...chartCells(incident)]
  const pictured = await charts(drawn, o.version)
  const missing = pictured.some(({ png }) => png === null)
    ? [...first.manifest.missing.slice(0, MISSING_MOST - 1), NO_PICTURES]
    : first.manifest.missing
  const manifest = { ...first.manifest, missing }
  const description = { ...first, manifest }
  const members = membersOf(
    {
      reader,
      history: redacted.file,
      span,
      incident,
      audit,
      readings,
      before,
      after,
      beginMs,
      samples: redacted.facts,
      isAll: input.detail === 'all',
      charts: pictured,
    },
    omitted,
  )
  const page = (name: string, written: readonly WrittenMember[]): ZipMember => {
    const facts = { ...description, sealed: written.slice(0, members.length) }
    return { name, content: () => (name === README ? readmePage(data, facts) : reportMarkdown(facts, data)) }
  }
  const about = new Map([...members, ...PAGES].map((m) => [m.name, m.about]))
  let content = ''
  const last = [
    (written: readonly WrittenMember[]) => page(REPORT, written),
    (written: readonly WrittenMember[]) => page(README, written),
    (written: readonly WrittenMember[]): ZipMember => {
      content = contentHash(written)
      const all = [...written].sort((a, b) => (a.name < b.name ? -1 : 1))
      const complete: Manifest = {
        ...manifest,
        createdMs: o.nowMs,
        members: all.map((m) => ({ ...m, about: about.get(m.name) ?? '' })),
        content,
      }
      return { name: MANIFEST, content: () => `${JSON.stringify(complete, null, 1)}\n` }
    },
  ]
  let n = 0
  const zip = await writeZip(o.file, members, last, {
    signal: o.signal,
    member: (name) => {
      const items = { done: n, of: members.length + last.length, unit: 'files' }
      o.progress?.(name, 0.5 + (0.5 * n++) / items.of, items)
    },
  })
  if (!zip.ok) return zip
  o.progress?.('Done', 1)
  return ok({ ...zip.value, content, missing })
}

const PAGES: readonly Pick<Member, 'name' | 'about'>[] = [
  { name: REPORT, about: 'The same as text, in Markdown' },
  { name: README, about: 'Opens in any browser and replays the range' },
]
