/**
 * Draft of one rule, as a form and as text; the side edited last is authoritative. It is checked by the host 120 ms
 * after the last key press; only the response to the newest request counts, and it fills the other side. The draft
 * survives closing the view, and nothing of it reaches a server.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { RuleCheck, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useStagedEditsStore } from './staged-edits.ts'

const DEBOUNCE_MS = 120
/** Half an hour: long enough to see an effect, short enough to be forgotten without harm. */
export const USUAL_EXPIRY_S = 1800

export interface Terms {
  readonly expiresS: number | null
  /** True if a change replaces the expiry of the rule, which it keeps otherwise. */
  readonly renews?: boolean | undefined
  readonly reason: string
}
export interface Draft {
  readonly service: ServiceName
  /** Staged change that it replaces. */
  readonly replaces?: string | undefined
  /** Current rates on the servers, for a change. */
  readonly rateNow?: { readonly min: number; readonly max: number } | undefined
  readonly form: RuleForm
  readonly text: string
  readonly terms: Terms
  /** Side edited last. */
  readonly side: 'form' | 'text'
  readonly isTouched: boolean
}
/** Initial values of a draft. */
export interface Opening {
  readonly service: ServiceName
  readonly form?: Partial<RuleForm>
  /** Pasted line; takes precedence over the form. */
  readonly text?: string
  readonly terms?: Partial<Terms>
  readonly replaces?: string | undefined
  readonly rateNow?: Draft['rateNow']
}

const NOT_STAGED = 'The change was not staged'
const EMPTY: RuleForm = {
  verb: 'start',
  name: '',
  conditions: '',
  rate: '',
  rank: '',
  realtime: false,
  queue: 'reg',
}
export const parameters: Readonly<Record<ServiceName, string>> = {
  ost_io: 'ost.OSS.ost_io.nrs_tbf_rule',
  mdt: 'mds.MDS.mdt.nrs_tbf_rule',
  mdt_readpage: 'mds.MDS.mdt_readpage.nrs_tbf_rule',
}

