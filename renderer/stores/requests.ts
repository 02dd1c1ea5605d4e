/** Requests to the host, one at a time, with the last refusal. */
import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

export interface Requests<A> {
  /** Refusal of the last request. */
  readonly notice: ShallowRef<Notice | null>
  /** Name of the current request; empty if none. */
  readonly busy: Ref<string>
  /**
   * @param name  name of the request while it runs.
   * @param what  failure text if it is refused.
   * @returns     the response; undefined if refused, with the reason in `notice`.
   */
  readonly request: <R>(name: string, what: string, verb: (api: A) => Promise<R>) => Promise<R | undefined>
}

/** @param part  part of the contract that the requests use. */
export function useRequests<A>(part: (api: Client) => A): Requests<A> {
  const connection = useConnectionStore()
  const notice = shallowRef<Notice | null>(null)
  const busy = ref('')
  async function request<R>(name: string, what: string, verb: (api: A) => Promise<R>): Promise<R | undefined> {
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
  return { notice, busy, request }
}
