/** Export of a comparison: CSV for a spreadsheet, complete JSON, Markdown for a ticket. */
import type { Band, Metric, RunResult } from '#core/api/sandbox.ts'
import { METRICS } from '#core/api/sandbox.ts'
import { OBJECTIVE_KEYS, OBJECTIVES } from '#core/controllers/objectives.ts'
import { guardedText } from '#core/base/csv-cell.ts'
import { letterOf } from '#core/sandbox/variant-summary.ts'
import { mdRow as row, mdText } from '#core/snapshot/markdown-text.ts'

export { mdText }

export type ExportFormat = 'csv' | 'json' | 'md'
export interface Exported {
  readonly name: string
  readonly text: string
}

const UNIT: Readonly<Record<Metric, string>> = {
  throughputBps: 'B/s',
  throughputRpcs: 'RPC/s',
  jain: '',
  victimP95Ms: 'ms',
  victimP99Ms: 'ms',
  starvedS: 's',
  sloMisses: 'jobs',
  utilisation: '',
}
const METRIC_LABELS: Readonly<Record<Metric, string>> = {
  throughputBps: 'Throughput',
  throughputRpcs: 'RPCs served',
  jain: 'Jain fairness',
  victimP95Ms: 'Victim wait p95',
  victimP99Ms: 'Victim wait p99',
  starvedS: 'Starved',
  sloMisses: 'SLO misses',
  utilisation: 'Device utilization',
}
type JobMeasure = keyof RunResult['variants'][number]['jobs']
const JOB_UNIT: Readonly<Record<JobMeasure, string>> = {
  waitP95Ms: 'ms',
  waitP99Ms: 'ms',
  rpcs: 'RPC/s',
  bps: 'B/s',
  record: 'tokens',
  starvedS: 's',
}
const JOB_MEASURES = Object.keys(JOB_UNIT) as JobMeasure[]

/** Quotes a text cell; a spreadsheet does not take it for a formula. */
export const csvText = (text: string): string => `"${guardedText(text).replaceAll('"', '""')}"`

const cell = (v: string | number): string => (typeof v === 'number' ? String(Number(v.toPrecision(9))) : csvText(v))

const bandCells = (band: Band): string[] =>
  band === null ? ['', '', ''] : [band.median, band.low, band.high].map(cell)

function csv(r: RunResult): string {
  const rows = [['variant', 'name', 'job', 'user', 'nodes', 'role', 'measure', 'unit', 'median', 'p5', 'p95'].join(',')]
  r.variants.forEach((v, i) => {
    const head = [cell(letterOf(i)), cell(v.name)]
    const add = (job: string[], measure: string, unit: string, band: Band): void => {
      rows.push([...head, ...job, cell(measure), cell(unit), ...bandCells(band)].join(','))
    }
    for (const m of METRICS) add(['', '', '', ''], m, UNIT[m], v.metrics[m])
    for (const { plane, what, unit, value } of v.planes) add(['', '', '', ''], `${plane}: ${what}`, unit, value)
    r.jobs.jobId.forEach((jobId, k) => {
      const job = [jobId, r.jobs.user[k] ?? '', r.jobs.nodes[k] ?? 0, r.jobs.role[k] ?? ''].map(cell)
      for (const m of JOB_MEASURES) add(job, m, JOB_UNIT[m], v.jobs[m][k] ?? null)
    })
  })
  return `${rows.join('\r\n')}\r\n`
}

/** Jobs of the Markdown table. */
const MD_JOBS = 20

function figure(v: number, unit: string): string {
  if (unit === 'B/s') return `${(v / 1e6).toFixed(1)} MB/s`
  const text = Math.abs(v) >= 100 ? Math.round(v).toLocaleString('en-GB') : String(Number(v.toPrecision(3)))
  return unit === '' ? text : `${text} ${unit}`
}

