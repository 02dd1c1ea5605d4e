/** State of one commit, from its button to the answer of the last server. */
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { PastChange, ServiceName } from '#core/api/rule-edits.ts'
import { useConnectionStore } from '../../../stores/connection.ts'
import { noHost, refusal } from '../../../stores/refusal.ts'
import { useUndoStore } from '../../../stores/undo.ts'

const NOT_COMMITTED = 'Nothing was committed'

export function useCommit() {
  const connection = useConnectionStore()
  const undo = useUndoStore()
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
      // A lost connection implies nothing about the servers.
      notice.value =
        connection.host === host
          ? refusal(NOT_COMMITTED, error)
          : {
              code: 'COMMIT_UNKNOWN',
              what: 'The connection to the Sluice host was lost during the commit',
              why: 'commands that were sent by then are not reverted',
              unaffected: 'timers on the servers',
              next: 'The change history shows the state of every server once the Sluice host responds.',
            }
    } finally {
      isSending.value = false
    }
  }
  /** Cancels the commit; the answer to the commit has the outcome. */
  async function cancel(): Promise<void> {
    try {
      await connection.host?.api.rules.cancel()
    } catch (error) {
      notice.value = refusal('The commit was not canceled', error)
    }
  }
  function reset(): void {
    result.value = notice.value = null
  }
  return { isSending, result, notice, isDone: computed(() => result.value !== null), commit, cancel, reset }
}
