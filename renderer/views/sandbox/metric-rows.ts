/** Rows of the measures of a result, with the same unit and scale for all variants, and their explanations. */
import { OBJECTIVE_KEYS, OBJECTIVES, type ObjectiveUnit } from '#core/controllers/objectives.ts'
import { METRICS, type Band, type Metric, type RunResult } from '#core/api/sandbox.ts'
import type { Ends } from '../../charts/plot.ts'
import { metricTerms, type MetricTerm } from '../../help/meanings/metric-terms.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatRate, NOTHING } from '../../format/units.ts'
import { jobName } from '../job-name.ts'

export interface MetricLine {
  readonly id: string
  /** Plane of the measure beside the OSTs; empty for measures of the whole run. */
  readonly plane: string
  readonly term: MetricTerm
  readonly label: string
  readonly unit: string
  readonly bands: readonly Band[]
  readonly texts: readonly string[]
  /** Median with its band, for a tooltip. */
  readonly titles: readonly string[]
  readonly ends: Ends
}

/** Returns the bands that were measured. */
const known = (bands: readonly Band[]): NonNullable<Band>[] => bands.filter((b) => b !== null)

/** Range of the scale. It need not start at 0: a measure that hardly changes is zoomed; one that varies widely starts at 0. */
export function endsOf(bands: readonly Band[]): Ends {
  const all = known(bands)
  if (all.length === 0) return { min: 0, max: 1 }
  const low = Math.min(...all.map((b) => b.low))
  const high = Math.max(...all.map((b) => b.high))
  if (low >= 0 && low < 0.6 * high) return { min: 0, max: high * 1.04 }
  const margin = Math.max((high - low) * 0.4, Math.abs(high) * 0.02, 1e-9)
  return { min: low - margin, max: high + margin }
}

/** Number of decimals by the largest value: 0 from 100 on or for integers, 1 from 10 on, else 2. */
function decimalsOf(values: readonly number[]): number {
  const most = Math.max(0, ...values.map(Math.abs))
  if (values.every((v) => Number.isInteger(v)) || most >= 100) return 0
  return most >= 10 ? 1 : 2
}

interface Shown {
  readonly id: string
  readonly plane?: string
  readonly label: string
  readonly unit: string
  readonly divisor: number
  readonly decimals: number
  readonly bands: readonly Band[]
  readonly term: Omit<MetricTerm, 'name' | 'unit'>
}
function line({ id, plane = '', label, unit, divisor, decimals, bands, term }: Shown): MetricLine {
  const text = (v: number): string => formatNumber(v / divisor, decimals)
  const tail = unit === '' ? '' : `\u202F${unit}`
  return {
    id,
    plane,
    label,
    unit,
    bands,
    ends: endsOf(bands),
    term: { ...term, name: label, unit },
    texts: bands.map((b) => (b === null ? NOTHING : text(b.median))),
    titles: bands.map((b) =>
      b === null
        ? 'not measured'
        : `median ${text(b.median)}${tail}, 5\u201395\u202F% of the seeds ${text(b.low)} to ${text(b.high)}${tail}`,
    ),
  }
}

/** Short name of the job whose wait is shown; empty if there is no victim. */
export function victimOf({ jobs }: RunResult): string {
  const at = jobs.role.indexOf('victim')
  return at < 0 ? '' : plainText(jobName(jobs.jobId[at] ?? '').head)
}

function metricLine(result: RunResult, id: Metric, victim: string): MetricLine {
  const bands = result.variants.map((v) => v.metrics[id])
  const medians = known(bands).map((b) => b.median)
  const most = Math.max(0, ...medians.map(Math.abs))
  const plain = { id, bands, divisor: 1, term: metricTerms[id] }
  const whose = victim === '' ? 'Victim' : victim
  switch (id) {
    case 'throughputBps': {
      const { unit, divisor, decimals } = formatRate(most)
      return line({ ...plain, label: 'Throughput', unit, divisor, decimals })
    }
    case 'throughputRpcs':
      return line({ ...plain, label: 'RPCs', unit: 'RPC/s', decimals: most >= 100 ? 0 : 1 })
    case 'jain':
      return line({ ...plain, label: 'Jain fairness', unit: '', decimals: 2 })
    case 'victimP95Ms':
      return line({ ...plain, label: `${whose} wait p95`, unit: 'ms', decimals: decimalsOf(medians) })
    case 'victimP99Ms':
      return line({ ...plain, label: `${whose} wait p99`, unit: 'ms', decimals: decimalsOf(medians) })
    case 'starvedS':
      return line({ ...plain, label: 'Starved', unit: 's', decimals: medians.every(Number.isInteger) ? 0 : 1 })
    case 'sloMisses': {
      const term = {
        ...metricTerms.sloMisses,
        means: `Jobs whose p95 wait is longer than ${formatNumber(result.sloWaitMs)} ms.`,
      }
      const decimals = medians.every(Number.isInteger) ? 0 : 1
      return line({ ...plain, term, label: 'SLO misses', unit: 'jobs', decimals })
    }
    case 'utilisation':
      return line({ ...plain, label: 'Device utilization', unit: '%', divisor: 0.01, decimals: most < 0.1 ? 1 : 0 })
  }
}

const planeNames = { metadata: 'Metadata QoS', locks: 'Locks', tokens: 'Tokens' } as const
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Display unit of a measure of a plane. */
function planeUnit(unit: ObjectiveUnit, medians: readonly number[]): Pick<Shown, 'unit' | 'divisor' | 'decimals'> {
  if (unit === 'B/s') return formatRate(Math.max(0, ...medians))
  if (unit === 'part') return { unit: '%', divisor: 0.01, decimals: medians.some((v) => v > 0 && v < 0.1) ? 1 : 0 }
  return { unit, divisor: 1, decimals: decimalsOf(medians) }
}

/** Rows of the planes beside the OSTs: every measure that some variant has. */
function planeLines({ variants }: RunResult): MetricLine[] {
  const present = new Set(variants.flatMap(({ planes }) => planes.map((p) => p.key)))
  return OBJECTIVE_KEYS.filter((key) => present.has(key)).map((key) => {
    const { plane, what, unit, better, means } = OBJECTIVES[key]
    const bands = variants.map((v) => v.planes.find((p) => p.key === key)?.value ?? null)
    const medians = known(bands).map((b) => b.median)
    const judged = better === null ? 'not judged' : `${better} is better`
    return line({
      id: key,
      bands,
      plane: planeNames[plane],
      label: capital(what),
      ...planeUnit(unit, medians),
      term: { means: `${planeNames[plane]}: ${means}`, formula: `median over the seeds; ${judged}` },
    })
  })
}

/** True if the band of a variant in some plane does not overlap that of the baseline. */
export function planesDiffer(lines: readonly MetricLine[]): boolean {
  return lines.some(({ plane, bands }) => {
    const base = bands[0]
    if (plane === '' || !base) return false
    return bands.some((b) => b !== null && (b.high < base.low || b.low > base.high))
  })
}

/** Rows of all measures; RPC/s replace bytes/s if no data moves. */
export function metricLines(result: RunResult): MetricLine[] {
  const victim = victimOf(result)
  const hasBytes = result.variants.some((v) => (v.metrics.throughputBps?.median ?? 0) > 0)
  const shown = METRICS.filter((m) => m !== (hasBytes ? 'throughputRpcs' : 'throughputBps'))
  return [...shown.map((m) => metricLine(result, m, victim)), ...planeLines(result)]
}
