// @vitest-environment happy-dom
/** Undo of the window against a host: staged changes, a notebook and a draft of policies are restored. */
import { createPinia, setActivePinia } from 'pinia'
import { effectScope, type EffectScope } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { stagedFrame } from '#electron/host/views/rules/staged.ts'
import { useConnectionStore } from '../../renderer/stores/connection.ts'
import { useIncidentsStore } from '../../renderer/stores/incidents.ts'
import { usePolicyDraftStore } from '../../renderer/stores/policy-draft.ts'
import { useStagedEditsStore } from '../../renderer/stores/staged-edits.ts'
import { recordEdits } from '../../renderer/stores/undo-watch.ts'
import { useUndoStore } from '../../renderer/stores/undo.ts'
import { stagedHost } from './staged-host.ts'

type Staged = Awaited<ReturnType<typeof stagedHost>>
let on: Staged
let scope: EffectScope
beforeEach(async () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  on = await stagedHost({ jobs: [{ id: '4655.vasp' }, { id: '4690.python' }] })
  await on.run(3)
  setActivePinia(createPinia())
  useConnectionStore().opened({ api: on.client })
  scope = effectScope()
  scope.run(recordEdits)
})
afterEach(async () => {
  scope.stop()
  await on.host.close()
  vi.unstubAllGlobals()
})
const words = (): string => useUndoStore().message?.text ?? ''

describe('rules that are staged', () => {
  const ON = 'ost_io'
  const terms = { expiresS: 600, reason: 'ticket 7' }
  const form = (name: string, rate: string) =>
    ({ verb: 'start', name, conditions: 'jobid={4690.python}', rate, rank: '', realtime: false, queue: 'reg' }) as const
  const staged = () => stagedFrame(on.host.onScreen.console.ruleService, { service: ON }, 1)
  const activeRules = (): string[] => staged().items.map((i) => `${i.id} ${i.form.name} ${i.form.rate}`)

  it('are taken back and come again as they were, with their terms', async () => {
    const edits = useStagedEditsStore()
    const undo = useUndoStore()
    const states = [activeRules()]
    const id = await edits.stage({ service: ON, form: form('cap', '20'), terms })
    states.push(activeRules())
    await edits.stage({ service: ON, form: form('cap', '40'), terms, replaces: id })
    states.push(activeRules())
    await edits.stage({ service: ON, form: form('other', '5'), terms })
    states.push(activeRules())
    edits.note(staged())
    await edits.unstage(ON, null)
    states.push(activeRules())
    expect(states.map((s) => s.length)).toEqual([0, 1, 1, 2, 0])

    for (const before of states.slice(0, -1).toReversed()) {
      expect(await undo.undo()).toBe(true)
      expect(activeRules()).toEqual(before)
    }
    for (const after of states.slice(1)) {
      expect(await undo.redo()).toBe(true)
      expect(activeRules()).toEqual(after)
    }
    await undo.undo()
    expect(staged().items[0]).toMatchObject({ expiresS: 600, reason: 'ticket 7' })
  })
})

describe('a notebook', () => {
  const note = (text: string) => ({ kind: 'note', text }) as const
  async function seen(id: string | null): Promise<void> {
    const stream = await on.client.views.incidents({ stream: `i${++streams}`, selected: id })
    for await (const frame of stream) {
      useIncidentsStore().apply(frame, id)
      break
    }
  }
  let streams = 0

  it('has every edit of it taken back and brought again, whichever came before', async () => {
    const incidents = useIncidentsStore()
    const undo = useUndoStore()
    const id = (await incidents.create({ atMs: null })) ?? ''
    incidents.choose(id)
    const states: string[] = []
    const state = (): string => {
      const { title, status, cells, fromMs, toMs } = on.host.incidents.notebooks.find(id) ?? { cells: [] }
      const written = cells.map((c) => `${c.id} ${'text' in c ? c.text : c.kind}`)
      return JSON.stringify([title, status, fromMs, toMs, written])
    }
    const then = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      await seen(id)
      states.push(state())
    }
    await then(async () => undefined)
    let [a, b]: (string | undefined)[] = []
    await then(async () => void (a = await incidents.addCell(id, note('first'))))
    await then(async () => void (b = await incidents.addCell(id, note('second'))))
    await then(() => incidents.editCell(id, a ?? '', 'first, again'))
    await then(() => incidents.moveCell(id, b ?? '', -100))
    await then(() => incidents.removeCell(id, a ?? '', 'Note first'))
    await then(() => incidents.removeCell(id, b ?? '', 'Note second'))
    await then(() => incidents.change(id, { title: 'A slow target' }))
    await then(() => incidents.change(id, { status: 'watching' }))
    const { fromMs = 0, toMs = 0 } = on.host.incidents.notebooks.find(id) ?? {}
    await then(() => incidents.change(id, { span: { fromMs: fromMs + 1000, toMs } }))
    expect(states.filter((s, i) => s === states[i - 1])).toEqual([])

    for (const before of states.slice(0, -1).toReversed()) {
      expect(await undo.undo()).toBe(true)
      await seen(id)
      expect(state()).toBe(before)
    }
    for (const after of states.slice(1)) {
      expect(await undo.redo()).toBe(true)
      await seen(id)
      expect(state()).toBe(after)
    }
    expect(undo.future).toEqual([])
  })

  it('that was removed comes back, and goes again as one edit', async () => {
    const incidents = useIncidentsStore()
    const undo = useUndoStore()
    const [first = '', second = ''] = [await incidents.create({ atMs: null }), await incidents.create({ atMs: null })]
    const there = (): string[] => on.host.incidents.notebooks.list().map((row) => row.id)
    await incidents.remove(first)
    await incidents.remove(second)
    for (const left of [[second], [second, first]]) {
      await undo.undo()
      expect(there().toSorted()).toEqual(left.toSorted())
    }
    await undo.redo()
    await undo.redo()
    expect([there(), undo.past.length, undo.future.length]).toEqual([[], 2, 0])
  })
})

describe('a draft of policies', () => {
  it('is taken back key by key or as it was typed, also when all of it was discarded', async () => {
    const policies = usePolicyDraftStore()
    const undo = useUndoStore()
    const { text } = (await on.frame()).policies
    policies.open('stages', text)
    policies.edit(`${text}# a`)
    policies.edit(`${text}# a line`)
    expect(undo.past.map((e) => e.label)).toEqual(['policy text'])
    policies.discard()
    expect([policies.draft?.text, policies.draft?.isTouched]).toEqual([text, false])
    await undo.undo()
    expect([policies.draft?.text, policies.draft?.isTouched]).toEqual([`${text}# a line`, true])
    await vi.waitUntil(() => policies.isFresh)
    expect(policies.errors).toBe(0)
    await undo.undo()
    expect(policies.draft?.text).toBe(text)
    await undo.redo()
    await undo.redo()
    expect([policies.draft?.text, policies.draft?.isTouched, undo.past.length]).toEqual([text, false, 2])
    expect(words()).toContain('discard of')
  })

  it('of another plane is not touched', async () => {
    const policies = usePolicyDraftStore()
    const undo = useUndoStore()
    policies.open('stages', 'a')
    policies.edit('b')
    policies.open('mds', 'c')
    expect(await undo.undo()).toBe(false)
    expect([policies.draft?.text, words()]).toEqual(['c', 'Not undone: policy text'])
  })
})
