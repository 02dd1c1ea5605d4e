/** Markdown report of a bundle: the content of README.html, for a ticket. Untrusted text is escaped. */
import { formatClock, formatDate, formatInstant } from '../base/clock-text.ts'
import { formatBytes, formatNumber, formatRate, formatSigned, formatSpan, plural } from '../base/figure-text.ts'
import { plainLines } from '../base/plain-text.ts'
import { valuesOf } from './column.ts'
import { mdFence, mdLines, mdTable, mdText } from './markdown-text.ts'
import type { Cell, ChartCell, DiffCell, Incident, TableCell, TranscriptCell, VerdictCell } from './notebook.ts'
import { titleOf, type PageFacts } from './page-facts.ts'
import type { Column, ReplayData } from './replay-data.ts'

/** Row limits of the report's tables; the CSVs have all rows. */
const JOBS = 20
const EVENTS = 50

const lines = (...parts: readonly (string | readonly string[])[]): string => parts.flat().join('\n')
const SIGN = { add: '+', mod: '~', del: '-', same: ' ' } as const

/** A rule of a diff as one line, with both rates if they differ. */
export const ruleLine = (l: DiffCell['lines'][number]): string => {
  const rates = l.kind === 'mod' ? `${l.before ?? '?'} -> ${l.after ?? '?'}` : `${l.after ?? l.before ?? '?'}`
  return `${SIGN[l.kind]} ${l.name} ${l.conditions} ${rates}`
}

function tableOf(cell: TableCell): string {
  const head = cell.columns.map((c) => ({ text: c.unit === '' ? c.label : `${c.label}, ${c.unit}`, isNumber: true }))
  const rows = cell.rows.map((r) => [
    mdText(r.name.text),
    ...cell.columns.map((c, i) => (c.signed ? formatSigned : formatNumber)(r.values[i], 1)),
  ])
  const more = cell.known > rows.length ? ['', `${rows.length} of ${formatNumber(cell.known)}.`] : []
  return lines(mdTable([{ text: '' }, ...head], rows), more)
}

/** Minimum, mean and maximum of a series. */
export function extentOf(values: readonly (number | null)[]): { low: number; mean: number; high: number } | null {
  const known = values.filter((v): v is number => v !== null)
  if (known.length === 0) return null
  const low = known.reduce((a, b) => Math.min(a, b))
  const high = known.reduce((a, b) => Math.max(a, b))
  return { low, high, mean: known.reduce((a, b) => a + b, 0) / known.length }
}

const figure = (v: number | undefined): string => formatNumber(v, Math.abs(v ?? 0) >= 100 ? 0 : 2)

function chartOf(cell: ChartCell): string {
  const rows = cell.series.map((s) => {
    const e = extentOf(s.values)
    return [mdText(s.label.text), figure(e?.low), figure(e?.mean), figure(e?.high)]
  })
  const number = (text: string): { text: string; isNumber: true } => ({ text, isNumber: true })
  const marks = cell.marks.map((m) => `- ${formatClock(m.atMs)} ${mdText(m.text)}`)
  const head = [{ text: cell.unit }, number('lowest'), number('mean'), number('highest')]
  const limit = cell.limit ? [`Limit: ${mdText(cell.limit.label)}`, ''] : []
  return lines(limit, mdTable(head, rows), marks.length > 0 ? ['', ...marks] : [])
}

const diffOf = (cell: DiffCell): string =>
  lines(
    mdFence(plainLines(cell.lines.map(ruleLine).join('\n')), 'diff'),
    cell.more > 0 ? ['', `${plural(cell.more, 'more rule')}.`] : [],
  )

const verdictOf = (cell: VerdictCell): string =>
  lines(
    `> ${cell.parts
      .map((p) => (p.strong && p.text.trim() !== '' ? `**${mdText(p.text)}** ` : `${mdText(p.text)} `))
      .join('')
      .trim()}`,
    ...(cell.detail === '' ? [] : ['>', `> ${mdText(cell.detail)}`]),
    ...(cell.unknown.length === 0 ? [] : ['', 'Model limitations:', '']),
    cell.unknown.map((u) => `- ${mdText(u)}`),
  )

