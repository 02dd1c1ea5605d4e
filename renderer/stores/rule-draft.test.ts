import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RuleCheck, RuleForm } from '#core/api/rule-edits.ts'
import { opcodeFault, ruleCheck, ruleForm, valueOf } from '#tests/kits/renderer/views/rules-frames.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { useRuleDraftStore } from './rule-draft.ts'

type Question = { service: string; draft: { text: string } | { form: RuleForm } }

/** Host whose responses are released by the test. */
function fakeHost() {
  const checks: { question: Question; answer: (check: RuleCheck) => Promise<void> }[] = []
  const staged: unknown[] = []
  const check = (question: Question): Promise<RuleCheck> =>
    new Promise((resolve) => {
      const answer = async (a: RuleCheck): Promise<void> => {
        resolve(a)
        await vi.advanceTimersByTimeAsync(0)
      }
      checks.push({ question, answer })
    })
  const stage = async (input: unknown): Promise<{ id: string }> => {
    staged.push(input)
    return { id: 's9' }
  }
  useConnectionStore().opened({ api: { rules: { check, stage } } as unknown as Client })
  return { checks, staged, last: () => checks.at(-1)! }
}

beforeEach(() => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
})
afterEach(() => vi.useRealTimers())

describe('the draft of a rule', () => {
  it('sends one check per burst of keys, with the side edited last', async () => {
    const { checks } = fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm() })
    await vi.advanceTimersByTimeAsync(0)
    expect(checks.map((a) => a.question.draft)).toEqual([{ form: ruleForm() }])
    for (const rate of ['4', '40', '401']) store.editForm({ rate })
    await vi.advanceTimersByTimeAsync(119)
    expect(checks).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(checks.at(-1)?.question.draft).toEqual({ form: ruleForm({ rate: '401' }) })
    store.editText('reg start a jobid={x} rate=5')
    await vi.advanceTimersByTimeAsync(120)
    expect(checks.at(-1)?.question).toEqual({ service: 'ost_io', draft: { text: 'reg start a jobid={x} rate=5' } })
  })

  it('fills the form from the text without changing the text, and vice versa', async () => {
    const { last } = fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm() })
    await vi.advanceTimersByTimeAsync(0)
    await last().answer(ruleCheck(ruleForm()))
    expect(store.draft?.text).toBe(valueOf(ruleForm()))
    store.editText('reg start hog4690  jobid={4690.*} rate=99')
    await vi.advanceTimersByTimeAsync(120)
    await last().answer(ruleCheck(ruleForm({ rate: '99' })))
    expect(store.draft?.form.rate).toBe('99')
    expect(store.draft?.text).toBe('reg start hog4690  jobid={4690.*} rate=99')
    expect(store.sentAs).toBe('reg start hog4690 jobid={4690.*} rate=99')
    store.tidyText()
    expect([store.draft?.text, store.sentAs]).toEqual(['reg start hog4690 jobid={4690.*} rate=99', null])
  })

  it('checks a change again when it gets a new expiry, which is sent with it', async () => {
    const { checks, last, staged } = fakeHost()
    const store = useRuleDraftStore()
    const form = ruleForm({ verb: 'change', rate: '', rank: '' })
    store.open({ service: 'ost_io', form, terms: { expiresS: null, reason: '' } })
    await vi.advanceTimersByTimeAsync(0)
    expect(last().question.draft).toEqual({ form })
    store.editTerms({ renews: true, expiresS: 3600 })
    await vi.advanceTimersByTimeAsync(0)
    expect(last().question.draft).toEqual({ form, renews: true })
    store.editTerms({ reason: 'longer run' })
    expect(checks).toHaveLength(2)
    await last().answer(ruleCheck(form))
    await store.stage()
    expect(staged).toMatchObject([{ terms: { expiresS: 3600, renews: true, reason: 'longer run' } }])
  })

  it('drops a response superseded by a newer edit', async () => {
    const { checks } = fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm() })
    await vi.advanceTimersByTimeAsync(0)
    store.editForm({ rate: '7' })
    await vi.advanceTimersByTimeAsync(120)
    await checks[1]?.answer(ruleCheck(ruleForm({ rate: '7' })))
    await checks[0]?.answer(ruleCheck(ruleForm({ rate: '400' })))
    expect([store.draft?.text, store.check?.form.rate]).toEqual([valueOf(ruleForm({ rate: '7' })), '7'])
    store.editText('reg stop hog4690')
    await vi.advanceTimersByTimeAsync(120)
    store.cancel()
    await checks[2]?.answer(ruleCheck(ruleForm()))
    expect([store.draft, store.check]).toEqual([null, null])
  })

  it('converts a pasted line of 2013 to the current syntax', async () => {
    const { last } = fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', text: 'start loginnode {192.168.1.1@tcp} 100' })
    await vi.advanceTimersByTimeAsync(0)
    expect(last().question.draft).toEqual({ text: 'start loginnode {192.168.1.1@tcp} 100' })
    const modern = ruleForm({ name: 'loginnode', conditions: 'nid={192.168.1.1@tcp}', rate: '100', queue: 'both' })
    await last().answer(ruleCheck(modern, { notes: ['Syntax of 2013: nid= and rate= were added.'] }))
    expect(store.draft?.text).toBe('start loginnode nid={192.168.1.1@tcp} rate=100')
    expect(store.draft?.form.conditions).toBe('nid={192.168.1.1@tcp}')
  })

  it('does not stage a faulty draft, waits for the last check, and sends the replaced id', async () => {
    const { checks, staged } = fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm(), replaces: 's1', terms: { expiresS: 300 } })
    await vi.advanceTimersByTimeAsync(0)
    await checks[0]?.answer(ruleCheck(ruleForm()))
    const misspelt = ruleForm({ conditions: 'jobid={4690.*}&opcode={ost_wirte}' })
    store.editForm({ conditions: misspelt.conditions })
    const refused = store.stage()
    await vi.advanceTimersByTimeAsync(0)
    await checks.at(-1)?.answer(ruleCheck(misspelt, { faults: opcodeFault(valueOf(misspelt)) }))
    expect([await refused, staged.length, store.wasTried]).toEqual([null, 0, true])
    store.editForm({ conditions: 'jobid={4690.*}' })
    store.editTerms({ reason: 'ticket HPC-2291' })
    const done = store.stage()
    await vi.advanceTimersByTimeAsync(0)
    await checks.at(-1)?.answer(ruleCheck(ruleForm()))
    expect(await done).toBe('s9')
    expect(staged).toEqual([
      {
        service: 'ost_io',
        form: ruleForm(),
        replaces: 's1',
        terms: { expiresS: 300, reason: 'ticket HPC-2291' },
      },
    ])
    expect(store.draft).toBeNull()
  })

  it('discards an edited draft only after confirmation', async () => {
    fakeHost()
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm() })
    store.open({ service: 'ost_io', form: ruleForm({ name: 'b' }) })
    expect([store.draft?.form.name, store.waiting]).toEqual(['b', null])
    store.editForm({ rate: '1' })
    store.open({ service: 'mdt', form: ruleForm({ name: 'c' }) })
    expect([store.draft?.form.name, store.waiting?.service]).toEqual(['b', 'mdt'])
    store.stay()
    expect([store.draft?.form.rate, store.waiting]).toEqual(['1', null])
    store.open({ service: 'mdt', form: ruleForm({ name: 'c' }) })
    store.leave()
    expect([store.draft?.form.name, store.draft?.service]).toEqual(['c', 'mdt'])
  })

  it('reports a missing host, and checks again when there is one', async () => {
    const store = useRuleDraftStore()
    store.open({ service: 'ost_io', form: ruleForm() })
    await vi.advanceTimersByTimeAsync(0)
    expect(store.notice?.code).toBe('NO_HOST')
    const refused = store.stage()
    await vi.advanceTimersByTimeAsync(0)
    expect(await refused).toBeNull()
    const { last } = fakeHost()
    await vi.advanceTimersByTimeAsync(0)
    await last().answer(ruleCheck(ruleForm()))
    expect([store.notice, store.isFresh]).toEqual([null, true])
  })
})
