/**
 * Capabilities of the desktop shell, and saving of files. In the desktop the operator chooses the path and the host
 * writes the file; in a browser it is a download.
 */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Client } from './client.ts'
import { base64Of } from './base64.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Bytes of a chunk: as base64 it fits into a message. */
const PART_BYTES = 512 * 1024
const NOT_SAVED = 'The file was not written'
const NOT_FORGOTTEN = 'The passphrase was not removed'

export type About = Awaited<ReturnType<Client['shell']['about']>>
export type Saved =
  | { readonly kind: 'saved'; readonly name: string }
  /** Handed to the browser: the path is unknown. */
  | { readonly kind: 'downloaded' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly notice: Notice }

function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const useShellStore = defineStore('shell', () => {
  const connection = useConnectionStore()
  /** null: unknown yet. */
  const about = shallowRef<About | null>(null)
  /** List of alerts is open; a notification can open it, too. */
  const isAlertsOpen = ref(false)
  /** Result of a machine action, or the reason why a file was not written. */
  const notice = shallowRef<Notice | null>(null)
  const dismiss = (): void => void (notice.value = null)

  async function load(): Promise<About | null> {
    try {
      about.value = (await connection.host?.api.shell.about()) ?? null
    } catch {
      about.value = null // a host that does not answer is said by the line to it
    }
    return about.value
  }

  /** Saves through the host, where the operator chooses the path. */
  async function send(api: Client['shell'], name: string, blob: Blob): Promise<Saved> {
    const { id } = await api.save({ name, bytes: blob.size })
    if (id === null) return { kind: 'cancelled' }
    try {
      for (let at = 0; ; at += PART_BYTES) {
        const part = new Uint8Array(await blob.slice(at, at + PART_BYTES).arrayBuffer())
        const isLast = at + part.length >= blob.size
        const { name: written } = await api.put({ id, at, base64: base64Of(part), isLast })
        if (isLast) return { kind: 'saved', name: written ?? name }
      }
    } catch (error) {
      await api.drop({ id }).catch(() => undefined)
      throw error
    }
  }

  /** Saves a file for the operator. Failures are shown here, too, so that callers need not handle them. */
  async function save(name: string, blob: Blob): Promise<Saved> {
    const { host } = connection
    const known = about.value ?? (await load())
    if (host === null || known?.saves !== true) {
      download(name, blob)
      return { kind: 'downloaded' }
    }
    try {
      return await send(host.api.shell, name, blob)
    } catch (error) {
      notice.value = refusal(NOT_SAVED, error)
      return { kind: 'failed', notice: notice.value }
    }
  }

  /**
   * Removes the passphrase of one key file, or of all (null), from the keychain. @returns the number removed; null:
   * refused, with a notice.
   */
  async function forgetSecrets(file: string | null): Promise<number | null> {
    const { host } = connection
    if (host === null) {
      notice.value = noHost(NOT_FORGOTTEN)
      return null
    }
    try {
      const { forgotten } = await host.api.shell.forgetSecrets({ file })
      return forgotten
    } catch (error) {
      notice.value = refusal(NOT_FORGOTTEN, error)
      return null
    } finally {
      await load()
    }
  }
  return { about, isAlertsOpen, notice, dismiss, load, save, forgetSecrets }
})

/** The same for callers that ignore the result. */
export function saveFile(name: string, blob: Blob): void {
  void useShellStore().save(name, blob)
}