/** A transcript as text: time, server, and the lines sent and received. */
export const transcriptText = (cell: TranscriptCell): string =>
  cell.lines.map((l) => `${formatClock(l.atMs)}  ${l.where}  ${l.kind}  ${l.text}`).join('\n')

const TITLES = {
  note: 'Note',
  chart: 'Chart',
  table: 'Table',
  diff: 'Rules',
  verdict: 'Verdict',
  transcript: 'Transcript',
}

function cellOf(cell: Cell): string[] {
  const title = 'title' in cell && cell.title !== '' ? `: ${mdText(cell.title)}` : ''
  const of =
    'of' in cell ? ['', `${mdText(cell.of.cluster)}, ${cell.of.kind}, ${spanText(cell.of.fromMs, cell.of.toMs)}`] : []
  const head = [`### ${formatClock(cell.atMs)} ${TITLES[cell.kind]}${title}`, '']
  const body = (): string => {
    if (cell.kind === 'note') return mdLines(cell.text)
    if (cell.kind === 'chart') return chartOf(cell)
    if (cell.kind === 'table') return tableOf(cell)
    if (cell.kind === 'diff') return diffOf(cell)
    if (cell.kind === 'verdict') return verdictOf(cell)
    return mdFence(plainLines(transcriptText(cell)))
  }
  return [...head, body(), ...of, '']
}

/** Status of an incident as text: `exercise` is that of an emulated cluster. */
export const statusText = (status: Incident['status']): string => (status === 'exercise' ? 'emulated' : status)

const spanText = (fromMs: number, toMs: number): string =>
  `${formatDate(fromMs)} ${formatClock(fromMs)} to ${formatClock(toMs)} UTC`

/** List item of the report; its text is Markdown already. */
const item = (name: string, text: string): string => `- ${name}: ${text}`

const CHAIN = {
  original: 'original',
  rehashed: 'recomputed over the redacted records',
} as const

/** Description of the source: kind, and scenario and seed if emulated. */
export const sourceText = ({ source }: PageFacts['manifest']): string =>
  [
    `${source.kind} ${source.env}`,
    ...(source.scenario === null ? [] : [`scenario ${source.scenario}`]),
    ...(source.seed === null ? [] : [`seed ${source.seed}`]),
  ].join(', ')

function headOf(facts: PageFacts): string[] {
  const { manifest: m, incident, span } = facts
  const id = incident?.id ?? m.incident?.id
  const status = incident?.status ?? m.incident?.status
  return [
    `# ${id ? `${id} ` : ''}${mdText(titleOf(facts))}`,
    '',
    '**RECORDED.** Not live data.',
    '',
    ...(status ? [item('Status', statusText(status))] : []),
    ...(incident ? [item('Opened by', `${mdText(incident.author)}, ${formatInstant(incident.createdMs)} UTC`)] : []),
    ...(incident?.alert
      ? [
          item(
            'Alert',
            mdText(`${incident.alert.text}${incident.alert.where === '' ? '' : ` (${incident.alert.where})`}`),
          ),
        ]
      : []),
    item('Cluster', `${mdText(m.source.cluster)} (${mdText(sourceText(m))})`),
    item(
      'Range',
      `${formatInstant(span.fromMs)} to ${formatInstant(span.toMs)} UTC, ${formatSpan(span.toMs - span.fromMs)}`,
    ),
    item('Samples', mdText(samplesText(m))),
    item('Names', m.redaction === 'pseudonyms' ? 'pseudonyms' : 'not redacted'),
    item('Written by', `Sluice ${mdText(m.version)}`),
    '',
  ]
}

/** `12 servers, 52 targets, 400 jobs (40 with all samples), 600 samples, raw`. */
export const samplesText = (m: PageFacts['manifest']): string => {
  const { servers, targets, jobs, jobsWhole, instants, tier } = m.samples
  const complete = jobsWhole < jobs ? ` (${formatNumber(jobsWhole)} with all their samples)` : ''
  const planes = planesText(m)
  return `${plural(servers, 'server')}, ${plural(targets, 'target')}, ${plural(jobs, 'job')}${complete}, ${plural(instants, 'sample')}, ${tier}${planes === '' ? '' : `; ${planes}`}`
}