const mdBand = (band: Band, unit: string): string =>
  band === null
    ? 'not measured'
    : `${figure(band.median, unit)} (${figure(band.low, '').replace(/^$/, '')} to ${figure(band.high, '')})`

/** All three figures of bytes are in MB. */
const inMb = (band: Band): Band =>
  band === null ? null : { median: band.median, low: band.low / 1e6, high: band.high / 1e6 }

const shown = (band: Band, unit: string): string => mdBand(unit === 'B/s' ? inMb(band) : band, unit)

/** Rows of the objectives of metadata, locks and tokens that some variant has. */
function planeRows(r: RunResult): string[] {
  const present = new Set(r.variants.flatMap((v) => v.planes.map((p) => p.key)))
  return OBJECTIVE_KEYS.filter((key) => present.has(key)).map((key) => {
    const { plane, what, unit } = OBJECTIVES[key]
    const bands = r.variants.map((v) => v.planes.find((p) => p.key === key)?.value ?? null)
    return row([mdText(`${plane}: ${what}`), ...bands.map((band) => shown(band, unit === 'part' ? '' : unit))])
  })
}

function md(r: RunResult): string {
  const columns = r.variants.map((v, i) => `${i === 0 ? '' : `${letterOf(i)} `}${mdText(v.name)}`)
  const verdict = r.verdict.parts.map((p) => (p.strong ? `**${mdText(p.text)}**` : mdText(p.text))).join('')
  const ruler = row(['---', ...columns.map(() => '---')])
  const jobs = r.jobs.jobId.slice(0, MD_JOBS).map((jobId, k) => {
    const role = r.jobs.role[k] ? ` (${r.jobs.role[k]})` : ''
    return row([`${mdText(jobId)}${role}`, ...r.variants.map((v) => shown(v.jobs.waitP95Ms[k] ?? null, 'ms'))])
  })
  const more = r.jobs.jobId.length - jobs.length
  const first = r.seeds[0] ?? 0
  const last = r.seeds.at(-1) ?? 0
  const seeds = r.seeds.length === 1 ? `seed ${first}` : `seeds ${first} to ${last}`
  const best = r.verdict.best === null ? '' : `${letterOf(r.verdict.best)}: `
  return [
    `# ${mdText(r.title)}`,
    '',
    `${best}${verdict} ${mdText(r.verdict.detail)}`,
    '',
    `Simulated: ${r.seconds} s, ${seeds}; an SLO is missed above ${r.sloWaitMs} ms of p95 wait. Figures are medians, with the 5th and 95th percentile of the seeds.`,
    '',
    ...r.variants.map((v, i) => `- ${columns[i] ?? ''}: ${mdText(v.detail)}`),
    '',
    row(['', ...columns]),
    ruler,
    ...METRICS.map((m) => row([METRIC_LABELS[m], ...r.variants.map((v) => shown(v.metrics[m], UNIT[m]))])),
    ...planeRows(r),
    '',
    row(['Wait p95 by job', ...columns]),
    ruler,
    ...jobs,
    ...(more > 0 ? ['', `${more} more jobs.`] : []),
    '',
    '## Model limitations',
    '',
    ...r.knowledge.map((k) => `- ${k.level === 'ok' ? 'in range' : k.level}: ${mdText(k.text)}`),
    ...r.variants.flatMap((v, i) => v.remarks.map((t) => `- remark on ${columns[i] ?? ''}: ${mdText(t)}`)),
    '',
  ].join('\n')
}

/** File name of letters, digits and dashes: titles come from the scenario's author. */
const fileName = (title: string, id: string): string => {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return `sluice-${slug === '' ? 'comparison' : slug}-${id}`
}

export function exportResult(r: RunResult, format: ExportFormat): Exported {
  const text = format === 'csv' ? csv(r) : format === 'md' ? md(r) : `${JSON.stringify(r, null, 1)}\n`
  return { name: `${fileName(r.title, r.id)}.${format}`, text }
}
