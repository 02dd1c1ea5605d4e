/** What the host is asked to do, one thing at a time, and why it refused the last. */
import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

export interface Asking<A> {
  /** Why the last verb was refused. */
  readonly notice: ShallowRef<Notice | null>
  /** What the host is asked to do now; empty = nothing. */
  readonly busy: Ref<string>
  /**
   * @param name  of it, while it is under way.
   * @param what  what did not happen, should it be refused.
   * @returns     what the host answered; undefined where it refused: why stands in `notice`.
   */
  readonly ask: <R>(name: string, what: string, verb: (api: A) => Promise<R>) => Promise<R | undefined>
}

/** @param part  of the contract, that is asked. */
export function useAsking<A>(part: (api: Client) => A): Asking<A> {
  const connection = useConnectionStore()
  const notice = shallowRef<Notice | null>(null)
  const busy = ref('')
  async function ask<R>(name: string, what: string, verb: (api: A) => Promise<R>): Promise<R | undefined> {
    if (connection.host === null) {
      notice.value = noHost(what)
      return undefined
    }
    busy.value = name
    try {
      const answer = await verb(part(connection.host.api))
      notice.value = null
      return answer
    } catch (error) {
      notice.value = refusal(what, error)
      return undefined
    } finally {
      busy.value = ''
    }
  }
  return { notice, busy, ask }
}
