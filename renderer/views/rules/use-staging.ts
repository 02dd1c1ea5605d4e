/** Actions on staged changes, and the last refusal. */
import { shallowRef, type ShallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import type { Client } from '../../stores/client.ts'
import { useStagedEditsStore } from '../../stores/staged-edits.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { noHost, refusal } from '../../stores/refusal.ts'
import type { Terms } from '../../stores/rule-draft.ts'

export interface Staging {
  /** Reason why the last action failed; null after a success. */
  readonly notice: ShallowRef<Notice | null>
  /** @param id  null = all of the service. */
  unstage: (service: ServiceName, id: string | null) => Promise<boolean>
  stage: (service: ServiceName, form: RuleForm, terms: Terms, replaces?: string) => Promise<boolean>
  undo: (changeId: string) => Promise<boolean>
  stagePolicy: (service: ServiceName, policy: string) => Promise<boolean>
}

export function useStaging(): Staging {
  const connection = useConnectionStore()
  const edits = useStagedEditsStore()
  const notice = shallowRef<Notice | null>(null)
  async function request(what: string, verb: (client: Client) => Promise<unknown>): Promise<boolean> {
    try {
      if (connection.host === null) {
        notice.value = noHost(what)
        return false
      }
      await verb(connection.host.api)
      notice.value = null
      return true
    } catch (error) {
      notice.value = refusal(what, error)
      return false
    }
  }
  return {
    notice,
    unstage: (service, id) => request('The change is still staged', () => edits.unstage(service, id)),
    stage: (service, form, terms, replaces) =>
      request('The change was not staged', () => edits.stage({ service, form, terms, replaces })),
    stagePolicy: (service, policy) => request('The policy was not staged', () => edits.stagePolicy(service, policy)),
    undo: (changeId) => request('The revert was not staged', ({ rules }) => rules.undo({ changeId })),
  }
}
