/**
 * History view: selected day, the two spans, and requests to seek and to manage recordings. Kept while another view is
 * shown.
 */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { HistoryMeasure, MoversBy, Span, TierId } from '#core/api/history.ts'
import type { EventGroup } from '../format/event-groups.ts'
import { useRequests } from './requests.ts'
import { useTimeStore } from './time.ts'

export type SpanName = 'a' | 'b'

export const useHistoryStore = defineStore('history', () => {
  const time = useTimeStore()
  /** Start of the selected day; null = the newest day. */
  const dayMs = ref<number | null>(null)
  /** Visible part of the day; null = chosen by the stored data. */
  const zoom = shallowRef<Span | null>(null)
  const measure = ref<HistoryMeasure>('serviceMs')
  const by = ref<MoversBy>('job')
  /** Events drawn in the day chart and listed in its table. */
  const eventGroup = ref<EventGroup>('all')
  const spans = shallowRef<Readonly<Record<SpanName, Span | null>>>({ a: null, b: null })
  /** Span that the next drag or arrow key sets. */
  const setting = ref<SpanName>('a')
  /** Shows the day as a table. */
  const isTable = ref(false)
  const isRecordOpen = ref(false)
  const { notice, busy, request } = useRequests((api) => api.history)

  function showDay(fromMs: number | null): void {
    dayMs.value = fromMs
    zoom.value = null
  }
  /** @param goesOn  continue with the other span: B after A. */
  function setSpan(name: SpanName, span: Span | null, { goesOn = false } = {}): void {
    spans.value = { ...spans.value, [name]: span }
    if (goesOn && name === 'a') setting.value = 'b'
  }
  /** Sets both at once; the next drag changes B. */
  function compare(a: Span | null, b: Span): void {
    spans.value = { a, b }
    setting.value = 'b'
  }
  /** Makes the selected span B, compared with the preceding span of the same length. */
  function againstBefore(): void {
    const b = spans.value.b ?? spans.value.a
    if (b !== null) compare({ fromMs: 2 * b.fromMs - b.toMs, toMs: b.fromMs }, b)
  }
  /** Another source has another history. */
  function reset(): void {
    showDay(null)
    spans.value = { a: null, b: null }
    setting.value = 'a'
    isRecordOpen.value = false
    notice.value = null
  }

  const done = (answer: Promise<unknown>): Promise<boolean> => answer.then((value) => value !== undefined)
  const yes = (): true => true

  /** Moves the cursor to the sample nearest to an instant, from memory or from disk. */
  const goTo = (atMs: number): void => time.goToTime(atMs)
  const open = (name: string): Promise<boolean> =>
    done(request(`open ${name}`, 'The recording was not opened', (api) => api.open({ name }).then(yes)))
  const leave = (): Promise<boolean> =>
    done(request('leave', 'The recording is still open', (api) => api.leave().then(yes)))
  const setKeep = (tier: TierId, keepMs: number): Promise<boolean> =>
    done(request('keep', 'The retention was not changed', (api) => api.setKeep({ tier, keepMs }).then(yes)))
  const setQuota = (bytes: number): Promise<boolean> =>
    done(request('quota', 'The quota was not changed', (api) => api.setQuota({ bytes }).then(yes)))
  const record = (name: string, span: Span): Promise<{ name: string; bytes: number } | undefined> =>
    request('record', 'Nothing was recorded', (api) => api.record({ name, span }))
  const remove = (name: string): Promise<boolean> =>
    done(request(`remove ${name}`, 'The recording was not removed', (api) => api.removeRecording({ name }).then(yes)))

  return {
    dayMs,
    zoom,
    measure,
    by,
    eventGroup,
    spans,
    setting,
    isTable,
    isRecordOpen,
    notice,
    busy,
    showDay,
    setSpan,
    compare,
    againstBefore,
    reset,
    goTo,
    open,
    leave,
    setKeep,
    setQuota,
    record,
    remove,
  }
})
