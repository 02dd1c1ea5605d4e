/** Bundle export, which continues while other views are shown, and its report as Markdown. One at a time. */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { ExportEvent, ExportInput } from '#core/api/incidents.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

const NOT_WRITTEN = 'The bundle was not written'
const NO_REPORT = 'The report was not written'
const UNAFFECTED = 'the history, the notebook and earlier bundles'

export type BundleDone = Extract<ExportEvent, { kind: 'done' }>
export interface BundleProgress {
  readonly what: string
  /** Progress, 0..1. */
  readonly done: number
  readonly items?: { readonly done: number; readonly of: number; readonly unit: string } | undefined
}
export type BundleEnd =
  | BundleDone
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly notice: Notice; readonly input: ExportInput }

export const useBundleExportStore = defineStore('bundle-export', () => {
  const connection = useConnectionStore()
  const progress = shallowRef<BundleProgress | null>(null)
  const end = shallowRef<BundleEnd | null>(null)
  /** True if the export in `end` contains real names. */
  const withNames = ref(false)
  /** Refusal of the report. */
  const notice = shallowRef<Notice | null>(null)
  const isReporting = ref(false)
  let abort: AbortController | null = null

  async function follow(input: ExportInput, signal: AbortSignal): Promise<BundleEnd> {
    if (connection.host === null) return { kind: 'failed', notice: noHost(NOT_WRITTEN), input }
    for await (const event of await connection.host.api.incidents.export(input, { signal })) {
      if (signal.aborted) break
      if (event.kind === 'progress') progress.value = { what: event.what, done: event.done, items: event.items }
      else if (event.kind === 'failed') return { ...event, input }
      else return event
    }
    if (signal.aborted) return { kind: 'cancelled' }
    const why = 'the Sluice host ended the export early'
    const next = 'Export again; the partial file was discarded.'
    return { kind: 'failed', notice: { code: 'NOT_DONE', what: NOT_WRITTEN, why, unaffected: UNAFFECTED, next }, input }
  }
  async function run(input: ExportInput): Promise<void> {
    if (progress.value !== null) return
    const { signal } = (abort = new AbortController())
    progress.value = { what: '', done: 0 }
    end.value = null
    withNames.value = !input.redact
    try {
      end.value = await follow(input, signal)
    } catch (error) {
      end.value = signal.aborted
        ? { kind: 'cancelled' }
        : { kind: 'failed', notice: refusal(NOT_WRITTEN, error), input }
    }
    progress.value = null
  }
  const cancel = (): void => abort?.abort()
  const dismiss = (): void => void (end.value = null)

  /** Returns the report as text; null if refused, with the reason in `notice`. */
  async function report(input: ExportInput): Promise<{ name: string; text: string } | null> {
    if (isReporting.value) return null
    if (connection.host === null) {
      notice.value = noHost(NO_REPORT)
      return null
    }
    isReporting.value = true
    try {
      const answer = await connection.host.api.incidents.markdown(input)
      notice.value = null
      return answer
    } catch (error) {
      notice.value = refusal(NO_REPORT, error)
      return null
    } finally {
      isReporting.value = false
    }
  }
  const isRunning = computed(() => progress.value !== null)
  return { progress, end, withNames, notice, isRunning, isReporting, run, cancel, dismiss, report }
})
