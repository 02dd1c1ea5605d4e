/**
 * What the next bundle is to be: of which incident and stretch, with pseudonyms or with names, and without which parts. With
 * another incident or another source it begins anew, and pseudonyms are on again: names leave only where that was chosen for this one.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Span } from '#core/api/history.ts'
import type { ExportInput, IncidentsFrame, MemberGroup } from '#core/api/incidents.ts'
import { useSourceStore } from './source.ts'
import { useTimeStore } from './time.ts'

export type Detail = ExportInput['detail']
/** What of an incident a bundle is made by. */
export type Subject = Pick<NonNullable<IncidentsFrame['selected']>, 'id' | 'fromMs' | 'toMs' | 'changedMs'>

const SECOND_MS = 1000
const least = (at: number): number => Math.floor(at / SECOND_MS) * SECOND_MS

export const useBundleStore = defineStore('bundle', () => {
  const [source, time] = [useSourceStore(), useTimeStore()]
  const subject = shallowRef<Subject | null>(null)
  const redact = ref(true)
  const detail = ref<Detail>('fit')
  const leaveOut = shallowRef<ReadonlySet<MemberGroup>>(new Set())
  /** As an operator has set it; null: that of the incident, or the window on screen. */
  const ownSpan = shallowRef<Span | null>(null)
  const windowSpan = shallowRef<Span | null>(null)
  /** What is wrong with the stretch as it is typed now; empty = nothing. */
  const spanFault = ref('')
  /** Whether what leaves is being looked at in full. */
  const isPreviewOpen = ref(false)

  function reset(): void {
    redact.value = true
    detail.value = 'fit'
    leaveOut.value = new Set()
    ownSpan.value = null
    isPreviewOpen.value = false
  }
  /** The incident on the page; null: none. */
  function of(next: Subject | null): void {
    const isOther = next?.id !== subject.value?.id
    subject.value = next
    if (isOther) reset()
  }
  /** Takes the window on screen as it stands now: it does not run on under what is read of it. */
  function takeWindow(): void {
    const { atMs, windowMs } = time
    if (atMs === null) windowSpan.value = null
    else {
      const toMs = least(atMs) + SECOND_MS
      const next = { fromMs: Math.max(0, toMs - Math.max(SECOND_MS, least(windowMs))), toMs }
      if (next.fromMs !== windowSpan.value?.fromMs || next.toMs !== windowSpan.value.toMs) windowSpan.value = next
    }
  }
  /** Stretch that is taken without an own one. */
  const usualSpan = computed<Span | null>(() => {
    const at = subject.value
    return at === null ? windowSpan.value : { fromMs: at.fromMs, toMs: at.toMs }
  })
  const span = computed(() => ownSpan.value ?? usualSpan.value)
  function setSpan(next: Span): void {
    const usual = usualSpan.value
    const isUsual = usual !== null && next.fromMs === usual.fromMs && next.toMs === usual.toMs
    ownSpan.value = isUsual ? null : next
  }
  function leave(group: MemberGroup, isOut: boolean): void {
    const next = new Set(leaveOut.value)
    if (isOut) next.add(group)
    else next.delete(group)
    leaveOut.value = next
  }

  /** Names that are pseudonyms already are not replaced again: there is nothing to choose. */
  const isPseudonymous = computed(() => source.naming?.playback?.bundle?.redacted === true)
  /** null: nothing is on screen that a bundle could be of, or its stretch is none. */
  const input = computed<ExportInput | null>(() => {
    const at = span.value
    if (at === null || at.toMs <= at.fromMs || spanFault.value !== '') return null
    return {
      ...{ incident: subject.value?.id ?? null, span: at, redact: redact.value, detail: detail.value },
      ...{ leaveOut: [...leaveOut.value].sort(), name: null },
    }
  })
  return {
    ...{ subject, redact, detail, leaveOut, ownSpan, usualSpan, span, spanFault, isPreviewOpen, isPseudonymous, input },
    ...{ of, reset, takeWindow, setSpan, leave },
  }
})
