/** Members of a bundle except its pages: all but the audit, the notebook and the readings are read from the excerpt. */
import type { CsvQuery, Span, TierId } from '#core/api/history.ts'
import { TIERS } from '#core/api/history.ts'
import { AUDIT, HISTORY, NOTEBOOK, type MemberGroup } from '#core/snapshot/manifest.ts'
import { PLANE_TABLES } from '#core/series/plane-tables.ts'
import { notebookJson } from '#core/snapshot/notebook-json.ts'
import type { ChartCell, Incident } from '#core/snapshot/notebook.ts'
import { csvText } from '../../history/csv.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { auditText } from './audit-member.ts'
import type { AuditSlice, RawReading } from './bundle-source.ts'
import { readingMembers } from './raw-readings.ts'
import { rulesDiff, rulesFile, type PlaceRules } from './rule-texts.ts'
import type { ZipMember } from '../zip/zip-out.ts'

export interface Member extends ZipMember {
  readonly group: MemberGroup | null
  readonly about: string
}

export interface MemberParts {
  readonly reader: HistoryReader
  /** File of the excerpt. */
  readonly history: string
  readonly span: Span
  readonly incident: Incident | null
  readonly audit: AuditSlice | null
  readonly readings: readonly RawReading[]
  readonly before: readonly PlaceRules[]
  /** Time when rules of the span are first known. */
  readonly beginMs: number
  readonly after: readonly PlaceRules[]
  readonly samples: { readonly jobs: number; readonly jobsWhole: number }
  /** True for everything that is kept, whatever its size. */
  readonly isAll: boolean
  readonly charts: readonly { readonly name: string; readonly svg: string; readonly png: Buffer | null }[]
}

/** Deflate level for members that are mostly figures: a third of the usual time, for a few percent more size. */
const FAST = 1
/** Most rows of jobs.csv in a size-limited bundle. */
const JOB_ROWS = 120_000
/** The same of a table of locks, metadata or tokens. */
const PLANE_ROWS = 60_000

/** Finest resolution at which every job has its own rows and all rows fit. */
export function jobsTier({ reader, span, samples, isAll }: MemberParts): TierId {
  const tiers = TIERS.filter((t) => reader.instants(t, span.fromMs, span.toMs - 1).length > 0)
  // Aggregated jobs have no samples of their own at finer resolutions.
  const jobTiers = samples.jobsWhole >= samples.jobs ? tiers : tiers.filter((t) => t === '10s' || t === '1min')
  const rows = (t: TierId): number => reader.instants(t, span.fromMs, span.toMs - 1).length * samples.jobs
  const chosen = isAll ? jobTiers[0] : jobTiers.find((t) => rows(t) <= JOB_ROWS)
  return chosen ?? jobTiers.at(-1) ?? tiers.at(-1) ?? 'raw'
}

const NAMES: Readonly<Record<TierId, string>> = {
  raw: 'as sampled',
  '1s': 'one-second means',
  '10s': 'ten-second means',
  '1min': 'one-minute means',
}

/** Tables of locks, metadata and tokens with rows, each at the finest resolution at which its rows fit. */
function planeTables({ reader, span, isAll }: MemberParts) {
  return PLANE_TABLES.flatMap(({ id, title, most }) => {
    const series = reader.allPlaneSeries(id).length
    if (series === 0) return []
    const instants = isAll ? Infinity : Math.floor(PLANE_ROWS / Math.min(series, most + 1))
    return [{ id, title, tier: reader.planeTierFor(span.fromMs, span.toMs - 1, instants) }]
  })
}

function csvMembers(parts: MemberParts): Member[] {
  const { reader, span } = parts
  const finest = reader.tierFor(span.fromMs, span.toMs - 1, Infinity)
  const texts = function* (what: CsvQuery['what'], tier: TierId): Generator<string> {
    for (const { text } of csvText(reader, { ...span, what, tier, by: 'job' })) yield text
  }
  const text = (what: CsvQuery['what'], tier: TierId, about: string): Member => ({
    name: `csv/${what}.csv`,
    group: 'csv',
    level: FAST,
    about,
    content: () => texts(what, tier),
  })
  const jobs = jobsTier(parts)
  return [
    text('cluster', finest, `Sums over the cluster, ${NAMES[finest]}; gaps are empty`),
    text('targets', finest, `Every target, ${NAMES[finest]}; gaps are empty`),
    text('jobs', jobs, `Every job, ${NAMES[jobs]}; gaps are empty`),
    text('events', finest, 'Events, newest first'),
    text('rules', finest, 'Rules in force, from the first to the last reading of each'),
    ...planeTables(parts).map(({ id, title, tier }) => text(id, tier, `${title}, ${NAMES[tier]}; gaps are empty`)),
  ]
}

/** All members except pages and manifest, without those left out, by name. */
export function membersOf(parts: MemberParts, leaveOut: ReadonlySet<MemberGroup>): Member[] {
  const { history, span, incident, audit, readings, before, after } = parts
  const one = (name: string, group: MemberGroup, about: string, text: () => string | Buffer, level = 6): Member => ({
    name,
    group,
    about,
    level,
    content: text,
  })
  const all: Member[] = [
    {
      name: HISTORY,
      group: 'history',
      about: 'Samples, rules and events; opens in Sluice',
      level: FAST,
      content: () => ({ file: history }),
    },
    ...csvMembers(parts),
    one('rules/before.txt', 'rules', 'Rules of every server at the beginning', () => rulesFile(before, parts.beginMs)),
    one('rules/after.txt', 'rules', 'Rules of every server at the end', () => rulesFile(after, span.toMs - 1)),
    one('rules/changes.diff', 'rules', 'Changes between the two', () => rulesDiff(before, after)),
    ...(incident
      ? [one(NOTEBOOK, 'notebook', 'The notebook with its frozen cells', () => notebookJson(incident))]
      : []),
    ...(audit ? [one(AUDIT, 'audit', 'Commands sent to servers, as a hash chain', () => auditText(audit))] : []),
    ...[...readingMembers(readings)].map(([name, texts]) =>
      one(name, 'readings', 'A parameter as the server printed it', () => texts.join('')),
    ),
    ...parts.charts.flatMap(({ name, svg, png }) => [
      one(`charts/${name}.svg`, 'charts', 'A chart', () => svg),
      ...(png ? [one(`charts/${name}.png`, 'charts', 'The same as an image', () => png, 0)] : []),
    ]),
  ]
  return all.filter((m) => m.group === null || !leaveOut.has(m.group)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Charts of a notebook, numbered in order. */
export const chartCells = (incident: Incident | null): ChartCell[] =>
  (incident?.cells ?? []).filter((c) => c.kind === 'chart')
