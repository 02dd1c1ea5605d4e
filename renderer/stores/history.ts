/**
 * The history page in this window: the day and the two spans that are looked at, and the verbs that move through time and
 * look after what is kept. Kept while another view is on screen.
 */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { ClusterMeasure, GroupBy, Span, TierId } from '#core/api/history.ts'
import { useAsking } from './asking.ts'
import { useTimeStore } from './time.ts'

export type SpanName = 'a' | 'b'

export const useHistoryStore = defineStore('history', () => {
  const time = useTimeStore()
  /** First instant of the day on the page; null = the newest day. */
  const dayMs = ref<number | null>(null)
  /** Part of the day on the page; null = as much as suits what is kept. */
  const zoom = shallowRef<Span | null>(null)
  const measure = ref<ClusterMeasure>('serviceMs')
  const by = ref<GroupBy>('job')
  const spans = shallowRef<Readonly<Record<SpanName, Span | null>>>({ a: null, b: null })
  /** Which span the next drag or arrow key sets. */
  const setting = ref<SpanName>('a')
  /** The day as a table. */
  const isTable = ref(false)
  const isRecordOpen = ref(false)
  const { notice, busy, ask } = useAsking((api) => api.history)

  function showDay(fromMs: number | null): void {
    dayMs.value = fromMs
    zoom.value = null
  }
  /** @param goesOn  the other span is the next to be set: after A comes B. */
  function setSpan(name: SpanName, span: Span | null, { goesOn = false } = {}): void {
    spans.value = { ...spans.value, [name]: span }
    if (goesOn && name === 'a') setting.value = 'b'
  }
  /** Both at once; the next drag changes B. */
  function compare(a: Span | null, b: Span): void {
    spans.value = { a, b }
    setting.value = 'b'
  }
  /** What was dragged first is B, against as long a stretch right before it. */
  function againstBefore(): void {
    const b = spans.value.b ?? spans.value.a
    if (b !== null) compare({ fromMs: 2 * b.fromMs - b.toMs, toMs: b.fromMs }, b)
  }
  /** Another source has another past. */
  function reset(): void {
    showDay(null)
    spans.value = { a: null, b: null }
    setting.value = 'a'
    isRecordOpen.value = false
    notice.value = null
  }

  const done = (answer: Promise<unknown>): Promise<boolean> => answer.then((value) => value !== undefined)
  const yes = (): true => true

  /** Every view stands at the sample nearest to an instant, out of memory or off the disk. */
  const goTo = (atMs: number): void => time.goToTime(atMs)
  const open = (name: string): Promise<boolean> =>
    done(ask(`open ${name}`, 'The recording was not opened', (api) => api.open({ name }).then(yes)))
  const leave = (): Promise<boolean> =>
    done(ask('leave', 'The recording is still on screen', (api) => api.leave().then(yes)))
  const setKeep = (tier: TierId, keepMs: number): Promise<boolean> =>
    done(ask('keep', 'The retention was not changed', (api) => api.setKeep({ tier, keepMs }).then(yes)))
  const setQuota = (bytes: number): Promise<boolean> =>
    done(ask('quota', 'The quota was not changed', (api) => api.setQuota({ bytes }).then(yes)))
  const record = (name: string, span: Span): Promise<{ name: string; bytes: number } | undefined> =>
    ask('record', 'Nothing was recorded', (api) => api.record({ name, span }))
  const remove = (name: string): Promise<boolean> =>
    done(ask(`remove ${name}`, 'The recording was not removed', (api) => api.removeRecording({ name }).then(yes)))

  return {
    ...{ dayMs, zoom, measure, by, spans, setting, isTable, isRecordOpen, notice, busy },
    ...{ showDay, setSpan, compare, againstBefore, reset, goTo, open, leave, setKeep, setQuota, record, remove },
  }
})
