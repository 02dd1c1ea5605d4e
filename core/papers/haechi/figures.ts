/** Figures of runs, after the paper's: bars of each client, lines over periods. Thousands of I/Os per period of 1 s. */
import type { Bars, Curve, PublishedLine, Timeline } from '../experiment.ts'
import { names } from './setups.ts'

const KIO = 'thousand I/Os a period'
const thousands = (values: readonly number[]): number[] => values.map((value) => value / 1000)

/** Published values of a client's bar, by the bar's name: I/Os, by client, null for those that the text does not give. */
type PublishedBars = Readonly<Record<string, (client: number) => number | null>>

/** @param series  values of a client's bars, in I/Os by client. */
export const clientBars = (
  id: string,
  title: string,
  series: Readonly<Record<string, readonly number[]>>,
  published: PublishedBars = {},
): Bars => ({
  kind: 'bars',
  id,
  title,
  unit: KIO,
  series: Object.keys(series),
  groups: names.map((name, client) => ({
    name,
    values: thousands(Object.values(series).map((values) => values[client]!)),
    ...(Object.keys(published).length === 0
      ? {}
      : {
          published: Object.keys(series)
            .map((bar) => published[bar]?.(client) ?? null)
            .map(thousand),
        }),
  })),
})

const thousand = (value: number | null): number | null => (value === null ? null : value / 1000)

/** @param groups  name, values in the order of `series`, and published ones, I/Os. */
export const bars = (
  id: string,
  title: string,
  series: readonly string[],
  groups: readonly (readonly [string, readonly number[], (readonly (number | null)[])?])[],
): Bars => ({
  kind: 'bars',
  id,
  title,
  unit: KIO,
  series,
  groups: groups.map(([name, values, published]) => ({
    name,
    values: thousands(values),
    ...(published === undefined ? {} : { published: published.map(thousand) }),
  })),
})

/** I/Os over a quantity other than time. */
export const throughputCurve = (
  id: string,
  title: string,
  across: string,
  series: Readonly<Record<string, readonly (readonly [number, number])[]>>,
  published: readonly PublishedLine[] = [],
): Curve => ({
  kind: 'curve',
  id,
  title,
  unit: KIO,
  across,
  series: Object.entries(series).map(([name, points]) => ({ name, points: thousandsAt(points) })),
  published: published.map(({ name, points }) => ({ name, points: thousandsAt(points) })),
})

const thousandsAt = (points: PublishedLine['points']): PublishedLine['points'] =>
  points.map(([x, y]) => [x, y / 1000] as const)

/** Lines over periods of 1 s. */
export const lines = (
  id: string,
  title: string,
  series: Readonly<Record<string, readonly number[]>>,
  limit?: { readonly name: string; readonly value: number },
): Timeline => ({
  kind: 'timeline',
  id,
  title,
  unit: KIO,
  binS: 1,
  isStacked: false,
  series: Object.entries(series).map(([name, values]) => ({ name, values: thousands(values) })),
  ...(limit === undefined ? {} : { limit: { name: limit.name, value: limit.value / 1000 } }),
})
