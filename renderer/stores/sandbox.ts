/**
 * Scenario of the sandbox: origin, text, and the result of its check by the host. It survives closing the page; nothing
 * of it reads or writes a server.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Span } from '#core/api/history.ts'
import type { ForkInput, Forked, GalleryEntry, ScenarioCheck } from '#core/api/sandbox.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSandboxVariantsStore } from './sandbox-variants.ts'
import { useTimeStore } from './time.ts'

export type Workload = ForkInput['workload']
export type Origin =
  | { readonly kind: 'fork'; readonly cluster: string; readonly atMs: number; readonly span: Span | null }
  | { readonly kind: 'gallery'; readonly entry: GalleryEntry }
export type SandboxTab = 'runs' | 'scenario' | 'calibration'

const CHECK_MS = 250
const NOT_FORKED = 'No scenario was created'

export const useSandboxStore = defineStore('sandbox', () => {
  const connection = useConnectionStore()
  const time = useTimeStore()
  const variants = useSandboxVariantsStore()
  const origin = shallowRef<Origin | null>(null)
  const text = ref('')
  /** Text as last opened or saved. */
  const savedText = ref('')
  const check = shallowRef<ScenarioCheck | null>(null)
  /** Last valid check, else the last one: a typo does not remove the picture. */
  const good = shallowRef<ScenarioCheck | null>(null)
  const known = computed(() => (check.value?.faults.length === 0 ? check.value : (good.value ?? check.value)))
  const checkedText = ref<string | null>(null)
  /** Refusal of the last request. */
  const notice = shallowRef<Notice | null>(null)
  const tab = ref<SandboxTab>('runs')
  /** Description of the current request; empty if none. */
  const busy = ref('')
  /** Counts loaded scenarios: state of the previous one is dropped. */
  const loads = ref(0)

  const hasScenario = computed(() => origin.value !== null)
  const isUnsaved = computed(() => origin.value !== null && text.value !== savedText.value)
  const isChecked = computed(() => checkedText.value === text.value && check.value !== null)
  /** Action waiting for the decision about unsaved changes. */
  const waiting = shallowRef<(() => void) | null>(null)

  function put(from: Origin, next: { text: string; check: ScenarioCheck }): void {
    clearTimeout(timer)
    loads.value++
    origin.value = from
    text.value = savedText.value = checkedText.value = next.text
    check.value = next.check
    good.value = next.check.faults.length === 0 ? next.check : null
    notice.value = null
    tab.value = next.check.faults.length > 0 ? 'scenario' : 'runs'
    variants.set(next.check.suggested)
  }
  /** Back to the first screen. */
  function close(): void {
    guarded(() => {
      clearTimeout(timer)
      loads.value++
      origin.value = check.value = good.value = checkedText.value = notice.value = null
      text.value = savedText.value = ''
      variants.set([])
    })
  }
  /** Runs the action at once, or after asking about unsaved changes. */
  function guarded(act: () => void): void {
    if (isUnsaved.value) waiting.value = act
    else act()
  }
  function leave(): void {
    const act = waiting.value
    waiting.value = null
    savedText.value = text.value
    act?.()
  }
  const stay = (): void => {
    waiting.value = null
  }

  async function request<T>(label: string, what: string, verb: () => Promise<T>): Promise<T | null> {
    if (connection.host === null) {
      notice.value = noHost(what)
      return null
    }
    busy.value = label
    notice.value = null
    try {
      return await verb()
    } catch (error) {
      notice.value = refusal(what, error)
      return null
    } finally {
      busy.value = ''
    }
  }
  const api = () => connection.host!.api

  const gallery = shallowRef<readonly GalleryEntry[] | null>(null)
  const galleryNotice = shallowRef<Notice | null>(null)
  async function loadGallery(): Promise<void> {
    if (connection.host === null) return
    try {
      gallery.value = (await connection.host.api.sandbox.gallery()).entries
      galleryNotice.value = null
    } catch (error) {
      galleryNotice.value = refusal('The scenarios were not loaded', error)
    }
  }
  async function open(entry: GalleryEntry): Promise<void> {
    const opened = await request('opening the scenario', 'The scenario was not opened', () =>
      api().sandbox.open({ id: entry.id }),
    )
    if (opened) put({ kind: 'gallery', entry }, opened)
  }
  /** Forks the state at the cursor, or a range of history. */
  async function fork(span: Span | null, workload: Workload): Promise<Forked | null> {
    if (busy.value !== '') return null
    const atMs = span === null && time.isPaused ? time.atMs : null
    const forked = await request('reading the state', NOT_FORKED, () => api().sandbox.fork({ span, atMs, workload }))
    if (forked) put({ kind: 'fork', cluster: forked.cluster, atMs: forked.atMs, span }, forked)
    return forked
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  async function checkNow(): Promise<void> {
    const sent = text.value
    try {
      if (connection.host === null) throw new Error('The Sluice host is not connected')
      const answer = await connection.host.api.sandbox.check({ text: sent })
      if (sent !== text.value) return
      check.value = answer
      if (answer.faults.length === 0) good.value = answer
      checkedText.value = sent
      notice.value = null
    } catch (error) {
      if (sent === text.value) notice.value = refusal('The scenario was not checked', error)
    }
  }
  function edit(next: string): void {
    if (next === text.value) return
    text.value = next
    clearTimeout(timer)
    timer = setTimeout(() => void checkNow(), CHECK_MS)
  }

  /** Removes jobs whose inputs the model does not cover: an edit, so it is unsaved. */
  async function leaveOut(jobIds: readonly string[]): Promise<void> {
    const sent = text.value
    const left = await request('excluding jobs', 'The jobs were not excluded', () =>
      api().sandbox.leaveOut({ text: sent, jobIds: [...jobIds] }),
    )
    if (left === null || sent !== text.value) return
    clearTimeout(timer)
    text.value = checkedText.value = left.text
    check.value = good.value = left.check
  }

  /** @returns  true if saved. */
  async function save(name: string, replace: boolean): Promise<boolean> {
    const kept = text.value
    const saved = await request('saving', 'The scenario was not saved', () =>
      api().sandbox.save({ name, text: kept, replace }),
    )
    if (saved === null) return false
    savedText.value = kept
    await loadGallery()
    return true
  }
  async function remove(entry: GalleryEntry): Promise<void> {
    const done = await request('removing', 'The scenario was not removed', async () => {
      await api().sandbox.remove({ id: entry.id })
      return true
    })
    if (done) await loadGallery()
  }

  return {
    origin,
    text,
    savedText,
    check,
    known,
    notice,
    tab,
    busy,
    loads,
    hasScenario,
    isUnsaved,
    isChecked,
    waiting,
    close,
    guarded,
    leave,
    stay,
    gallery,
    galleryNotice,
    loadGallery,
    open,
    fork,
    edit,
    leaveOut,
    checkNow,
    save,
    remove,
  }
})
