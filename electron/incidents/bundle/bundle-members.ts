/** Members of a bundle but its pages: everything but the audit, the notebook and the readings is read of the excerpt. */
import type { CsvQuery, Span, TierId } from '#core/api/history.ts'
import { TIERS } from '#core/api/history.ts'
import { AUDIT, HISTORY, NOTEBOOK, type MemberGroup } from '#core/snapshot/manifest.ts'
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
  /** When rules of the span are first known. */
  readonly beginMs: number
  readonly after: readonly PlaceRules[]
  readonly samples: { readonly jobs: number; readonly jobsWhole: number }
  /** Everything that is kept, whatever its size. */
  readonly isAll: boolean
  readonly charts: readonly { readonly name: string; readonly svg: string; readonly png: Buffer | null }[]
}

/** Deflate of what is mostly figures: the third of the time of the usual level, for a few per cent of size. */
const FAST = 1
/** Rows of jobs.csv, at most, where it is to fit. */
const JOB_ROWS = 120_000

/** The finest resolution of which every job has rows of its own and all rows fit. */
export function jobsTier({ reader, span, samples, isAll }: MemberParts): TierId {
  const kept = TIERS.filter((t) => reader.instants(t, span.fromMs, span.toMs - 1).length > 0)
  // Jobs that were summed have no samples of their own in the finer ones.
  const own = samples.jobsWhole >= samples.jobs ? kept : kept.filter((t) => t === '10s' || t === '1min')
  const rows = (t: TierId): number => reader.instants(t, span.fromMs, span.toMs - 1).length * samples.jobs
  const fits = isAll ? own[0] : own.find((t) => rows(t) <= JOB_ROWS)
  return fits ?? own.at(-1) ?? kept.at(-1) ?? 'raw'
}

const NAMES: Readonly<Record<TierId, string>> = {
  ...{ raw: 'as sampled', '1s': 'means of a second', '10s': 'means of ten seconds', '1min': 'means of a minute' },
}

function csvMembers(parts: MemberParts): Member[] {
  const { reader, span } = parts
  const finest = reader.tierFor(span.fromMs, span.toMs - 1, Infinity)
  const texts = function* (what: CsvQuery['what'], tier: TierId): Generator<string> {
    for (const { text } of csvText(reader, { ...span, what, tier, by: 'job' })) yield text
  }
  const text = (what: CsvQuery['what'], tier: TierId, about: string): Member => ({
    ...{ name: `csv/${what}.csv`, group: 'csv', level: FAST, about },
    content: () => texts(what, tier),
  })
  const jobs = jobsTier(parts)
  return [
    text('cluster', finest, `Sums over the cluster, ${NAMES[finest]}; gaps are empty`),
    text('targets', finest, `Every target, ${NAMES[finest]}; gaps are empty`),
    text('jobs', jobs, `Every job, ${NAMES[jobs]}; gaps are empty`),
    text('events', finest, 'Events, newest first'),
    text('rules', finest, 'Every rule that stood, from the reading that first saw it to the last'),
  ]
}

/** All members but pages and manifest, without those that are left out, by name. */
export function membersOf(parts: MemberParts, leaveOut: ReadonlySet<MemberGroup>): Member[] {
  const { history, span, incident, audit, readings, before, after } = parts
  const one = (name: string, group: MemberGroup, about: string, text: () => string | Buffer, level = 6): Member => ({
    ...{ name, group, about, level, content: text },
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
    one('rules/changes.diff', 'rules', 'What changed between the two', () => rulesDiff(before, after)),
    ...(incident
      ? [one(NOTEBOOK, 'notebook', 'The notebook, its cells as they were frozen', () => notebookJson(incident))]
      : []),
    ...(audit
      ? [one(AUDIT, 'audit', 'What was sent to servers, each record bound to the one before', () => auditText(audit))]
      : []),
    ...[...readingMembers(readings)].map(([name, texts]) =>
      one(name, 'readings', 'A parameter as the server printed it', () => texts.join('')),
    ),
    ...parts.charts.flatMap(({ name, svg, png }) => [
      one(`charts/${name}.svg`, 'charts', 'A chart', () => svg),
      ...(png ? [one(`charts/${name}.png`, 'charts', 'The same as a picture', () => png, 0)] : []),
    ]),
  ]
  return all.filter((m) => m.group === null || !leaveOut.has(m.group)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Charts of a notebook, numbered as they stand in it. */
export const chartCells = (incident: Incident | null): ChartCell[] =>
  (incident?.cells ?? []).filter((c) => c.kind === 'chart')
