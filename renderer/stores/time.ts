/**
 * The time cursor. `at` null follows the newest sample; a number stands on that sample while ingest goes on. What the source
 * no longer holds in memory is gone to by the host, which then plays back what it has kept.
 * What is on screen may lag behind what was asked for, so views report the sample they show by `note`.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { formatClock } from '../format/units.ts'
import { useConnectionStore } from './connection.ts'
import { refusal } from './refusal.ts'
import { useSettingsStore } from './settings.ts'
import { useSourceStore } from './source.ts'

const MINUTE_MS = 60_000
const [FURTHER_BACK, FURTHER_ON] = ['nothing is kept further back', 'nothing is kept further on']
/** Least width of a window, ms; a day is the most. */
const LEAST_MS = 10_000
const MOST_MS = 86_400_000
/** Widths of the window [t - w, t]. */
export const windows = [
  { label: '1m', ms: MINUTE_MS },
  { label: '5m', ms: 300_000 },
  { label: '15m', ms: 900_000 },
  { label: '1h', ms: 3_600_000 },
  { label: '6h', ms: 21_600_000 },
  { label: 'Day', ms: MOST_MS },
] as const

/** What was shown before a stretch was zoomed into. */
export interface Crumb {
  readonly windowMs: number
  /** End of that window; null: the newest. */
  readonly atMs: number | null
}

