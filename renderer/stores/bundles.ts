/** Bundles in their folder: open, verify, download, remove. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { VerdictOfBundle } from '#core/api/incidents.ts'
import type { Client } from './client.ts'
import { fileName } from './bundle-name.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useShellStore } from './shell.ts'

const NOT_READ = 'The bundle was not downloaded'
const NOT_VERIFIED = 'The bundle was not verified'

/** Decodes base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

export interface Check {
  readonly name: string
  /** null: still reading, or failed with the reason in `notice`. */
  readonly verdict: VerdictOfBundle | null
  readonly notice: Notice | null
}

export const useBundlesStore = defineStore('bundles', () => {
  const connection = useConnectionStore()
  const shell = useShellStore()
  const notice = shallowRef<Notice | null>(null)
  /** Current request and its bundle; empty if none. */
  const busy = ref('')
  const check = shallowRef<Check | null>(null)
  const fetching = shallowRef<{ readonly name: string; readonly bytes: number } | null>(null)
  let [checking, fetched]: (AbortController | null)[] = [null, null]

  async function request(
    name: string,
    what: string,
    verb: (api: Client['incidents']) => Promise<void>,
  ): Promise<boolean> {
    if (busy.value !== '') return false
    if (connection.host === null) {
      notice.value = noHost(what)
      return false
    }
    busy.value = name
    try {
      await verb(connection.host.api.incidents)
      notice.value = null
      return true
    } catch (error) {
      notice.value = refusal(what, error)
      return false
    } finally {
      busy.value = ''
    }
  }
  const open = (name: string): Promise<boolean> =>
    request(`open ${name}`, 'The bundle was not opened', (api) => api.open({ name }))
  const remove = (name: string): Promise<boolean> =>
    request(`remove ${name}`, 'The bundle was not removed', (api) => api.removeBundle({ name }))

  /** Reads and hashes every member again. */
  async function verify(name: string): Promise<void> {
    checking?.abort()
    const { signal } = (checking = new AbortController())
    const update = (more: Partial<Check>): void => {
      if (!signal.aborted) check.value = { name, verdict: null, notice: null, ...more }
    }
    update({})
    if (connection.host === null) return update({ notice: noHost(NOT_VERIFIED) })
    try {
      update({ verdict: await connection.host.api.incidents.verify({ name }, { signal }) })
    } catch (error) {
      update({ notice: refusal(NOT_VERIFIED, error) })
    }
  }
  function closeCheck(): void {
    checking?.abort()
    check.value = null
  }

  /** Parts become blobs, which the browser may keep outside the heap; the file is assembled when all have arrived. */
  async function fetchFile(name: string): Promise<void> {
    if (fetching.value !== null) return
    if (connection.host === null) {
      notice.value = noHost(NOT_READ)
      return
    }
    const { signal } = (fetched = new AbortController())
    fetching.value = { name, bytes: 0 }
    try {
      const parts: Blob[] = []
      let bytes = 0
      let isComplete = false
      for await (const part of await connection.host.api.incidents.read({ name }, { signal })) {
        if (signal.aborted) return
        parts.push(new Blob([bytesOf(part.base64)]))
        fetching.value = { name, bytes: (bytes += parts.at(-1)?.size ?? 0) }
        isComplete = part.isLast
      }
      if (signal.aborted) return
      if (!isComplete) throw new Error('the Sluice host ended the download early')
      const saved = await shell.save(fileName(name), new Blob(parts, { type: 'application/zip' }))
      notice.value = saved.kind === 'failed' ? saved.notice : null
    } catch (error) {
      if (!signal.aborted) notice.value = refusal(NOT_READ, error)
    } finally {
      fetching.value = null
    }
  }
  const cancelFetch = (): void => fetched?.abort()

  return { notice, busy, check, fetching, open, remove, verify, closeCheck, fetchFile, cancelFetch }
})
