/**
 * The one rule that is being edited: as a form and as the text that is written, whichever was touched last being the truth.
 * The host is asked about it 120 ms after the last key; of its answers only the one to the newest question counts, and it
 * fills the side that is not being typed in. The draft outlives the view, and nothing of it reaches a server.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { RuleCheck, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useStagedEditsStore } from './staged-edits.ts'

const DEBOUNCE_MS = 120
/** Half an hour: long enough to see whether it helps, short enough to be forgotten without harm. */
export const USUAL_EXPIRY_S = 1800

export interface Terms {
  readonly expiresS: number | null
  readonly reason: string
}
export interface Draft {
  readonly service: ServiceName
  /** Staged change that it takes the place of. */
  readonly replaces?: string | undefined
  /** Rates that stand on the servers, for a change. */
  readonly rateNow?: { readonly min: number; readonly max: number } | undefined
  readonly form: RuleForm
  readonly text: string
  readonly terms: Terms
  /** The side that was edited last. */
  readonly side: 'form' | 'text'
  readonly isTouched: boolean
}
/** What a draft is opened with. */
export interface Opening {
  readonly service: ServiceName
  readonly form?: Partial<RuleForm>
  /** A pasted line; it wins over the form. */
  readonly text?: string
  readonly terms?: Partial<Terms>
  readonly replaces?: string | undefined
  readonly rateNow?: Draft['rateNow']
}

const NOT_STAGED = 'The change was not staged'
const EMPTY: RuleForm = {
  ...{ verb: 'start', name: '', conditions: '', rate: '', rank: '', realtime: false, queue: 'reg' },
}
export const parameters: Readonly<Record<ServiceName, string>> = {
  ost_io: 'ost.OSS.ost_io.nrs_tbf_rule',
  mdt: 'mds.MDS.mdt.nrs_tbf_rule',
  mdt_readpage: 'mds.MDS.mdt_readpage.nrs_tbf_rule',
}

export const useRuleDraftStore = defineStore('rule-draft', () => {
  const [connection, edits] = [useConnectionStore(), useStagedEditsStore()]
  const draft = shallowRef<Draft | null>(null)
  /** The newest answer; of an older text while `isChecking`. */
  const check = shallowRef<RuleCheck | null>(null)
  /** Why the host did not check or stage it. */
  const notice = shallowRef<Notice | null>(null)
  const isChecking = ref(false)
  /** Whether `check` is the answer to the draft as it is. */
  const isFresh = ref(false)
  const isStaging = ref(false)
  /** Set when staging was tried with faults: from then on also what is merely missing is marked. */
  const wasTried = ref(false)
  /** The change that was staged last from here. */
  const stagedId = ref<string | null>(null)
  /** Another draft that waits for the word on this one. */
  const waiting = shallowRef<Opening | null>(null)

  let asked = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Ends with the newest question's answer, or as soon as there is a newer question. */
  let settled: Promise<void> = Promise.resolve()
  let release = (): void => undefined
  /** A pasted text is replaced by what it means; a typed one stays as it is typed. */
  let isPasted = false
  /** Counts drafts, so that an answer knows whether its own is still open, and the editor begins anew with each. */
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
    if (now === null || mine !== asked) return
    try {
      if (connection.host === null) {
        notice.value = noHost('The rule was not checked')
        return
      }
      const question = now.side === 'text' ? { text: now.text } : { form: now.form }
      const answer = await connection.host.api.rules.check({ service: now.service, draft: question })
      if (mine === asked) apply(answer)
    } catch (error) {
      if (mine === asked) notice.value = refusal('The rule was not checked', error)
    } finally {
      if (mine === asked) isChecking.value = false
    }
  }
  function ask(delayMs = DEBOUNCE_MS): void {
    const mine = ++asked
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
    asked++
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
    ask(0)
  }
  /** Opens a draft; an edited one is only left with the operator's word (`leave`, `stay`). */
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
    ask()
  }
  /** @param pasted  the text may be any line of lctl, also of 2013: the host's reading of it takes its place. */
  function editText(text: string, pasted = false): void {
    if (draft.value === null) return
    draft.value = { ...draft.value, text, side: 'text', isTouched: true }
    isPasted = pasted
    ask(pasted ? 0 : DEBOUNCE_MS)
  }
  function editTerms(patch: Partial<Terms>): void {
    if (draft.value) draft.value = { ...draft.value, terms: { ...draft.value.terms, ...patch }, isTouched: true }
  }
  /** What is sent where it differs from what was typed, as with one blank too many; null where it is the same. */
  const sentAs = computed(() => {
    const answered = isFresh.value ? check.value?.text : undefined
    return answered === undefined || answered === draft.value?.text ? null : answered
  })
  /** The text's field was left: it then shows what is sent. */
  function tidyText(): void {
    if (draft.value && sentAs.value !== null) draft.value = { ...draft.value, text: sentAs.value }
  }

  /**
   * Stages the draft and closes it.
   *
   * @returns  the id of the staged change; null when it has faults or the host refused, which `check` or `notice` then say.
   */
  async function stage(): Promise<string | null> {
    if (isStaging.value || draft.value === null) return null
    isStaging.value = true
    const opened = openings.value
    try {
      if (!isFresh.value) ask(0)
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
      // What was typed while it was on its way is not thrown away with it.
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

  /** Asks again about the same draft: jobs come and go. */
  const recheck = (): void => {
    if (draft.value && !isChecking.value && !isStaging.value) ask(0)
  }
  watch(
    () => connection.host,
    (host) => host && draft.value && ask(0),
  )
  return {
    ...{ draft, check, notice, isChecking, isFresh, isStaging, wasTried, waiting, sentAs, openings, stagedId },
    ...{ open, leave, stay, cancel: end, editForm, editText, editTerms, tidyText, stage, recheck },
  }
})