export const useTimeStore = defineStore('time', () => {
  const [source, connection] = [useSourceStore(), useConnectionStore()]
  const at = ref<number | null>(null)
  const windowMs = ref<number>(useSettingsStore().windowMs)
  const noted = shallowRef<{ sample: number; atMs: number | null } | null>(null)
  const crumbs = shallowRef<readonly Crumb[]>([])
  /** What the last key has to say beside a move, for example that there is no later event. */
  const said = ref('')

  const newest = computed(() => source.frame?.sample ?? 0)
  /** How far back can be stepped without the host opening anything. */
  const oldest = computed(() => Math.max(1, source.frame?.oldest ?? 1))
  const isRecorded = computed(() => source.frame?.source.kind === 'RECORDED')
  const isPaused = computed(() => at.value !== null || isRecorded.value)
  const intervalMs = computed(() => source.frame?.clock.intervalMs ?? 1000)

  /** The sample on screen: reported by the view, else what was asked for. */
  const sample = computed(() => at.value ?? noted.value?.sample ?? newest.value)
  /** Its instant; reckoned back from the newest until the frame is here. */
  const atMs = computed(() => {
    if (noted.value?.sample === sample.value) return noted.value.atMs
    const newestAt = source.frame?.atMs ?? null
    return newestAt === null ? null : newestAt - (newest.value - sample.value) * intervalMs.value
  })
  /** Samples that came in since the one on screen. */
  const held = computed(() => (isPaused.value && !isRecorded.value ? Math.max(0, newest.value - sample.value) : 0))

  function note(frame: { sample: number; atMs: number | null }): void {
    noted.value = { sample: frame.sample, atMs: frame.atMs }
  }
  /** The view that reported samples is gone: without another one the clock follows the newest. A cursor that is paused stays. */
  function unnote(): void {
    if (!isPaused.value) noted.value = null
  }
  const within = (target: number): number => Math.max(oldest.value, Math.min(newest.value, Math.round(target)))
  function goTo(target: number): void {
    said.value = ''
    at.value = within(target)
  }
  // A cursor that stood still long enough is overtaken by what the host forgets, and after a restart of the host it may lie
  // beyond the newest: it moves to what can be shown, and the clock says so.
  watch([oldest, newest], () => {
    if (at.value !== null && newest.value > 0) at.value = within(at.value)
  })

  /** The host is asked for one instant at a time; of those asked for meanwhile the newest is next. */
  let wantedMs: number | null = null
  let askedMs = 0
  const isGoing = ref(false)
  const turnAsked = ref(0)
  /** Where the host stands, in samples of a turn that the window has not seen yet. */
  const ahead = shallowRef<{ turn: number; sample: number; atMs: number } | null>(null)
  /** Samples of what is on screen now say nothing of where the cursor is going. */
  const isElsewhere = computed(() => ahead.value !== null || (isGoing.value && source.turn !== turnAsked.value))

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
  /** Nearest sample by the interval alone: where no host can say better. */
  function reckon(ms: number): number {
    const newestAt = source.frame?.atMs
    return newestAt === null || newestAt === undefined
      ? newest.value
      : newest.value - (newestAt - ms) / intervalMs.value
  }

  /** Stands on the sample nearest to an instant of the source's clock; beyond the memory, on what is kept. */
  const goToTime = (ms: number): void => void travel(ms)
  async function travel(ms: number): Promise<void> {
    said.value = ''
    if (connection.host === null) return goTo(reckon(ms))
    wantedMs = ms
    if (isGoing.value) return
    isGoing.value = true
    try {
      while (wantedMs !== null) {
        askedMs = wantedMs
        wantedMs = null
        await ask(askedMs)
      }
    } finally {
      isGoing.value = false
    }
  }
  type Stood = { readonly sample: number; readonly atMs: number; readonly turn?: number | undefined }
  /** Where the host stood meanwhile, on the way to what is wanted now: there it stays when that is refused. */
  let passed: Stood | null = null
  function standAt({ turn, sample: sampleThere, atMs: ms }: Stood): void {
    if (turn === undefined || turn === source.turn) return arrive(sampleThere, ms)
    ahead.value = { turn, sample: sampleThere, atMs: ms }
    source.look()
  }
  async function ask(ms: number): Promise<void> {
    const { host } = connection
    turnAsked.value = source.turn
    try {
      const stood = await host?.api.history.goTo({ atMs: ms })
      passed = wantedMs === null ? null : (stood ?? passed)
      if (stood && wantedMs === null) standAt(stood)
    } catch (error) {
      const there = passed
      if (wantedMs === null || connection.host !== host) passed = null
      if (connection.host !== host) return
      if (there && wantedMs === null) {
        standAt(there)
        return source.tell(refusal(`The cursor did not go to ${formatClock(ms)}`, error))
      }
      const nearest = reckon(ms)
      const beyondMs = Math.max(oldest.value - nearest, nearest - newest.value - 1) * intervalMs.value
      // A step too far ends at the last sample there is; far from anything that is kept the cursor stays where it was.
      if (!isRecorded.value && beyondMs <= MINUTE_MS) {
        goTo(nearest)
        if (beyondMs > 0) said.value = nearest < oldest.value ? FURTHER_BACK : FURTHER_ON
      } else source.tell(refusal(`The cursor did not go to ${formatClock(ms)}`, error))
    }
  }

  /** Ends a playback, or follows the newest again. */
  function live(): void {
    said.value = ''
    wantedMs = null
    if (!isRecorded.value) at.value = null
    else
      void connection.host?.api.history
        .leave()
        .then(() => source.look())
        .catch((error: unknown) => source.tell(refusal('What was recorded is still on screen', error)))
  }
  const pause = (): void => {
    at.value ??= sample.value
  }
  const toggle = (): void => (isPaused.value ? live() : pause())

  /** Another source: its samples have other numbers. */
  function reset(): void {
    at.value = noted.value = ahead.value = wantedMs = null
    crumbs.value = []
    said.value = ''
  }
  /** Moves the cursor by whole samples and pauses there; beyond what can be stepped through the host is asked. */
  function step(by: number): void {
    const under = wantedMs ?? (isGoing.value || ahead.value ? askedMs : null)
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
    if (there === fromMs) said.value = by > 0 ? FURTHER_ON : FURTHER_BACK
  }
  function stepMinutes(by: number): void {
    const from = wantedMs ?? (isGoing.value || ahead.value ? askedMs : atMs.value)
    if (from !== null) goToTime(from + by * MINUTE_MS)
  }

  /** The event last gone to: its sample may be a little before it. */
  let lastEvent: { atMs: number; sample: number } | null = null
  let isAsking = false
  async function event(direction: 'next' | 'previous'): Promise<void> {
    const { host } = connection
    const from = lastEvent?.sample === at.value && lastEvent ? lastEvent.atMs : atMs.value
    if (host === null || from === null || isAsking || isGoing.value) return
    isAsking = true
    try {
      const found = await host.api.history.event({ atMs: from, direction })
      if (found.atMs === null) said.value = direction === 'next' ? 'no later event' : 'no earlier event'
      else {
        await travel(found.atMs)
        lastEvent = { atMs: found.atMs, sample: ahead.value?.sample ?? at.value ?? -1 }
      }
    } catch (error) {
      source.tell(refusal('The event was not found', error))
    } finally {
      isAsking = false
    }
  }

  /** Shows the stretch from..to, and keeps the way back out of it. */
  function zoom(fromMs: number, toMs: number): void {
    const [from, to] = [Math.min(fromMs, toMs), Math.max(fromMs, toMs)]
    crumbs.value = [...crumbs.value, { windowMs: windowMs.value, atMs: isPaused.value ? atMs.value : null }]
    windowMs.value = Math.max(LEAST_MS, Math.min(MOST_MS, Math.round(to - from)))
    goToTime(to)
  }
  /** Back out of zoomed windows, to the one before or to the named one. */
  function stepOut(to = crumbs.value.length - 1): void {
    const crumb = crumbs.value[to]
    if (!crumb) return
    crumbs.value = crumbs.value.slice(0, to)
    windowMs.value = crumb.windowMs
    if (crumb.atMs === null) live()
    else goToTime(crumb.atMs)
  }
  const resetZoom = (): void => stepOut(0)
  /** A width chosen by name is where zooming begins anew. */
  function chooseWindow(ms: number): void {
    crumbs.value = []
    windowMs.value = ms
  }

  return {
    ...{
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
      said,
    },
    ...{ noted, note, unnote, pause, live, reset, toggle, step, stepMinutes, event, goTo, goToTime },
    ...{ crumbs, zoom, stepOut, resetZoom, chooseWindow },
  }
})
