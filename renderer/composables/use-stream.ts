/**
 * One stream of the host for as long as the component lives.
 *
 * The stream restarts when its query, the update rate, the connection or what is on screen changes; the old frame stays until
 * the new stream's first one, unless it is of another source. A paused cursor that moves keeps its stream: the host is told
 * where it stands, one move at a time, the newest wins; of the samples beside it the frames are here already (look-ahead.ts), each
 * acknowledged as it comes. All others are applied once per animation frame, newest wins, and acknowledged only then: a window
 * that cannot keep up is thereby sent less. A hidden page holds no stream.
 */
import { useDocumentVisibility } from '@vueuse/core'
import { computed, nextTick, onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { onAnimationFrame } from './animation-frame.ts'
import { isSamePicture, LookAhead } from './look-ahead.ts'
import { openStream, type Frames, type Queries, type StreamName } from './streams.ts'

const RESTART_MS = 30
const AGAIN_MS = 1000
let streams = 0
/** Last frame of each stream by its query, so that a view that comes back is not empty for its first moment. */
const kept = new Map<StreamName, { query: string; turn: number; frame: unknown }>()
/** Streams that tell of the window's host; every other one is of the source on screen. */
const ofHost: ReadonlySet<StreamName> = new Set(['status', 'connections', 'incidents'])

export interface StreamOptions {
  /** Most frames a second, below the chosen update rate. */
  readonly maxHz?: number
  /** Always the newest sample, also while the cursor is paused. */
  readonly followNewest?: boolean | (() => boolean)
  /** This stream is the view: the sample it shows is the sample on screen. */
  readonly isView?: boolean
}
export interface Stream<F> {
  readonly frame: ShallowRef<F | null>
  /** Why the stream is not running; null while it is. */
  readonly error: Ref<string | null>
}

/** @param query  null = no stream now; read reactively. */
export function useStream<N extends StreamName>(
  name: N,
  query: () => Queries[N] | null,
  options: StreamOptions = {},
): Stream<Frames[N]> {
  const [connection, settings, time, source] = [
    useConnectionStore(),
    useSettingsStore(),
    useTimeStore(),
    useSourceStore(),
  ]
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
    const asked = query()
    if (asked === null || connection.host === null || visibility.value === 'hidden') return null
    const isOfHost = ofHost.has(name)
    // Until it is known where the cursor stands in what has come on screen, nothing of it is asked for.
    if (!isOfHost && !follows() && time.isElsewhere) return null
    const hz = Math.min(settings.hz, options.maxHz ?? 10)
    const at = follows() ? null : time.at
    const text = JSON.stringify(asked)
    const turn = isOfHost ? 0 : source.turn
    const of = isOfHost ? (name === 'status' ? source.looks : 0) : `${turn} ${source.switches}`
    const key = JSON.stringify([asked, hz, at === null, of])
    return { host: connection.host, query: text, key, asked, hz, at, turn }
  })
  type Plan = NonNullable<typeof plan.value>

  async function follow({ host, asked, hz, at, query: text, turn }: Plan, signal: AbortSignal): Promise<void> {
    const stream = `${name}-${++streams}`
    const stood = new LookAhead<Frames[N]>()
    let newest: Frames[N] | null = null
    const acknowledge = (seq: number): void => void host.api.host.ack({ stream, seq }).catch(() => undefined)
    const apply = (): void => {
      if (newest === null || signal.aborted) return
      frame.value = newest
      kept.set(name, { query: text, turn, frame: newest })
      if (options.isView) {
        time.note(newest)
        source.turned()
      }
      // Once it is in the page. It stands for the frames before it too; a lost line has ended the stream already.
      const { seq, isAhead } = newest
      if (!isAhead) void nextTick(() => acknowledge(seq))
      newest = null
    }
    const step = (to: number): void => {
      const known = stood.of(to)
      if (known === undefined) return
      newest = known
      onAnimationFrame(apply)
    }
    let isFirst = true
    const frames = await openStream(host.api, name, { ...asked, stream, hz, at, ahead: at !== null }, signal)
    for await (const next of frames) {
      if (signal.aborted) return
      // Something else has come on screen, of which the status will tell; this stream is not about that.
      if (!ofHost.has(name) && source.frame !== null && (next.turn ?? turn) !== turn) continue
      if (isFirst && at !== null) standOn(host, stream, at, step, signal)
      error.value = null
      if (at !== null) {
        stood.keep(next)
        const wanted = plan.value?.at
        const shown = newest ?? frame.value
        // What is shown already is not drawn twice; what came late, of a step before it, is not gone back to.
        const isShown = shown !== null && shown.sample === wanted
        if (next.isAhead || (!isFirst && isShown && (next.sample !== wanted || isSamePicture(next, shown)))) {
          acknowledge(next.seq)
          continue
        }
      }
      newest = next
      // Its first frame, and a paused cursor's, is what a hand waits for; the flow is rendered at the chosen rate.
      onAnimationFrame(apply, at !== null || isFirst ? 0 : 850 / settings.hz)
      isFirst = false
    }
  }

  /** Tells the host where the cursor of a running stream is; set while one runs on a fixed sample. */
  let stand: () => void = () => undefined
  function standOn(
    host: Plan['host'],
    stream: string,
    first: number,
    step: (to: number) => void,
    signal: AbortSignal,
  ): void {
    let [told, isTelling, stepped] = [first, false, first]
    stand = () => {
      const at = plan.value?.at ?? null
      if (!signal.aborted && at !== null && at !== stepped) step((stepped = at))
      if (signal.aborted || isTelling || at === null || at === told) return
      told = at
      isTelling = true
      host.api.views
        .stand({ stream, at })
        .then((isKnown) => isKnown || signal.aborted || restart())
        .catch(() => signal.aborted || restart())
        .finally(() => {
          isTelling = false
          stand()
        })
    }
    stand()
  }

  function start(): void {
    clearTimeout(timer)
    abort?.abort()
    abort = null
    stand = () => undefined
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

  // The first change acts at once, a burst of them (scrolling, held arrow key) at most every 30 ms.
  function restart(): void {
    clearTimeout(timer)
    timer = setTimeout(start, Math.max(0, startedMs + RESTART_MS - performance.now()))
  }
  // Also while nothing can be asked for, because the cursor is on its way elsewhere.
  const [first, before] = [query(), kept.get(name)]
  const isSame = first !== null && before?.query === JSON.stringify(first)
  if (isSame && connection.host !== null && before.turn === (ofHost.has(name) ? 0 : source.turn))
    frame.value = before.frame as Frames[N]
  // What one source has shown is nothing of another.
  watch(
    () => source.switches,
    () => {
      if (ofHost.has(name)) return
      kept.delete(name)
      abort?.abort()
      frame.value = null
    },
    { flush: 'sync' },
  )
  watch([() => plan.value?.key, () => plan.value?.host], restart)
  watch(
    () => plan.value?.at,
    () => stand(),
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
