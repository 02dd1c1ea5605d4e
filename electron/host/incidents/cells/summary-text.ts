/** Titles and sentences about the measured state. A name that cannot be printed unaltered is not used. */
import { formatClock } from '#core/base/clock-text.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import { plainText } from '#core/base/plain-text.ts'
import { TITLE_MOST } from '#core/snapshot/notebook.ts'
import { meanOver, type MeasuredState } from './measured-state.ts'
import type { RangeMs } from './ranges.ts'

/** Share of all RPCs above which a job is named. */
const MOST_OF = 0.5
/** Share of all RPC/s by which a job must change to count. */
const MOVED = 0.2
const NAME_MOST = 64

/** Single line of bounded length, with all characters visible. */
export const oneLine = (text: string, most: number): string => {
  const line = plainText(text).trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** True if a name can be used in a sentence unaltered: an altered one would no longer be found as a name. */
const isPlain = (name: string): boolean => name !== '' && name.length <= NAME_MOST && /^[\x21-\x7e]+$/.test(name)
const named = (jobId: string): string => (isPlain(jobId) ? jobId : 'one job')

const figure = (v: number): string => formatNumber(v, Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : 2)
const times = (a: number, b: number): string => `×${formatNumber(b / a, b / a >= 10 ? 0 : 1)}`

const LUSTRE = /-(OST|MDT)([0-9a-f]{4})$/i

/** `OST0003-0007`, `OST0003`, or a count: targets without the file system name. */
export function rangeOf(targets: readonly string[]): string {
  const known = targets.map((t) => LUSTRE.exec(t))
  const [first] = known
  const kind = first?.[1]?.toUpperCase()
  const only = targets[0] ?? ''
  if (targets.length === 1) return kind ? `${kind}${first?.[2] ?? ''}` : isPlain(only) ? only : 'one target'
  if (kind && known.every((k) => k?.[1]?.toUpperCase() === kind)) {
    const numbers = known.map((k) => Number.parseInt(k?.[2] ?? '', 16)).sort((x, y) => x - y)
    const hex = (n: number | undefined): string => (n ?? 0).toString(16).padStart(4, '0')
    const isRun = numbers.every((n, i) => i === 0 || n === (numbers[i - 1] ?? NaN) + 1)
    if (isRun) return `${kind}${hex(numbers[0])}-${hex(numbers.at(-1))}`
    return targets.length <= 3 ? `${kind}${numbers.map(hex).join(', ')}` : `${targets.length} ${kind}s`
  }
  return `${targets.length} targets`
}

/** Job that sends more than half of all RPCs, if there is one. */
function sender({ movers, rpcs }: MeasuredState): string | undefined {
  const most = [...movers].sort((x, y) => y.b - x.b)[0]
  return most && most.b > MOST_OF * rpcs.b && isPlain(most.name) ? most.name : undefined
}

const from = (state: MeasuredState): string => {
  const name = sender(state)
  return name === undefined ? '' : `, most RPCs from ${name}`
}

/** Largest change as a title; the time by default. */
export function titleOf(state: MeasuredState | undefined, atMs: number): string {
  const fallback = `Incident at ${formatClock(atMs, false)}`
  if (!state) return fallback
  const slow = meanOver(state.slow, 'serviceMs')
  const queue = meanOver(state.queueing, 'queued')
  const on = (all: MeasuredState['slow']): string => rangeOf(all.map((t) => t.target))
  let title = fallback
  if (slow && slow.a > 0) title = `Service time ${times(slow.a, slow.b)} on ${on(state.slow)}${from(state)}`
  else if (queue && queue.a > 0) title = `Queued RPCs ${times(queue.a, queue.b)} on ${on(state.queueing)}${from(state)}`
  else if (queue) title = `${formatNumber(queue.b)} queued RPCs on ${on(state.queueing)}${from(state)}`
  else {
    const [mover] = state.movers
    const change = mover ? mover.b - mover.a : 0
    if (mover && Math.abs(change) > MOVED * Math.max(state.rpcs.a, state.rpcs.b) && isPlain(mover.name)) {
      title = `${mover.name}: ${figure(mover.a)} to ${figure(mover.b)} RPC/s`
    }
  }
  return title.length <= TITLE_MOST ? title : fallback
}

export const clock = ({ fromMs, toMs }: RangeMs): string => `${formatClock(fromMs)} to ${formatClock(toMs)}`

/** Sentence about the state; empty if nothing was measured. */
export function sentenceOf(state: MeasuredState): string {
  const parts: string[] = []
  const [mover] = state.movers
  const all = state.slow.length > 0 ? state.slow : state.targets
  const service = meanOver(all, 'serviceMs')
  if (service) parts.push(`service time of ${rangeOf(all.map((t) => t.target))} ${span(service)} ms`)
  const queueing = state.queueing.length > 0 ? state.queueing : all
  const queue = meanOver(queueing, 'queued')
  if (queue) parts.push(`queued RPCs there ${span(queue)}`)
  if (mover) parts.push(`RPC/s of ${named(mover.name)} ${span(mover)}, of all jobs ${span(state.rpcs)}`)
  if (parts.length === 0) return ''
  return `Means of ${clock(state.a)}, then of ${clock(state.b)} UTC: ${parts.join('; ')}.`
}

const span = ({ a, b }: { readonly a: number; readonly b: number }): string => `${figure(a)} to ${figure(b)}`
