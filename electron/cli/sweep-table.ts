/** What a sweep found, as a table for a terminal, as CSV and as JSON. */
import { METRICS, type Metric } from '#core/api/sandbox.ts'
import type { Band } from '#core/sandbox/band.ts'
import { letterOf } from '#core/sandbox/variant-words.ts'
import { csvText } from '../host/sandbox/export.ts'
import { pointWords } from '../sandbox/sweep-grid.ts'
import type { Sweep } from '../sandbox/sweep-manifest.ts'
import type { PointResult } from '../sandbox/sweep-results.ts'
import { line, plain, sentence } from './output.ts'

const SHOWN: readonly (readonly [Metric, string, number, number])[] = [
  ['throughputBps', 'MB/s', 1e6, 1],
  ['jain', 'Jain', 1, 3],
  ['victimP95Ms', 'victim p95 ms', 1, 0],
  ['starvedS', 'starved s', 1, 0],
  ['sloMisses', 'SLO misses', 1, 1],
  ['utilisation', 'utilisation', 1, 2],
]

export function printSweep({ manifest }: Sweep, results: readonly PointResult[]): void {
  const points = results.map((r) => plain(pointWords(manifest.axes, r.point)))
  const wide = Math.max(5, ...points.map((p) => p.length)) + 2
  line(`${'point'.padEnd(wide)}${'variant'.padEnd(22)}${SHOWN.map(([, name]) => name.padStart(15)).join('')}`)
  results.forEach(({ comparison }, i) => {
    if (!comparison) return line(`${(points[i] ?? '').padEnd(wide)}not complete`)
    comparison.variants.forEach((v, k) => {
      const best = comparison.verdict.best === k ? ' *' : ''
      const cells = SHOWN.map(([metric, , scale, digits]) => {
        const band = v.metrics[metric]
        return (band === null ? '-' : (band.median / scale).toFixed(digits)).padStart(15)
      })
      const name = plain(`${k === 0 ? '' : `${letterOf(k)} `}${v.name}`).slice(0, 20)
      line((k === 0 ? (points[i] ?? '') : '').padEnd(wide) + name.padEnd(22) + cells.join('') + best)
    })
    line(`${' '.repeat(wide)}${sentence(comparison.verdict.parts.map((p) => p.text).join(''))}`)
  })
}

const bandCells = (band: Band | null): string[] =>
  (band === null ? ['', '', ''] : [band.median, band.low, band.high]).map(String)

export function sweepCsv({ manifest }: Sweep, results: readonly PointResult[]): string {
  const head = [...manifest.axes.map((a) => csvText(a.path)), 'variant', 'name', 'best']
  const rows = [[...head, ...METRICS.flatMap((m) => [m, `${m}_p5`, `${m}_p95`])].join(',')]
  for (const { point, comparison } of results) {
    comparison?.variants.forEach((v, k) => {
      const values = point.map((p) => (typeof p === 'string' ? csvText(p) : String(p)))
      const best = comparison.verdict.best === k ? '1' : '0'
      rows.push(
        [...values, letterOf(k), csvText(v.name), best, ...METRICS.flatMap((m) => bandCells(v.metrics[m]))].join(','),
      )
    })
  }
  return `${rows.join('\r\n')}\r\n`
}

export const sweepJson = ({ manifest }: Sweep, results: readonly PointResult[]): object => ({
  points: results.map(({ point, comparison }) => ({
    at: Object.fromEntries(manifest.axes.map((a, i) => [a.path, point[i]])),
    complete: comparison !== undefined,
    ...(comparison
      ? {
          verdict: {
            best: comparison.verdict.best,
            text: comparison.verdict.parts.map((p) => p.text).join(''),
            detail: comparison.verdict.detail,
          },
          variants: comparison.variants.map(({ name, detail, metrics, planes, remarks }) => ({
            ...{ name, detail, metrics, planes, remarks },
          })),
        }
      : {}),
  })),
})
