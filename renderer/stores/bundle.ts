/**
 * Options of the next bundle: incident and range, pseudonyms or names, and excluded parts. Another incident or source
 * resets them, and redaction is on again: names are exported only if that was chosen for this bundle.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Span } from '#core/api/history.ts'
import type { ExportInput, IncidentsFrame, MemberGroup } from '#core/api/incidents.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'

export type Detail = ExportInput['detail']
/** Fields of an incident that a bundle needs. */
export type Subject = Pick<NonNullable<IncidentsFrame['selected']>, 'id' | 'fromMs' | 'toMs' | 'changedMs'>

const SECOND_MS = 1000
const least = (at: number): number => Math.floor(at / SECOND_MS) * SECOND_MS

export const useBundleStore = defineStore('bundle', () => {
  const source = useSourceStore()
  const time = useTimeStore()
  const subject = shallowRef<Subject | null>(null)
  const redact = ref(true)
  const detail = ref<Detail>('fit')
  const leaveOut = shallowRef<ReadonlySet<MemberGroup>>(new Set())
  /** Range set by the operator; null: that of the incident, or the current window. */
  const chosenSpan = shallowRef<Span | null>(null)
  const windowSpan = shallowRef<Span | null>(null)
  /** Fault of the range as typed; empty if valid. */
  const spanFault = ref('')
  /** True while the preview of the contents is open. */
  const isPreviewOpen = ref(false)

  function reset(): void {
    redact.value = true
    detail.value = 'fit'
    leaveOut.value = new Set()
    chosenSpan.value = null
    isPreviewOpen.value = false
  }
  /** Sets the current incident; null: none. */
  function of(next: Subject | null): void {
    const isOther = next?.id !== subject.value?.id
    subject.value = next
    if (isOther) reset()
  }
  /** Fixes the current window, so that it does not advance during review. */
  function takeWindow(): void {
    const { atMs, windowMs } = time
    if (atMs === null) windowSpan.value = null
    else {
      const toMs = least(atMs) + SECOND_MS
      const next = { fromMs: Math.max(0, toMs - Math.max(SECOND_MS, least(windowMs))), toMs }
      if (next.fromMs !== windowSpan.value?.fromMs || next.toMs !== windowSpan.value.toMs) windowSpan.value = next
    }
  }
  /** Default range. */
  const usualSpan = computed<Span | null>(() => {
    const at = subject.value
    return at === null ? windowSpan.value : { fromMs: at.fromMs, toMs: at.toMs }
  })
  const span = computed(() => chosenSpan.value ?? usualSpan.value)
  function setSpan(next: Span): void {
    const usual = usualSpan.value
    const isUsual = usual !== null && next.fromMs === usual.fromMs && next.toMs === usual.toMs
    chosenSpan.value = isUsual ? null : next
  }
  function leave(group: MemberGroup, isOut: boolean): void {
    const next = new Set(leaveOut.value)
    if (isOut) next.add(group)
    else next.delete(group)
    leaveOut.value = next
  }

  /** Names that are already pseudonyms are not replaced again: redaction cannot be chosen. */
  const isPseudonymous = computed(() => source.naming?.playback?.bundle?.redacted === true)
  /** null: there is nothing to export, or the range is not valid. */
  const input = computed<ExportInput | null>(() => {
    const at = span.value
    if (at === null || at.toMs <= at.fromMs || spanFault.value !== '') return null
    return {
      incident: subject.value?.id ?? null,
      span: at,
      redact: redact.value,
      detail: detail.value,
      leaveOut: [...leaveOut.value].sort(),
      name: null,
    }
  })
  return {
    subject,
    redact,
    detail,
    leaveOut,
    chosenSpan,
    usualSpan,
    span,
    spanFault,
    isPreviewOpen,
    isPseudonymous,
    input,
    of,
    reset,
    takeWindow,
    setSpan,
    leave,
  }
})
