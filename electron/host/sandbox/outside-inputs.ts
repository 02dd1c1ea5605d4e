/** Inputs outside the range of the model, as texts with units, each with its relevance. */
import type { OutsideInput } from '#core/api/sandbox.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { limitsOf, type Limit, type LimitedInput } from '#core/sandbox/model-limits.ts'
import { outsideOf, type Outside } from '#core/sandbox/model-range.ts'

/** Most inputs listed. */
const MOST = 100
const KIB = 1024

const figure = (n: number): string => n.toLocaleString('en', { maximumFractionDigits: 1 })
const time = (ms: number): string => (ms >= 1000 ? `${figure(ms / 1000)} s` : `${figure(ms)} ms`)
const size = (bytes: number): string =>
  bytes >= KIB * KIB ? `${figure(bytes / KIB / KIB)} MiB` : bytes >= KIB ? `${figure(bytes / KIB)} KiB` : `${bytes} B`

interface LimitText {
  /** Formats the input with its value. */
  readonly input: (value: number) => string
  /** Quantity of the bound, with its ends. */
  readonly range: (least: number | null, most: number | null) => string
  readonly why: string
}

const ends = (unit: (n: number) => string, least: number | null, most: number | null): string =>
  [least, most].flatMap((n) => (n === null ? [] : [unit(n)])).join(' to ')

const TEXTS: Readonly<Record<LimitedInput, LimitText>> = {
  'rule rate': {
    input: (v) => `Token rate T of ${figure(v)} RPC/s`,
    range: (_, most) => `the maximum of a TBF rule, ${figure(most ?? 0)} RPC/s`,
    why: 'Servers refuse such a rate; the model would apply it.',
  },
  'controller period': {
    input: (v) => `AdapTBF period of ${time(v)}`,
    range: (least) => `the period it was validated with, ${time(least ?? 0)}`,
    why: 'A cycle of the published controller takes 25 ms, which the model does not charge.',
  },
  'control cycle': {
    input: (v) => `PADLL control cycle of ${time(v)}`,
    range: (least, most) => `the cycles it was validated with, ${ends(time, least, most)}`,
    why: 'The settling time of its algorithms with other cycles was not validated.',
  },
  'burst interval': {
    input: (v) => `Burst interval of ${time(v)}`,
    range: (_, most) => `the observed range, ${time(most ?? 0)}`,
    why: 'It does not contain two bursts, so their interval is unknown.',
  },
  'write size': {
    input: (v) => `Write size of ${size(v)}`,
    range: (least, most) => `the sizes that the lock manager was validated with, ${ends(size, least, most)}`,
    why: 'Its extent costs were fitted to those sizes.',
  },
  'lock clients': {
    input: (v) => `${figure(v)} clients of the lock manager`,
    range: (_, most) => `as many as it was validated with, ${figure(most ?? 0)}`,
    why: 'Queues of a lock server with more clients were not validated.',
  },
  'partial pages': {
    input: (v) => `An append of ${size(v)}`,
    range: () => 'whole pages of 4 KiB',
    why: 'A partly written page is read first; that read is not modeled.',
  },
  'token period': {
    input: (v) => `Token period of ${time(v)}`,
    range: (least) => `the period it was validated with, ${time(least ?? 0)}`,
    why: 'Conversion and the capacity estimate were compared with published figures for that period only.',
  },
  'token clients': {
    input: (v) => `${figure(v)} clients of a data node`,
    range: (_, most) => `as many as it was validated with, ${figure(most ?? 0)}`,
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

/** Texts about an input beyond the validated range of the model: the input, the bound, and its relevance. */
function modelLimitText(limit: Limit): {
  input: string
  range: string
  why: string
  side: Limit['side']
  times: number | null
} {
  const { input, value, least, most, side } = limit
  const texts = TEXTS[input]
  return { input: texts.input(value), range: texts.range(least, most), why: texts.why, side, times: timesOf(limit) }
}

function sizeInput({ jobId, value, least, most, side, times, bound }: Outside): OutsideInput {
  const isFitted = bound === 'fitted' && least !== null
  return {
    jobId,
    of: jobId,
    side,
    times,
    input: `RPC size ${size(value * KIB)}`,
    range: isFitted
      ? `the fitted range of ${size(least * KIB)} to ${size(most * KIB)}`
      : `the maximum of a Lustre RPC, ${size(most * KIB)}`,
    why: isFitted
      ? 'The split of service time into operation and bytes is assumed, and less certain for other sizes.'
      : 'Clients split it into several; the model sends it as one.',
  }
}

/**
 * All of them, those of jobs first.
 *
 * @param planes  true to include those of the planes besides Lustre: its jobs do not depend on them.
 */
export function outsideInputs(
  scenario: Scenario,
  { planes = true }: { readonly planes?: boolean } = {},
): OutsideInput[] {
  const limits = limitsOf(scenario).filter(({ plane }) => planes || plane === 'lustre' || plane === 'padll')
  return [
    ...outsideOf(scenario).map(sizeInput),
    ...limits.map((limit): OutsideInput => ({ jobId: limit.jobId, of: limit.of, ...modelLimitText(limit) })),
  ].slice(0, MOST)
}

/** Sentence about one input. */
export const outsideSentence = ({ of, input, side, range, why }: OutsideInput): string =>
  `${input}${of === '' ? '' : ` of ${of}`} is ${side === 'apart' ? 'not among' : side} ${range}. ${why}`
