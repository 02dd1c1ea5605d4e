/**
 * Reset on a change of source: selections of a job, target, rule or time are cleared, the cursor follows the newest,
 * and drafts for one cluster cannot be sent to another.
 */
import { useCompareStore } from './compare.ts'
import { useHistoryStore } from './history.ts'
import { useJobsTableStore } from './jobs-table.ts'
import { useLocksStore } from './locks.ts'
import { useMetadataStore } from './metadata.ts'
import { useNoteStore } from './note.ts'
import { usePolicyDraftStore } from './policy-draft.ts'
import { useProposeStore } from './propose.ts'
import { useRuleDraftStore } from './rule-draft.ts'
import { useRulesViewStore } from './rules-view.ts'
import { useSelectionStore } from './selection.ts'
import { useTagsStore } from './tags.ts'
import { useTimeStore } from './time.ts'
import { useTokensStore } from './tokens.ts'
import { useUndoStore } from './undo.ts'

export function resetForSource(): void {
  const undo = useUndoStore()
  undo.quietly(letGo)
  undo.forget('jobs', 'rules', 'policies', 'views')
}

function letGo(): void {
  const selection = useSelectionStore()
  const time = useTimeStore()
  const jobs = useJobsTableStore()
  selection.clear()
  useTagsStore().clear()
  useProposeStore().close()
  time.reset()
  useCompareStore().clear()
  useNoteStore().reset()
  jobs.filter = jobs.target = ''

  const rules = useRulesViewStore()
  const draft = useRuleDraftStore()
  rules.node = rules.sought = rules.filter = ''
  rules.isReviewOpen = rules.isUndoOpen = rules.isDrawerOver = false
  draft.cancel()

  const metadata = useMetadataStore()
  const policies = usePolicyDraftStore()
  metadata.plane = null
  metadata.scope = metadata.row = metadata.filter = ''
  metadata.closed = new Set()
  metadata.isEditorOpen = false
  policies.reset()

  const locks = useLocksStore()
  locks.plane = null
  locks.filter = ''
  locks.select('')
  locks.follow()

  useHistoryStore().reset()

  const tokens = useTokensStore()
  tokens.show('')
  tokens.client = tokens.filter = ''
  tokens.inspector = null
  tokens.editing = null
}
