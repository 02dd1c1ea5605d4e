/** Figures of runs, after the paper's: bars of each client, lines over periods. Thousands of I/Os per period of 1 s. */
import type { Bars, Timeline } from '../experiment.ts'
import { names } from './setups.ts'

const KIO = 'thousand I/Os a period'
const thousands = (values: readonly number[]): number[] => values.map((value) => value / 1000)

/** @param series  values of a client's bars, in I/Os by client. */
export const clientBars = (id: string, title: string, series: Readonly<Record<string, readonly number[]>>): Bars => ({
  kind: 'bars',
  id,
  title,
  unit: KIO,
  series: Object.keys(series),
  groups: names.map((name, client) => ({
    name,
    values: thousands(Object.values(series).map((values) => values[client]!)),
  })),
})

/** @param groups  values in the order of `series`, I/Os. */
export const bars = (
  id: string,
  title: string,
  series: readonly string[],
  groups: readonly (readonly [string, readonly number[]])[],
): Bars => ({
  kind: 'bars',
  id,
  title,
  unit: KIO,
  series,
  groups: groups.map(([name, values]) => ({ name, values: thousands(values) })),
})

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
