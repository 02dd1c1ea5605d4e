import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { StatusFrame } from '#core/api/frames.ts'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import { useEnforcementStore } from '../../../stores/enforcement.ts'
import { useSourceStore } from '../../../stores/source.ts'
import { NOW_MS, review, stagedFrame } from '#tests/kits/renderer/views/rules-frames.ts'
import { openSampleHost, type SampleHost } from '#tests/kits/renderer/views/rules-host.ts'
import ReviewDialog from './ReviewDialog.vue'

let host: SampleHost
let wrapper: VueWrapper
beforeEach(() => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  setActivePinia(createPinia())
  const source = { cluster: 'altair', env: 'PROD' }
  useSourceStore().apply({ source, atMs: NOW_MS, mode: 'enforce' } as unknown as StatusFrame)
  host = openSampleHost()
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

async function open(staged: StagedFrame = stagedFrame()): Promise<void> {
  wrapper = mount(ReviewDialog, { props: { staged, open: true }, attachTo: document.body })
  await flushPromises()
}
const find = <E extends HTMLElement>(id: string): E => {
  const found = document.querySelector<E>(`[data-testid="${id}"]`)
  if (!found) throw new Error(`no ${id}`)
  return found
}
async function type(target: string): Promise<void> {
  const field = find<HTMLInputElement>('typed')
  field.value = target
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await flushPromises()
}
const commit = (): HTMLButtonElement => find<HTMLButtonElement>('commit')

it('commits exactly the reviewed plan, and only when the target is typed as it is', async () => {
  host.result = { changeId: 'c1', nodes: [{ host: 'oss01', state: 'done', detail: 'verified by read-back' }] }
  await open()
  expect(commit().textContent.trim()).toBe('Commit to PROD')
  for (const wrong of ['', '4690.pytho', '4690.python ', '4690.PYTHON']) {
    await type(wrong)
    expect(commit().disabled).toBe(true)
  }
  document.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))
  await flushPromises()
  expect(host.calls).toEqual([])
  await type('4690.python')
  expect(commit().disabled).toBe(false)
  commit().click()
  await flushPromises()
  expect(host.calls).toEqual([{ verb: 'commit', input: { service: 'ost_io', planId: 'plan-1', typed: '4690.python' } }])
  expect(find('commit-result').textContent).toContain('Verified by read-back on 1 of 1 servers.')
})

it('shows the commands per server, their order, and the rollback', async () => {
  await open()
  await vi.waitFor(() => find('review-commands'))
  const shown = document.body.textContent
  expect(shown).toContain("'reg start hog4690 jobid={4690.*} rate=400'")
  expect(shown).toContain('Timer on oss01')
  expect(shown).toContain('Expires at 15:02:07')
  const rollback = [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === 'Rollback')
  rollback?.click()
  await flushPromises()
  expect(find('review-commands').textContent).toContain("'reg stop hog4690'")
})

it('does not commit a changed plan before it is reviewed again', async () => {
  await open()
  await type('4690.python')
  const next = review({ planId: 'plan-2', typed: 'hog' })
  await wrapper.setProps({ staged: stagedFrame({ review: next }) })
  expect(commit().disabled).toBe(true)
  find('look-again').click()
  await flushPromises()
  expect(find<HTMLInputElement>('typed').value).toBe('')
  await type('hog')
  commit().click()
  await flushPromises()
  expect(host.calls.map((c) => c.input)).toEqual([{ service: 'ost_io', planId: 'plan-2', typed: 'hog' }])
})

it('shows the reason beside the disabled button if it cannot be committed now', async () => {
  const refused = { code: 'SERVER_MISSING', what: 'The change cannot be sent', next: 'Wait until every server answers' }
  await open(stagedFrame({ review: review({ refused }) }))
  await type('4690.python')
  expect(commit().disabled).toBe(true)
  expect(find('review-dialog').textContent).toContain('The change cannot be sent')
  expect(find('review-dialog').textContent).toContain('Next: Wait until every server answers.')
})

it('offers the unlock if the cluster is locked, whatever the mode of the controller', async () => {
  const source = { cluster: 'altair', env: 'PROD', kind: 'LIVE' }
  const locked = { source, atMs: NOW_MS, safeMode: 'review+unlock', unlockedUntilMs: null }
  const refused = { code: 'LOCKED', what: 'altair is locked', next: 'Unlock it: type altair.' }
  const unlocked = { unlockedUntilMs: Date.now() + 900_000 }
  for (const mode of ['observe', 'advise', 'enforce']) {
    useSourceStore().apply({ ...locked, mode } as unknown as StatusFrame)
    await open(stagedFrame({ review: review({ refused }) }))
    expect(find('review-unlock').textContent).toContain('Unlock')
    expect(find('review-dialog').textContent).not.toMatch(/observe|advise|enforce|controller/i)
    find('review-unlock').click()
    expect(useEnforcementStore().isUnlockOpen).toBe(true)
    expect(useEnforcementStore().wanted).toBeNull()
    useSourceStore().apply({ ...locked, ...unlocked, mode } as unknown as StatusFrame)
    await wrapper.setProps({ staged: stagedFrame() })
    await type('4690.python')
    expect(find('review-unlocked').textContent).toContain('left')
    expect(commit().disabled).toBe(false)
    wrapper.unmount()
    useEnforcementStore().isUnlockOpen = false
  }
  await open()
})

it('shows the state of every server after a partial commit, and stages the rollback on demand', async () => {
  host.result = {
    changeId: 'c7',
    nodes: [
      { host: 'oss01', state: 'done', detail: '' },
      { host: 'oss02', state: 'failed', detail: 'EBUSY <b>16</b>' },
      { host: 'oss03', state: 'unknown', detail: 'channel lost' },
      { host: 'oss04', state: 'rolled back', detail: '' },
      { host: 'oss05', state: 'not sent', detail: '' },
    ],
  }
  await open()
  await type('4690.python')
  commit().click()
  await flushPromises()
  const states = [...document.querySelectorAll('tr[data-state]')].map((row) => row.getAttribute('data-state'))
  expect(states).toEqual(['done', 'failed', 'unknown', 'rolled back', 'not sent'])
  expect(find('commit-result').textContent).toContain('EBUSY <b>16</b>')
  find('roll-back').click()
  await flushPromises()
  expect(host.calls.at(-1)).toEqual({ verb: 'undo', input: { changeId: 'c7' } })
  expect(wrapper.emitted('update:open')?.at(-1)).toEqual([false])
})

it('keeps the review open with the reason when the host refuses', async () => {
  host.result = new Error('the plan is not known')
  await open()
  await type('4690.python')
  commit().click()
  await flushPromises()
  expect(find('review-dialog').textContent).toContain('Nothing was committed')
  expect(find('review-dialog').textContent).toContain('the plan is not known')
})
