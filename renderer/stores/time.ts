/**
 * Time cursor. `at` null follows the newest sample; a number pauses at that sample while ingest continues. Samples that
 * are no longer in memory are opened by the host, which then plays back its store. The view may lag behind the cursor,
 * so it reports its sample by `note`.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { formatClock } from '../format/units.ts'
import { useConnectionStore } from './connection.ts'
import { refusal } from './refusal.ts'
import { useSettingsStore } from './settings.ts'
import { useSourceStore } from './source.ts'

const MINUTE_MS = 60_000
const FURTHER_BACK = 'no earlier data'
const FURTHER_ON = 'no later data'
/** Smallest window, ms; a day is the largest. */
const LEAST_MS = 10_000
const MOST_MS = 86_400_000
/** Selectable widths of the window [t - w, t]. */
export const windows = [
  { label: '1m', ms: MINUTE_MS },
  { label: '5m', ms: 300_000 },
  { label: '15m', ms: 900_000 },
  { label: '1h', ms: 3_600_000 },
  { label: '6h', ms: 21_600_000 },
  { label: 'Day', ms: MOST_MS },
] as const

/** View before zooming into a range. */
export interface Crumb {
  readonly windowMs: number
  /** End of that window; null: the newest. */
  readonly atMs: number | null
}