/** `120 lock resources, 2 lock servers, 10 token clients, 3 convoys`; empty for a bundle without any. */
export function planesText({ samples: { planes = [], convoys = 0 } }: PageFacts['manifest']): string {
  const named = planes.map(({ title, series }) => {
    const name = `${title.slice(0, 1).toLowerCase()}${title.slice(1)}`
    return plural(series, name.replace(/s$/, ''), name)
  })
  return [...named, ...(convoys > 0 ? [plural(convoys, 'kept convoy')] : [])].join(', ')
}

/** Summary of the audit, one sentence. */
export const auditText = (audit: NonNullable<PageFacts['manifest']['audit']>): string =>
  `${plural(audit.records, 'record')}, #${audit.from} to #${audit.to}; chain ${CHAIN[audit.chain]}, ${audit.verified ? 'verified when it was copied' : 'INVALID when it was copied'}; head ${audit.head}`

function figures(data: ReplayData): string[] {
  const n = data.t.length
  const row = (name: string, unit: string, of: Column, scale = 1, decimals = 1): string[] => {
    const e = extentOf(valuesOf(of, n))
    const cell = (v: number | undefined): string => formatNumber(v === undefined ? null : v / scale, decimals)
    return [name, unit, cell(e?.low), cell(e?.mean), cell(e?.high)]
  }
  const { rpcs, readBps, writeBps, serviceMs, queued, rules, mdops } = data.cluster
  const number = (text: string): { text: string; isNumber: true } => ({ text, isNumber: true })
  return [
    mdTable(
      [{ text: '' }, { text: 'unit' }, number('lowest'), number('mean'), number('highest')],
      [
        row('RPCs', 'RPC/s', rpcs, 1, 0),
        row('Read', 'MB/s', readBps, 1e6),
        row('Write', 'MB/s', writeBps, 1e6),
        row('Metadata', 'op/s', mdops, 1, 0),
        row('Service time', 'ms', serviceMs, 1, 2),
        row('Queued', 'RPCs', queued, 1, 0),
        row('Rules', '', rules, 1, 0),
      ],
    ),
    '',
    `${plural(n, 'point')}, each ${data.meanOf > 1 ? `the mean of ${data.meanOf} samples` : 'one sample'} of tier ${data.tier}.`,
    '',
  ]
}

function jobs(data: ReplayData): string[] {
  const number = (text: string): { text: string; isNumber: true } => ({ text, isNumber: true })
  const mean = (of: Column): number | undefined => extentOf(valuesOf(of, data.t.length))?.mean
  const megabytes = (v: number | undefined): string => formatRate(v ?? null).text
  const rows = data.jobs
    .slice(0, JOBS)
    .map((j) => [
      mdText(j.name),
      mdText(j.user),
      formatNumber(j.mean, 0),
      megabytes(mean(j.readBps)),
      megabytes(mean(j.writeBps)),
      formatNumber(mean(j.mdops), 0),
    ])
  const rest = data.jobs.length - rows.length + data.other.jobs
  if (rows.length === 0) return ['No jobs.', '']
  const head = [number('RPC/s'), number('read, MB/s'), number('write, MB/s'), number('metadata, op/s')]
  return [
    mdTable([{ text: 'job, means over the range' }, { text: 'user' }, ...head], rows),
    '',
    ...(rest > 0 ? [`${plural(rest, 'more job')}: csv/jobs.csv.`, ''] : []),
  ]
}

