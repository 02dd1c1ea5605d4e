/**
 * One stream of the host for the lifetime of the component.
 *
 * The stream restarts when its query, the update rate, the connection or the active source changes; the old frame
 * stays until the first one of the new stream, unless it is from another source. A paused cursor that moves keeps its
 * stream: the host is sent its position, one move at a time, the newest wins; frames of adjacent samples are already
 * here (look-ahead.ts), each acknowledged on arrival. All other frames are applied once per animation frame, newest
 * wins, and acknowledged only then: a window that cannot keep up is sent less. A hidden page has no stream.
 */
import { useDocumentVisibility } from '@vueuse/core'
import { computed, nextTick, onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import type { Client } from '../stores/client.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { onAnimationFrame } from './animation-frame.ts'
import { isSamePicture, LookAhead } from './look-ahead.ts'

/** Input common to all streams (contract.ts `stream`). */
interface StreamHead {
  readonly stream: string
  readonly hz: number
  readonly at: number | null
  readonly ahead: boolean
}
type Procedures = Client['views'] & Pick<Client['source'], 'status'>
type Input<F> = F extends (input: infer I, ...rest: never[]) => unknown ? Omit<NonNullable<I>, keyof StreamHead> : never
type Frame<F> = F extends (...args: never[]) => Promise<AsyncIterable<infer T>> ? T : never

/** Streams of the contract by name. */
type StreamName = {
  [N in keyof Procedures]: [Frame<Procedures[N]>] extends [never] ? never : N
}[keyof Procedures]
/** Query of each stream. */
type Queries = { [N in StreamName]: Input<Procedures[N]> }
/** Frame of each stream. */
type Frames = { [N in StreamName]: Frame<Procedures[N]> }

type Open<N extends StreamName> = (
  input: StreamHead & Queries[N],
  options: { signal: AbortSignal },
) => Promise<AsyncIterable<Frames[N]>>

/** Opens the named stream. */
function openStream<N extends StreamName>(
  client: Client,
  name: N,
  input: StreamHead & Queries[N],
  signal: AbortSignal,
): Promise<AsyncIterable<Frames[N]>> {
  const procedures: Pick<Client['views'], Exclude<StreamName, 'status'>> = client.views
  const open = name === 'status' ? client.source.status : procedures[name as Exclude<N, 'status'>]
  // A procedure of the union takes the query of its own name, which the compiler cannot infer.
  return (open as unknown as Open<N>)(input, { signal })
}

/** Fraction of the interval from which a frame is rendered: frames arrive slightly early or late. */
const EARLY = 0.95
const RESTART_MS = 30
const AGAIN_MS = 1000
let streams = 0
/** Last frame of each stream by query, so that a reopened view is not empty at first. */
const lastFrames = new Map<StreamName, { query: string; turn: number; frame: unknown }>()
/** Streams about the window's host; all others are about the active source. */
const ofHost: ReadonlySet<StreamName> = new Set(['status', 'connections', 'incidents'])

export interface StreamOptions {
  /** Highest frame rate, Hz, below the chosen update rate. */
  readonly maxHz?: number
  /** Always the newest sample, also while the cursor is paused. */
  readonly followNewest?: boolean | (() => boolean)
  /** This stream is the view: the sample it shows is the current one. */
  readonly isView?: boolean
}
export interface Stream<F> {
  readonly frame: ShallowRef<F | null>
  /** Reason why the stream is not running; null while it is. */
  readonly error: Ref<string | null>
}

/** @param query  null = no stream now; read reactively. */
export function useStream<N extends StreamName>(
  name: N,
  query: () => Queries[N] | null,
  options: StreamOptions = {},
): Stream<Frames[N]> {
  const connection = useConnectionStore()
  const settings = useSettingsStore()
  const time = useTimeStore()
  const source = useSourceStore()
  const visibility = useDocumentVisibility()
  const frame = shallowRef(null) as ShallowRef<Frames[N] | null>
  const error = ref<string | null>(null)
  let abort: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let startedMs = -Infinity

  const follows = (): boolean => {
    const { followNewest = false } = options
    return typeof followNewest === 'function' ? followNewest() : followNewest
  }

  const plan = computed(() => {
    const input = query()
    if (input === null || connection.host === null || visibility.value === 'hidden') return null
    const isOfHost = ofHost.has(name)
    // Nothing is requested until the cursor position in the new source is known.
    if (!isOfHost && !follows() && time.isElsewhere) return null
    const hz = Math.min(settings.hz, options.maxHz ?? 10)
    const at = follows() ? null : time.at
    const text = JSON.stringify(input)
    const turn = isOfHost ? 0 : source.turn
    const of = isOfHost ? (name === 'status' ? source.looks : 0) : `${turn} ${source.switches}`
    const key = JSON.stringify([input, hz, at === null, of])
    return { host: connection.host, query: text, key, input, hz, at, turn }
  })
  type Plan = NonNullable<typeof plan.value>

  async function follow({ host, input, hz, at, query: text, turn }: Plan, signal: AbortSignal): Promise<void> {
    const stream = `${name}-${++streams}`
    const lookAhead = new LookAhead<Frames[N]>()
    let newest: Frames[N] | null = null
    const acknowledge = (seq: number): void => void host.api.host.ack({ stream, seq }).catch(() => undefined)
    const apply = (): void => {
      if (newest === null || signal.aborted) return
      frame.value = newest
      lastFrames.set(name, { query: text, turn, frame: newest })
      if (options.isView) {
        time.note(newest)
        source.turned()
      }
      // Acknowledged once rendered, together with the frames before it; a lost connection has already ended the stream.
      const { seq, isAhead } = newest
      if (!isAhead) void nextTick(() => acknowledge(seq))
      newest = null
    }
    const step = (to: number): void => {
      const known = lookAhead.of(to)
      if (known === undefined) return
      newest = known
      onAnimationFrame(apply)
    }
    let isFirst = true
    const frames = await openStream(host.api, name, { ...input, stream, hz, at, ahead: at !== null }, signal)
    for await (const next of frames) {
      if (signal.aborted) return
      // The active source has changed, which the status will report; this stream is for the previous one.
      if (!ofHost.has(name) && source.frame !== null && (next.turn ?? turn) !== turn) continue
      if (isFirst && at !== null) followCursor(host, stream, at, step, signal)
      error.value = null
      if (at !== null) {
        lookAhead.keep(next)
        const wanted = plan.value?.at
        const shown = newest ?? frame.value
        // An identical frame is not drawn twice, and a late frame of an earlier step is dropped.
        const isShown = shown !== null && shown.sample === wanted
        if (next.isAhead || (!isFirst && isShown && (next.sample !== wanted || isSamePicture(next, shown)))) {
          acknowledge(next.seq)
          continue
        }
      }
      newest = next
      // The first frame, and those of a paused cursor, respond to input; others are rendered at the chosen rate.
      onAnimationFrame(apply, at !== null || isFirst ? 0 : (1000 * EARLY) / settings.hz)
      isFirst = false
    }
  }

  /** Sends the cursor position of a running stream to the host; set while a stream runs on a fixed sample. */
  let sendPosition: () => void = () => undefined
  function followCursor(
    host: Plan['host'],
    stream: string,
    first: number,
    step: (to: number) => void,
    signal: AbortSignal,
  ): void {
    let sent = first
    let isSending = false
    let stepped = first
    sendPosition = () => {
      const at = plan.value?.at ?? null
      if (!signal.aborted && at !== null && at !== stepped) step((stepped = at))
      if (signal.aborted || isSending || at === null || at === sent) return
      sent = at
      isSending = true
      host.api.views
        .stand({ stream, at })
        .then((isKnown) => isKnown || signal.aborted || restart())
        .catch(() => signal.aborted || restart())
        .finally(() => {
          isSending = false
          sendPosition()
        })
    }
    sendPosition()
  }

  function start(): void {
    clearTimeout(timer)
    abort?.abort()
    abort = null
    sendPosition = () => undefined
    const next = plan.value
    if (next === null) return
    startedMs = performance.now()
    const { signal } = (abort = new AbortController())
    const again = (reason: string | null): void => {
      if (signal.aborted) return
      error.value = reason
      timer = setTimeout(start, AGAIN_MS)
    }
    follow(next, signal).then(
      () => again(null),
      (reason: unknown) => again(reason instanceof Error ? reason.message : String(reason)),
    )
  }

  // The first change acts at once, a burst (scrolling, held arrow key) at most every 30 ms.
  function restart(): void {
    clearTimeout(timer)
    timer = setTimeout(start, Math.max(0, startedMs + RESTART_MS - performance.now()))
  }
  // Also while nothing can be requested, because the cursor is moving to another source.
  const first = query()
  const before = lastFrames.get(name)
  const isSame = first !== null && before?.query === JSON.stringify(first)
  if (isSame && connection.host !== null && before.turn === (ofHost.has(name) ? 0 : source.turn))
    frame.value = before.frame as Frames[N]
  // Frames of one source are not kept for another.
  watch(
    () => source.switches,
    () => {
      if (ofHost.has(name)) return
      lastFrames.delete(name)
      abort?.abort()
      frame.value = null
    },
    { flush: 'sync' },
  )
  watch([() => plan.value?.key, () => plan.value?.host], restart)
  watch(
    () => plan.value?.at,
    () => sendPosition(),
  )
  start()
  if (options.isView) source.viewers++
  onScopeDispose(() => {
    if (options.isView && --source.viewers === 0) {
      source.turned()
      time.unnote()
    }
    clearTimeout(timer)
    abort?.abort()
  })
  return { frame, error }
}