export const useTimeStore = defineStore('time', () => {
  const source = useSourceStore()
  const connection = useConnectionStore()
  const at = ref<number | null>(null)
  const windowMs = ref<number>(useSettingsStore().windowMs)
  const noted = shallowRef<{ sample: number; atMs: number | null } | null>(null)
  const crumbs = shallowRef<readonly Crumb[]>([])
  /** Message of the last key press besides a move, for example that there is no later event. */
  const message = ref('')

  const newest = computed(() => source.frame?.sample ?? 0)
  /** Oldest sample that can be reached without the host opening anything. */
  const oldest = computed(() => Math.max(1, source.frame?.oldest ?? 1))
  const isRecorded = computed(() => source.frame?.source.kind === 'RECORDED')
  const isPaused = computed(() => at.value !== null || isRecorded.value)
  const intervalMs = computed(() => source.frame?.clock.intervalMs ?? 1000)

  /** Sample on screen: reported by the view, else as requested. */
  const sample = computed(() => at.value ?? noted.value?.sample ?? newest.value)
  /** Its time; computed from the newest until the frame has arrived. */
  const atMs = computed(() => {
    if (noted.value?.sample === sample.value) return noted.value.atMs
    const newestAt = source.frame?.atMs ?? null
    return newestAt === null ? null : newestAt - (newest.value - sample.value) * intervalMs.value
  })
  /** Samples received since the one on screen. */
  const held = computed(() => (isPaused.value && !isRecorded.value ? Math.max(0, newest.value - sample.value) : 0))

  function note(frame: { sample: number; atMs: number | null }): void {
    noted.value = { sample: frame.sample, atMs: frame.atMs }
  }
  /**
   * The view that reported samples was unmounted: without another one the clock follows the newest. A paused cursor
   * stays.
   */
  function unnote(): void {
    if (!isPaused.value) noted.value = null
  }
  const within = (target: number): number => Math.max(oldest.value, Math.min(newest.value, Math.round(target)))
  function goTo(target: number): void {
    message.value = ''
    at.value = within(target)
  }
  // A paused cursor may become older than the host's memory, and after a restart of the host it may be beyond the
  // newest sample: it moves to the nearest available one, and the clock shows that.
  watch([oldest, newest], () => {
    if (at.value !== null && newest.value > 0) at.value = within(at.value)
  })

  /** The host is sent one instant at a time; of further ones only the newest is kept. */
  let wantedMs: number | null = null
  let requestedMs = 0
  const isGoing = ref(false)
  const requestedTurn = ref(0)
  /** Position reached at the host, in sample numbers of a turn that the window has not seen yet. */
  const ahead = shallowRef<{ turn: number; sample: number; atMs: number } | null>(null)
  /** True while the cursor is moving to another turn, for which the current sample numbers are not valid. */
  const isElsewhere = computed(() => ahead.value !== null || (isGoing.value && source.turn !== requestedTurn.value))

  function arrive(sampleThere: number, ms: number): void {
    at.value = sampleThere
    noted.value = { sample: sampleThere, atMs: ms }
  }
  watch(
    () => source.turn,
    (turn) => {
      const there = ahead.value
      noted.value = null
      if (there?.turn === turn) arrive(there.sample, there.atMs)
      else if (!isGoing.value) at.value = null
      ahead.value = null
    },
    { flush: 'sync' },
  )
  /** Nearest sample computed from the interval, if the host is not available. */
  function reckon(ms: number): number {
    const newestAt = source.frame?.atMs
    return newestAt === null || newestAt === undefined
      ? newest.value
      : newest.value - (newestAt - ms) / intervalMs.value
  }

  /** Moves to the sample nearest to an instant of the source's clock; beyond the memory, in stored history. */
  const goToTime = (ms: number): void => void travel(ms)
  async function travel(ms: number): Promise<void> {
    message.value = ''
    if (connection.host === null) return goTo(reckon(ms))
    wantedMs = ms
    if (isGoing.value) return
    isGoing.value = true
    try {
      while (wantedMs !== null) {
        requestedMs = wantedMs
        wantedMs = null
        await send(requestedMs)
      }
    } finally {
      isGoing.value = false
    }
  }
  type Position = { readonly sample: number; readonly atMs: number; readonly turn?: number | undefined }
  /** Last position reached on the way to the wanted one; used if that is refused. */
  let passed: Position | null = null
  function moveTo({ turn, sample: sampleThere, atMs: ms }: Position): void {
    if (turn === undefined || turn === source.turn) return arrive(sampleThere, ms)
    ahead.value = { turn, sample: sampleThere, atMs: ms }
    source.look()
  }
  async function send(ms: number): Promise<void> {
    const { host } = connection
    requestedTurn.value = source.turn
    try {
      const reached = await host?.api.history.goTo({ atMs: ms })
      passed = wantedMs === null ? null : (reached ?? passed)
      if (reached && wantedMs === null) moveTo(reached)
    } catch (error) {
      const there = passed
      if (wantedMs === null || connection.host !== host) passed = null
      if (connection.host !== host) return
      if (there && wantedMs === null) {
        moveTo(there)
        return source.notify(refusal(`The cursor was not moved to ${formatClock(ms)}`, error))
      }
      const nearest = reckon(ms)
      const beyondMs = Math.max(oldest.value - nearest, nearest - newest.value - 1) * intervalMs.value
      // A short step beyond the data ends at the last sample; far from any data the cursor does not move.
      if (!isRecorded.value && beyondMs <= MINUTE_MS) {
        goTo(nearest)
        if (beyondMs > 0) message.value = nearest < oldest.value ? FURTHER_BACK : FURTHER_ON
      } else source.notify(refusal(`The cursor was not moved to ${formatClock(ms)}`, error))
    }
  }

  /** Ends a playback, or follows the newest again. */
  function live(): void {
    message.value = ''
    wantedMs = null
    if (!isRecorded.value) {
      at.value = null
      // No mounted view reports samples: the one that was paused on would stand for the newest.
      if (source.viewers === 0) noted.value = null
    } else
      void connection.host?.api.history
        .leave()
        .then(() => source.look())
        .catch((error: unknown) => source.notify(refusal('The recording is still open', error)))
  }
  const pause = (): void => {
    at.value ??= sample.value
  }
  const toggle = (): void => (isPaused.value ? live() : pause())

  /** Another source: its samples have other numbers. */
  function reset(): void {
    at.value = noted.value = ahead.value = wantedMs = null
    crumbs.value = []
    message.value = ''
  }
  /** Moves the cursor by whole samples and pauses there; beyond the samples in memory the host is asked. */
  function step(by: number): void {
    const under = wantedMs ?? (isGoing.value || ahead.value ? requestedMs : null)
    if (under !== null) {
      goToTime(under + by * intervalMs.value)
      return
    }
    const target = (at.value ?? sample.value) + by
    const isBeyond = target < oldest.value || (isRecorded.value && target > newest.value)
    if (isBeyond && connection.host !== null && atMs.value !== null) void travelOn(atMs.value, by)
    else goTo(target)
  }
  async function travelOn(fromMs: number, by: number): Promise<void> {
    await travel(fromMs + by * intervalMs.value)
    const there = ahead.value?.atMs ?? atMs.value
    if (there === fromMs) message.value = by > 0 ? FURTHER_ON : FURTHER_BACK
  }
  function stepMinutes(by: number): void {
    const from = wantedMs ?? (isGoing.value || ahead.value ? requestedMs : atMs.value)
    if (from !== null) goToTime(from + by * MINUTE_MS)
  }

  /** Last event jumped to: its sample may be slightly before it. */
  let lastEvent: { atMs: number; sample: number } | null = null
  let isSearching = false
  async function event(direction: 'next' | 'previous'): Promise<void> {
    const { host } = connection
    const from = lastEvent?.sample === at.value && lastEvent ? lastEvent.atMs : atMs.value
    if (host === null || from === null || isSearching || isGoing.value) return
    isSearching = true
    try {
      const found = await host.api.history.event({ atMs: from, direction })
      if (found.atMs === null) message.value = direction === 'next' ? 'no later event' : 'no earlier event'
      else {
        await travel(found.atMs)
        lastEvent = { atMs: found.atMs, sample: ahead.value?.sample ?? at.value ?? -1 }
      }
    } catch (error) {
      source.notify(refusal('The event was not found', error))
    } finally {
      isSearching = false
    }
  }

  /** Zooms to the range from..to, and stores the previous view. */
  function zoom(fromMs: number, toMs: number): void {
    const from = Math.min(fromMs, toMs)
    const to = Math.max(fromMs, toMs)
    crumbs.value = [...crumbs.value, { windowMs: windowMs.value, atMs: isPaused.value ? atMs.value : null }]
    windowMs.value = Math.max(LEAST_MS, Math.min(MOST_MS, Math.round(to - from)))
    goToTime(to)
  }
  /** Zooms out to the previous window or to the given one. */
  function stepOut(to = crumbs.value.length - 1): void {
    const crumb = crumbs.value[to]
    if (!crumb) return
    crumbs.value = crumbs.value.slice(0, to)
    windowMs.value = crumb.windowMs
    if (crumb.atMs === null) live()
    else goToTime(crumb.atMs)
  }
  const resetZoom = (): void => stepOut(0)
  /** A width chosen by name resets the zoom. */
  function chooseWindow(ms: number): void {
    crumbs.value = []
    windowMs.value = ms
  }

  return {
    at,
    windowMs,
    newest,
    oldest,
    isPaused,
    isRecorded,
    isElsewhere,
    isGoing,
    intervalMs,
    sample,
    atMs,
    held,
    message,
    noted,
    note,
    unnote,
    pause,
    live,
    reset,
    toggle,
    step,
    stepMinutes,
    event,
    goTo,
    goToTime,
    crumbs,
    zoom,
    stepOut,
    resetZoom,
    chooseWindow,
  }
})
