/** Bundles from elsewhere on their way to the host, in parts, one file after the other. The host verifies each when it is whole. */
import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { base64Of } from './base64.ts'
import { fileName, nameFor } from './bundle-name.ts'
import { useBundlesStore } from './bundles.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Bytes of a part: as base64 they stay below what a message may hold. */
export const PART_BYTES = 384 * 1024

export interface Upload {
  readonly name: string
  readonly sent: number
  readonly bytes: number
  /** Files that wait behind it. */
  readonly waiting: number
}
export interface UploadFault {
  readonly name: string
  readonly notice: Notice
  /** There to be sent under another name; null where that would not help. */
  readonly file: File | null
}

const notTaken = (name: string): string => `${name} was not taken`
function faultOf(file: File): Notice | null {
  const what = notTaken(file.name)
  if (!/\.zip$/i.test(file.name))
    return { code: 'NOT_A_BUNDLE', what, why: 'a bundle is one .zip file', next: 'Choose the .zip as it was exported.' }
  if (file.size === 0) return { code: 'NOT_A_BUNDLE', what, why: 'the file is empty', next: 'Copy it again.' }
  return null
}

export const useBundleUploadStore = defineStore('bundle-upload', () => {
  const [connection, bundles] = [useConnectionStore(), useBundlesStore()]
  const now = shallowRef<Upload | null>(null)
  const faults = shallowRef<readonly UploadFault[]>([])
  /** Names that were taken since the last time something was sent. */
  const taken = shallowRef<readonly string[]>([])
  let abort: AbortController | null = null
  let queue: { file: File; name: string }[] = []

  const say = (fault: UploadFault): void => void (faults.value = [...faults.value, fault].slice(-8))
  const dismiss = (fault: UploadFault): void => void (faults.value = faults.value.filter((f) => f !== fault))

  async function send(file: File, name: string, signal: AbortSignal): Promise<void> {
    const { host } = connection
    if (host === null) return say({ name, notice: noHost(notTaken(fileName(name))), file })
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
      if (!signal.aborted) say({ name, notice: refusal(notTaken(fileName(name)), error), file })
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
    // One file is opened, as was asked for; several are a collection to choose from.
    if (of === 1 && only !== undefined && !signal.aborted) await bundles.open(only)
  }
  function put(files: Iterable<File>): Promise<void> {
    if (now.value === null) taken.value = []
    faults.value = []
    for (const file of files) {
      const notice = faultOf(file)
      if (notice !== null) say({ name: file.name, notice, file: null })
      else queue.push({ file, name: nameFor(file.name) })
    }
    return drain()
  }
  /** Sends what was refused because of its name again, under another one. */
  function putAs(fault: UploadFault, name: string): Promise<void> {
    dismiss(fault)
    if (now.value === null) taken.value = []
    if (fault.file !== null) queue.push({ file: fault.file, name })
    return drain()
  }
  /** Also what waits is let go; the host forgets parts without an end. */
  function cancel(): void {
    queue = []
    abort?.abort()
  }
  const isRunning = computed(() => now.value !== null)
  return { now, faults, taken, isRunning, put, putAs, cancel, dismiss }
})