export const useRuleDraftStore = defineStore('rule-draft', () => {
  const connection = useConnectionStore()
  const edits = useStagedEditsStore()
  const draft = shallowRef<Draft | null>(null)
  /** Newest result of a check; for an older text while `isChecking`. */
  const check = shallowRef<RuleCheck | null>(null)
  /** Reason why the host did not check or stage it. */
  const notice = shallowRef<Notice | null>(null)
  const isChecking = ref(false)
  /** True if `check` is for the current draft. */
  const isFresh = ref(false)
  const isStaging = ref(false)
  /** Set after an attempt to stage with faults: from then on missing fields are marked, too. */
  const wasTried = ref(false)
  /** Change that was last staged from here. */
  const stagedId = ref<string | null>(null)
  /** Another draft, waiting for the decision about this one. */
  const waiting = shallowRef<Opening | null>(null)

  let latest = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Resolves when the latest check is answered or superseded. */
  let settled: Promise<void> = Promise.resolve()
  let release = (): void => undefined
  /** A pasted text is replaced by its normalized form; a typed one is kept. */
  let isPasted = false
  /** Counts drafts, so that a response can be matched to its draft, and the editor is reset for each. */
  const openings = ref(0)

  function apply(answer: RuleCheck): void {
    const now = draft.value
    if (now === null) return
    const text = now.side === 'form' || isPasted ? answer.text : now.text
    isPasted = false
    draft.value = { ...now, text, form: now.side === 'text' ? answer.form : now.form }
    check.value = answer
    isFresh.value = true
    notice.value = null
  }
  async function send(mine: number): Promise<void> {
    const now = draft.value
    if (now === null || mine !== latest) return
    try {
      if (connection.host === null) {
        notice.value = noHost('The rule was not checked')
        return
      }
      const renews = now.form.verb === 'change' && now.terms.renews === true ? { renews: true } : {}
      const question = now.side === 'text' ? { text: now.text } : { form: now.form, ...renews }
      const answer = await connection.host.api.rules.check({ service: now.service, draft: question })
      if (mine === latest) apply(answer)
    } catch (error) {
      if (mine === latest) notice.value = refusal('The rule was not checked', error)
    } finally {
      if (mine === latest) isChecking.value = false
    }
  }
  function requestCheck(delayMs = DEBOUNCE_MS): void {
    const mine = ++latest
    isChecking.value = true
    isFresh.value = false
    clearTimeout(timer)
    release()
    settled = new Promise((done) => {
      release = done
      timer = setTimeout(() => void send(mine).finally(done), delayMs)
    })
  }
  function end(): void {
    latest++
    openings.value++
    clearTimeout(timer)
    release()
    isChecking.value = isFresh.value = isStaging.value = wasTried.value = isPasted = false
    draft.value = check.value = notice.value = waiting.value = null
  }

  function start(opening: Opening): void {
    end()
    isPasted = opening.text !== undefined
    draft.value = {
      service: opening.service,
      replaces: opening.replaces,
      rateNow: opening.rateNow,
      form: { ...EMPTY, ...opening.form },
      text: opening.text ?? '',
      terms: { expiresS: USUAL_EXPIRY_S, reason: '', ...opening.terms },
      side: isPasted ? 'text' : 'form',
      isTouched: isPasted,
    }
    requestCheck(0)
  }
  /** Opens a draft; an edited one is only discarded after confirmation (`leave`, `stay`). */
  function open(opening: Opening): void {
    if (draft.value?.isTouched) waiting.value = opening
    else start(opening)
  }
  function leave(): void {
    const next = waiting.value
    end()
    if (next) start(next)
  }
  const stay = (): void => {
    waiting.value = null
  }

  function editForm(patch: Partial<RuleForm>): void {
    if (draft.value === null) return
    draft.value = { ...draft.value, form: { ...draft.value.form, ...patch }, side: 'form', isTouched: true }
    isPasted = false
    requestCheck()
  }
  /** @param pasted  the text may be any lctl line, also in the syntax of 2013: it is replaced by the host's reading. */
  function editText(text: string, pasted = false): void {
    if (draft.value === null) return
    draft.value = { ...draft.value, text, side: 'text', isTouched: true }
    isPasted = pasted
    requestCheck(pasted ? 0 : DEBOUNCE_MS)
  }
  function editTerms(patch: Partial<Terms>): void {
    if (draft.value === null) return
    const isRenewed = patch.renews !== undefined && patch.renews !== draft.value.terms.renews
    // A change of the expiry alone is complete, as a form: it has no command.
    const side = isRenewed ? 'form' : draft.value.side
    draft.value = { ...draft.value, terms: { ...draft.value.terms, ...patch }, side, isTouched: true }
    if (isRenewed) requestCheck(0)
  }
  /** Text sent if it differs from what was typed, for example by a blank; null if equal. */
  const sentAs = computed(() => {
    const answered = isFresh.value ? check.value?.text : undefined
    return answered === undefined || answered === draft.value?.text ? null : answered
  })
  /** On blur, the text field shows what is sent. */
  function tidyText(): void {
    if (draft.value && sentAs.value !== null) draft.value = { ...draft.value, text: sentAs.value }
  }

  /**
   * Stages the draft and closes it.
   *
   * @returns  the id of the staged change; null if it has faults or was refused, see `check` and `notice`.
   */
  async function stage(): Promise<string | null> {
    if (isStaging.value || draft.value === null) return null
    isStaging.value = true
    const opened = openings.value
    try {
      if (!isFresh.value) requestCheck(0)
      while (isChecking.value) await settled
      const now = draft.value
      if (now === null || opened !== openings.value || !isFresh.value || check.value === null) return null
      wasTried.value = true
      if (check.value.faults.length > 0) return null
      if (connection.host === null) {
        notice.value = noHost(NOT_STAGED)
        return null
      }
      const { service, form, terms, replaces } = now
      const id = await edits.stage({ service, form, terms, replaces })
      stagedId.value = id
      // Input typed during the request is kept.
      if (draft.value === now) end()
      else if (draft.value !== null) draft.value = { ...draft.value, replaces: id }
      return id
    } catch (error) {
      notice.value = refusal(NOT_STAGED, error)
      return null
    } finally {
      isStaging.value = false
    }
  }

  /** Checks the same draft again: jobs come and go. */
  const recheck = (): void => {
    if (draft.value && !isChecking.value && !isStaging.value) requestCheck(0)
  }
  watch(
    () => connection.host,
    (host) => host && draft.value && requestCheck(0),
  )
  return {
    draft,
    check,
    notice,
    isChecking,
    isFresh,
    isStaging,
    wasTried,
    waiting,
    sentAs,
    openings,
    stagedId,
    open,
    leave,
    stay,
    cancel: end,
    editForm,
    editText,
    editTerms,
    tidyText,
    stage,
    recheck,
  }
})
