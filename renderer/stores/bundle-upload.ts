/**
 * Upload of bundles from other consoles to the host, in chunks, one file at a time. The host verifies each when it is
 * complete.
 */
import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { base64Of } from './base64.ts'
import { fileName, nameFor } from './bundle-name.ts'
import { useBundlesStore } from './bundles.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Bytes of a chunk: as base64 it fits into a message. */
export const PART_BYTES = 384 * 1024

export interface Upload {
  readonly name: string
  readonly sent: number
  readonly bytes: number
  /** Number of queued files. */
  readonly waiting: number
}
export interface UploadFault {
  readonly name: string
  readonly notice: Notice
  /** File to upload again under another name; null if that would not help. */
  readonly file: File | null
}

const notTaken = (name: string): string => `${name} was not uploaded`
function faultOf(file: File): Notice | null {
  const what = notTaken(file.name)
  if (!/\.zip$/i.test(file.name))
    return { code: 'NOT_A_BUNDLE', what, why: 'a bundle is one .zip file', next: 'Choose the .zip as it was exported.' }
  if (file.size === 0) return { code: 'NOT_A_BUNDLE', what, why: 'the file is empty', next: 'Copy it again.' }
  return null
}

export const useBundleUploadStore = defineStore('bundle-upload', () => {
  const connection = useConnectionStore()
  const bundles = useBundlesStore()
  const now = shallowRef<Upload | null>(null)
  const faults = shallowRef<readonly UploadFault[]>([])
  /** Names uploaded since the last upload was started. */
  const taken = shallowRef<readonly string[]>([])
  let abort: AbortController | null = null
  let queue: { file: File; name: string }[] = []

  const report = (fault: UploadFault): void => void (faults.value = [...faults.value, fault].slice(-8))
  const dismiss = (fault: UploadFault): void => void (faults.value = faults.value.filter((f) => f !== fault))

  async function send(file: File, name: string, signal: AbortSignal): Promise<void> {
    const { host } = connection
    if (host === null) return report({ name, notice: noHost(notTaken(fileName(name))), file })
    const upload = crypto.randomUUID()
    try {
      for (let at = 0; at < file.size; at += PART_BYTES) {
        now.value = { name, sent: at, bytes: file.size, waiting: queue.length }
        const bytes = new Uint8Array(await file.slice(at, at + PART_BYTES).arrayBuffer())
        if (signal.aborted) return
        const isLast = at + PART_BYTES >= file.size
        await host.api.incidents.put({ name, upload, at, base64: base64Of(bytes), isLast }, { signal })
        if (signal.aborted) return
      }
      taken.value = [...taken.value, name]
    } catch (error) {
      if (!signal.aborted) report({ name, notice: refusal(notTaken(fileName(name)), error), file })
    }
  }
  async function drain(): Promise<void> {
    if (now.value !== null) return
    const { signal } = (abort = new AbortController())
    let of = 0
    for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift(), of++)
      await send(next.file, next.name, signal)
    if (signal.aborted) queue = []
    now.value = null
    const [only] = taken.value
    // A single file is opened; several are left to choose from.
    if (of === 1 && only !== undefined && !signal.aborted) await bundles.open(only)
  }
  function put(files: Iterable<File>): Promise<void> {
    if (now.value === null) taken.value = []
    faults.value = []
    for (const file of files) {
      const notice = faultOf(file)
      if (notice !== null) report({ name: file.name, notice, file: null })
      else queue.push({ file, name: nameFor(file.name) })
    }
    return drain()
  }
  /** Uploads a file again whose name was refused, under another one. */
  function putAs(fault: UploadFault, name: string): Promise<void> {
    dismiss(fault)
    if (now.value === null) taken.value = []
    if (fault.file !== null) queue.push({ file: fault.file, name })
    return drain()
  }
  /** Also clears the queue; the host discards incomplete uploads. */
  function cancel(): void {
    queue = []
    abort?.abort()
  }
  const isRunning = computed(() => now.value !== null)
  return { now, faults, taken, isRunning, put, putAs, cancel, dismiss }
})
