import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { StatusFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useRulesViewStore } from '../stores/rules-view.ts'
import { useSourceStore } from '../stores/source.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import ExpiryRing from './ExpiryRing.vue'

const NOW_MS = 1_767_225_600_000
let wrapper: VueWrapper
let router: Router
let staged: object[] = []
let refuses = false
freshPage(1200, () => wrapper.unmount())

async function open(): Promise<void> {
  staged = []
  refuses = false
  showSource(NOW_MS, 'EMULATED')
  const source = useSourceStore()
  const nextExpiry = {
    service: 'mdt',
    name: 'cap_4690',
    createdMs: NOW_MS - 60_000,
    expiresMs: NOW_MS + 240_000,
    servers: 2,
  }
  source.apply({ ...source.frame, nextExpiry } as unknown as StatusFrame)
  const stage = async (input: object): Promise<{ id: string }> => {
    const data = { code: 'TOO_MANY', what: 'cap_4690 was not staged', why: 'at most 100 changes are staged' }
    if (refuses) throw new ORPCError('REFUSED', { defined: true, data })
    staged.push(input)
    return { id: 's1' }
  }
  useConnectionStore().opened({ api: { rules: { stage } } } as never)
  const routes = ['overview', 'rules'].map((name) => ({ path: `/${name}`, name, component: { render: () => null } }))
  router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/overview')
  wrapper = mount(ExpiryRing, { attachTo: document.body, global: { plugins: [router] } })
  document
    .querySelector('[data-testid=next-expiry]')
    ?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  await vi.waitFor(() => expect(item('expiry-keep')).not.toBeNull())
}
const item = (id: string) => document.querySelector<HTMLElement>(`[data-testid=${id}]`)
async function choose(id: string): Promise<void> {
  item(id)?.click()
  await flushPromises()
}
const form = { name: 'cap_4690', conditions: '', rate: '', rank: '', realtime: false, queue: 'both' }

it.each([
  ['expiry-extend-1800', { ...form, verb: 'change' }, { expiresS: 2040, renews: true, reason: 'extended by 30 min' }],
  ['expiry-keep', { ...form, verb: 'change' }, { expiresS: null, renews: true, reason: 'kept without expiry' }],
  ['expiry-roll-back', { ...form, verb: 'stop' }, { expiresS: null, reason: 'rolled back before its expiry' }],
])('stages %s for its service, and opens the review', async (id, ofForm, terms) => {
  await open()
  expect(item('next-expiry')?.textContent).toContain('04:00')
  await choose(id)
  expect(staged).toEqual([{ service: 'mdt', form: ofForm, terms }])
  await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('rules'))
  expect([useRulesViewStore().service, useRulesViewStore().isReviewOpen]).toEqual(['mdt', true])
})

it('shows why nothing was staged, and opens no review', async () => {
  await open()
  refuses = true
  await choose('expiry-keep')
  expect(useSourceStore().notices[0]).toMatchObject({ code: 'TOO_MANY' })
  expect(useRulesViewStore().isReviewOpen).toBe(false)
})
