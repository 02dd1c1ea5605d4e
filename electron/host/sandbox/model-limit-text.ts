/** Texts about an input beyond the validated range of the model: the input, the bound, and its relevance. */
import type { Limit, LimitedInput } from '#core/sandbox/model-limits.ts'

const figure = (n: number): string => n.toLocaleString('en', { maximumFractionDigits: 1 })
const time = (ms: number): string => (ms >= 1000 ? `${figure(ms / 1000)} s` : `${figure(ms)} ms`)
const KIB = 1024
export const size = (bytes: number): string =>
  bytes >= KIB * KIB ? `${figure(bytes / KIB / KIB)} MiB` : bytes >= KIB ? `${figure(bytes / KIB)} KiB` : `${bytes} B`

interface Words {
  /** With the value. */
  readonly input: (value: number) => string
  /** Quantity of the bound, with its ends. */
  readonly range: (least: number | null, most: number | null) => string
  readonly why: string
}

const span = (unit: (n: number) => string, least: number | null, most: number | null): string =>
  [least, most].flatMap((n) => (n === null ? [] : [unit(n)])).join(' to ')

const WORDS: Readonly<Record<LimitedInput, Words>> = {
  'rule rate': {
    input: (v) => `Token rate T of ${figure(v)} RPC/s`,
    range: (_, most) => `what a rule of TBF takes, ${figure(most ?? 0)} RPC/s`,
    why: 'Servers refuse such a rate; the model would apply it.',
  },
  'controller period': {
    input: (v) => `AdapTBF period of ${time(v)}`,
    range: (least) => `the period it was reproduced with, ${time(least ?? 0)}`,
    why: 'A cycle of the published controller takes 25 ms, which the model does not charge.',
  },
  'control cycle': {
    input: (v) => `PADLL control cycle of ${time(v)}`,
    range: (least, most) => `the cycles it was reproduced with, ${span(time, least, most)}`,
    why: 'The settling time of its algorithms with other cycles was not validated.',
  },
  'burst interval': {
    input: (v) => `Burst interval of ${time(v)}`,
    range: (_, most) => `the observed range, ${time(most ?? 0)}`,
    why: 'It does not contain two bursts, so their interval is unknown.',
  },
  'write size': {
    input: (v) => `Write size of ${size(v)}`,
    range: (least, most) => `the sizes that the lock manager was reproduced with, ${span(size, least, most)}`,
    why: 'Its extent costs were fitted to those sizes.',
  },
  'lock clients': {
    input: (v) => `${figure(v)} clients of the lock manager`,
    range: (_, most) => `as many as it was reproduced with, ${figure(most ?? 0)}`,
    why: 'Queues of a lock server with more clients were not validated.',
  },
  'partial pages': {
    input: (v) => `An append of ${size(v)}`,
    range: () => 'whole pages of 4 KiB',
    why: 'A partly written page is read first; that read is not modeled.',
  },
  'token period': {
    input: (v) => `Token period of ${time(v)}`,
    range: (least) => `the period it was reproduced with, ${time(least ?? 0)}`,
    why: 'Conversion and the capacity estimate were compared with published figures for that period only.',
  },
  'token clients': {
    input: (v) => `${figure(v)} clients of a data node`,
    range: (_, most) => `as many as it was reproduced with, ${figure(most ?? 0)}`,
    why: 'Races for the pool grow with the number of clients, and were not validated.',
  },
  'token writes': {
    input: (v) => `${figure(100 * v)} % writes`,
    range: () => 'the reads that data nodes were profiled with',
    why: 'A one-sided write is modeled at the cost of a read.',
  },
}

/** Ratio of a value to its bound; null if there is none. */
const timesOf = ({ value, least, most, side }: Limit): number | null =>
  side === 'below' && least !== null && value > 0
    ? least / value
    : side === 'above' && most !== null && most > 0
      ? value / most
      : null

export function modelLimitText(limit: Limit): {
  input: string
  range: string
  why: string
  side: Limit['side']
  times: number | null
} {
  const { input, value, least, most, side } = limit
  const words = WORDS[input]
  return { input: words.input(value), range: words.range(least, most), why: words.why, side, times: timesOf(limit) }
}
