/**
 * Export of a range of history as CSV, which continues while other views are shown. Chunks are collected in blobs,
 * which the browser may keep outside the heap, so that a million rows never form one string.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { CsvQuery } from '#core/api/history.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useShellStore } from './shell.ts'

const NOT_WRITTEN = 'The CSV was not written'
/** Characters collected before they become a blob. */
const PART_CHARS = 4_000_000

export interface ExportProgress {
  readonly file: string
  readonly rows: number
  readonly bytes: number
  /** Progress, 0..1; null: unknown. */
  readonly share: number | null
}
export type ExportEnd =
  | (ExportProgress & { readonly kind: 'done' })
  | (ExportProgress & { readonly kind: 'cancelled' })
  | { readonly kind: 'failed'; readonly notice: Notice }

/** Text in order of arrival, as blobs of a few megabytes. */
export class BlobText {
  readonly #blobs: Blob[] = []
  #texts: string[] = []
  #chars = 0
  #size = 0

  /** Bytes so far. */
  get size(): number {
    return this.#size + this.#chars
  }

  push(text: string): void {
    this.#texts.push(text)
    this.#chars += text.length
    if (this.#chars >= PART_CHARS) this.#seal()
  }

  end(type: string): Blob {
    this.#seal()
    return new Blob(this.#blobs, { type })
  }

  #seal(): void {
    if (this.#texts.length === 0) return
    const blob = new Blob(this.#texts)
    this.#blobs.push(blob)
    this.#size += blob.size
    this.#texts = []
    this.#chars = 0
  }
}

export const useHistoryExportStore = defineStore('history-export', () => {
  const connection = useConnectionStore()
  const shell = useShellStore()
  const progress = shallowRef<ExportProgress | null>(null)
  const end = shallowRef<ExportEnd | null>(null)
  const isOpen = ref(false)
  let abort: AbortController | null = null

  async function follow(file: string, query: CsvQuery, signal: AbortSignal): Promise<ExportEnd> {
    if (connection.host === null) return { kind: 'failed', notice: noHost(NOT_WRITTEN) }
    const text = new BlobText()
    let rows = 0
    let share: number | null = null
    for await (const part of await connection.host.api.history.csv(query, { signal })) {
      if (signal.aborted) break
      text.push(part.text)
      rows += part.rows
      share = part.done ?? share
      progress.value = { file, rows, bytes: text.size, share }
      if (!part.isLast) continue
      const blob = text.end('text/csv;charset=utf-8')
      const saved = await shell.save(file, blob)
      if (saved.kind === 'failed') return saved
      return { kind: saved.kind === 'cancelled' ? 'cancelled' : 'done', file, rows, bytes: blob.size, share }
    }
    if (signal.aborted) return { kind: 'cancelled', file, rows, bytes: text.size, share }
    const why = 'the Sluice host ended the export early'
    const next = 'Export again; no partial file was written.'
    return { kind: 'failed', notice: { code: 'NOT_DONE', what: NOT_WRITTEN, why, unaffected: 'stored history', next } }
  }

  /** One at a time; a partial file is discarded. */
  async function run(file: string, query: CsvQuery): Promise<void> {
    if (progress.value !== null) return
    const { signal } = (abort = new AbortController())
    progress.value = { file, rows: 0, bytes: 0, share: null }
    end.value = null
    try {
      end.value = await follow(file, query, signal)
    } catch (error) {
      end.value = signal.aborted
        ? { kind: 'cancelled', ...progress.value }
        : { kind: 'failed', notice: refusal(NOT_WRITTEN, error) }
    }
    progress.value = null
  }
  const cancel = (): void => abort?.abort()
  const isRunning = computed(() => progress.value !== null)

  return { progress, end, isOpen, isRunning, run, cancel }
})
