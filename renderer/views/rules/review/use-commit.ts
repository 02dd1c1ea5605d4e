/** One commit from its button to the last server's answer. */
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { PastChange, ServiceName } from '#core/api/rule-edits.ts'
import { useConnectionStore } from '../../../stores/connection.ts'
import { noHost, refusal } from '../../../stores/refusal.ts'
import { useUndoStore } from '../../../stores/undo.ts'

const NOT_COMMITTED = 'Nothing was committed'

export function useCommit() {
  const [connection, undo] = [useConnectionStore(), useUndoStore()]
  const isSending = ref(false)
  const result = shallowRef<{ changeId: string; nodes: PastChange['nodes'] } | null>(null)
  const notice = shallowRef<Notice | null>(null)

  async function commit(service: ServiceName, planId: string, typed: string): Promise<void> {
    if (isSending.value) return
    if (connection.host === null) {
      notice.value = noHost(NOT_COMMITTED)
      return
    }
    isSending.value = true
    notice.value = null
    const host = connection.host
    try {
      result.value = await host.api.rules.commit({ service, planId, typed })
      undo.committed('The staged changes were committed')
    } catch (error) {
      // A line that broke says nothing about the servers.
      notice.value =
        connection.host === host
          ? refusal(NOT_COMMITTED, error)
          : {
              code: 'COMMIT_UNKNOWN',
              what: 'The line to the host broke while it was committing',
              why: 'what it had sent by then stays sent',
              unaffected: 'timers on the servers',
              next: 'The undo list names the state of every server as soon as the host answers.',
            }
    } finally {
      isSending.value = false
    }
  }
  /** Cancels what is being sent; how that ends is in the answer to the commit. */
  async function cancel(): Promise<void> {
    try {
      await connection.host?.api.rules.cancel()
    } catch (error) {
      notice.value = refusal('The commit was not cancelled', error)
    }
  }
  function reset(): void {
    result.value = notice.value = null
  }
  return { isSending, result, notice, isDone: computed(() => result.value !== null), commit, cancel, reset }
}