/** Tables of locks, metadata and tokens: the leading series, means over the range. */
function planes(data: ReplayData): string[] {
  const number = (text: string): { text: string; isNumber: true } => ({ text, isNumber: true })
  const mean = (of: Column | undefined): string => figure(extentOf(valuesOf(of ?? null, data.t.length))?.mean)
  return data.planes.flatMap((table) => {
    const names = [table.nameIs, ...(table.placeIs === '' ? [] : [table.placeIs]), ...(table.hasJob ? ['job'] : [])]
    const own = table.series.map((s) => [
      mdText(s.name),
      ...(table.placeIs === '' ? [] : [mdText(s.place)]),
      ...(table.hasJob ? [mdText(s.job)] : []),
      ...s.values.map(mean),
    ])
    const rest = table.others
    const others = rest === null ? [] : [['all others', ...names.slice(1).map(() => ''), ...rest.map(mean)]]
    const head = table.columns.map((c) => number(c.unit === '' ? c.title : `${c.title}, ${c.unit}`))
    return [
      `### ${mdText(table.title)}, means over the range`,
      '',
      mdTable([...names.map((text) => ({ text: mdText(text) })), ...head], [...own, ...others]),
      '',
      ...(rest === null ? [] : [`All series: csv/${table.id}.csv.`, '']),
    ]
  })
}

function convoys(data: ReplayData): string[] {
  if (data.convoys.length === 0) return []
  const rows = data.convoys.map((c) => [
    formatClock(c.fromMs, true),
    mdText(c.resource),
    mdText(c.server),
    formatNumber(c.toMs - c.fromMs, 1),
    formatNumber(c.waiting),
  ])
  const number = (text: string): { text: string; isNumber: true } => ({ text, isNumber: true })
  const head = [
    { text: 'start' },
    { text: 'resource' },
    { text: 'lock server' },
    number('length, ms'),
    number('waiting'),
  ]
  return ['### Convoys', '', mdTable(head, rows), '']
}

function events(data: ReplayData): string[] {
  if (data.events.length === 0) return ['No events.', '']
  const shown = data.events.slice(0, EVENTS)
  const more = data.events.length - shown.length + data.eventsMore
  return [
    ...shown.map(
      (e) => `- ${formatClock(e.atMs)} ${mdText(e.subject)} (${e.level}): ${mdText(`${e.text} ${e.where}`.trim())}`,
    ),
    ...(more > 0 ? ['', `${plural(more, 'more event')}: csv/events.csv.`] : []),
    '',
  ]
}

function integrity({ manifest, sealed }: PageFacts): string[] {
  const audit = manifest.audit ? [`- Audit: ${auditText(manifest.audit)}`] : ['- Audit: not included']
  return [
    '- Every byte is checked by `sluice snapshot verify FILE.zip`; manifest.json names the SHA-256 of each member.',
    ...sealed.map(
      (m) => `- ${mdText(m.name)}: ${formatBytes(m.bytes)}, sha256 \`${m.sha256.replace(/[^0-9a-f]/g, '')}\``,
    ),
    ...audit,
    '',
  ]
}

/** Notebook alone, for a ticket. */
export const notebookMarkdown = (incident: Incident): string[] => incident.cells.flatMap(cellOf)

/**
 * @param data  sample values; null: notebook without samples.
 * @returns     Markdown (GitHub's dialect), lines end in \n.
 */
export function reportMarkdown(facts: PageFacts, data: ReplayData | null): string {
  const { manifest, incident, rules } = facts
  return lines(
    headOf(facts),
    incident && incident.cells.length > 0 ? ['## Notebook', '', ...notebookMarkdown(incident)] : [],
    data ? ['## Figures', '', ...figures(data), '## Jobs', '', ...jobs(data)] : [],
    data && data.planes.length > 0 ? ['## Locks, metadata and tokens', '', ...planes(data), ...convoys(data)] : [],
    data ? ['## Events', '', ...events(data)] : [],
    rules.before === '' && rules.after === ''
      ? []
      : rules.before === rules.after
        ? ['## Rules, the same at the beginning and at the end', '', mdFence(plainLines(rules.after)), '']
        : [
            '## Rules at the beginning',
            '',
            mdFence(plainLines(rules.before)),
            '',
            '## Rules at the end',
            '',
            mdFence(plainLines(rules.after)),
            '',
          ],
    ['## Missing data', ''],
    manifest.missing.length === 0 ? ['None.', ''] : [...manifest.missing.map((m) => `- ${mdText(m)}`), ''],
    ['## Integrity', '', ...integrity(facts)],
  )
}
